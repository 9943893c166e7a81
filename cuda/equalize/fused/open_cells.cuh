#pragma once

#include <cstdint>

#include "cuda/equalize/fused/fused_config.h"

/// Cells of YCbCr that single precision leaves open, one in hundreds. A warp keeps them until
/// it has written its chunks and then decides them at once, a lane a sample: one by one, each would
/// let 31 lanes wait. See close_cells().
namespace equalux::cuda {

/// What a cell was, and where: the number of its chunk and its column in the slot.
struct alignas(kVectorBytes) OpenCell {
  std::uint32_t luma;    ///< bytes of the first row, from the lowest, then of the second
  std::uint32_t chroma;  ///< Cb and Cr, the halves
  std::uint32_t chunk;
  std::uint32_t column;
};

/// Those of a warp, in shared memory.
class OpenCells {
 public:
  /// `count` is 0 before the first one.
  __device__ OpenCells(OpenCell* cells, std::uint32_t* count, int most)
      : cells_(cells), count_(count), most_(static_cast<std::uint32_t>(most)) {}

  /// Takes a cell from its slot; false where there is no room. Any lanes may call it.
  template <typename Layout>
  [[nodiscard]] __device__ __forceinline__ bool add(const std::uint8_t* slot, std::uint32_t chunk,
                                                    int column) const {
    const std::uint32_t i = atomicAdd(count_, 1U);
    if (i >= most_) return false;
    OpenCell cell{0, slot[Layout::cb_at(column)] | std::uint32_t{slot[Layout::cr_at(column)]} << 16,
                  chunk, static_cast<std::uint32_t>(column)};
#pragma unroll
    for (int sample = 0; sample < Layout::kRows * Layout::kColumns; ++sample) {
      const int place =
          Layout::luma_at(sample / Layout::kColumns, column + sample % Layout::kColumns);
      cell.luma |= std::uint32_t{slot[place]} << (8 * sample);
    }
    cells_[i] = cell;
    return true;
  }

  /// How many there are, after __syncwarp().
  [[nodiscard]] __device__ std::uint32_t count() const {
    return min(*count_, most_);
  }
  [[nodiscard]] __device__ const OpenCell& operator[](std::uint32_t i) const {
    return cells_[i];
  }

 private:
  OpenCell* cells_;
  std::uint32_t* count_;
  std::uint32_t most_;
};

}  // namespace equalux::cuda
