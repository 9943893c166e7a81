#pragma once

#include "cuda/device/warp.h"

/// Sizes of the fused kernel, by the shared memory that an architecture gives a block.
namespace equalux::cuda {

/// Sizes of a block, one of which runs on each multiprocessor and takes most of its shared memory.
struct FusedConfig {
  int warps;        ///< of a block
  int slots;        ///< chunks that a warp keeps in shared memory
  int gain_stride;  ///< bytes from one value's gains to the next, 128 or 256: at 256 the value,
                    ///< as it stands in the second byte of a word, is the offset
  int open_cells;   ///< that a block keeps for the end of its chunks; see open_cells.cuh

  [[nodiscard]] constexpr int threads() const { return warps * kLanes; }
  /// Number of tables of counters, side by side in the memory that the gains take later.
  [[nodiscard]] constexpr int tables() const { return gain_stride / (kLanes * 4); }
  [[nodiscard]] constexpr int table_bytes() const { return tables() * kTableBytes; }
  [[nodiscard]] constexpr int ring_bytes() const { return warps * slots * kChunkBytes; }
  [[nodiscard]] constexpr int open_cell_bytes() const { return open_cells * kVectorBytes; }
};

/// Most shared memory of a block, in KiB (CUDA C++ Programming Guide, "Compute Capabilities").
/// `arch` is __CUDA_ARCH__: 750 for compute capability 7.5.
constexpr int most_shared_kib(int arch) {
  if (arch < 800) return 64;
  if (arch == 860 || arch == 890 || arch >= 1200) return 99;
  return arch < 900 ? 163 : 227;
}

constexpr FusedConfig fused_config(int arch) {
  switch (most_shared_kib(arch)) {
    case 64:
      return {4, 3, 128, 128};
    case 99:
      return {8, 2, 256, 64};
    case 163:
      return {16, 3, 256, 512};
    default:
      return {16, 6, 256, 512};
  }
}

}  // namespace equalux::cuda
