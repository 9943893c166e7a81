#pragma once

#include <cstdint>

#include "cuda/device/warp.h"

/// Cells of YCbCr that single precision leaves open, one in hundreds, and pixels that a line leaves
/// open, one in thousands. A block collects them until all its warps have written their chunks and
/// then decides them together, one sample for each lane. Decided on the spot, each would leave 31
/// lanes idle, and the warps that have most of them would hold up the frame. See close_cells() and
/// close_pixels().
namespace equalux::cuda {

/// Cell or pixel left open: its codes, the number of its chunk, and its column in the slot.
struct alignas(kVectorBytes) OpenCell {
  std::uint32_t samples;  ///< luma of the first row, from the lowest byte, then of the second; or
                          ///< the three colours of a pixel
  std::uint32_t chroma;   ///< Cb and Cr in the halves; unused for pixels
  std::uint32_t chunk;
  std::uint32_t column;
};

/// Returns the cell of YCbCr at a column of a slot.
template <typename Layout>
__device__ __forceinline__ OpenCell cell_in_slot(const std::uint8_t* slot, std::uint32_t chunk,
                                                 int column) {
  OpenCell cell{0, slot[Layout::cb_at(column)] | std::uint32_t{slot[Layout::cr_at(column)]} << 16,
                chunk, static_cast<std::uint32_t>(column)};
#pragma unroll
  for (int sample = 0; sample < Layout::kRows * Layout::kColumns; ++sample) {
    const int place =
        Layout::luma_at(sample / Layout::kColumns, column + sample % Layout::kColumns);
    cell.samples |= std::uint32_t{slot[place]} << (8 * sample);
  }
  return cell;
}

/// Open cells of a block, in shared memory.
class OpenCells {
 public:
  /// Uses `cells` with room for `most`. `count` must be 0 before the first add().
  __device__ OpenCells(OpenCell* cells, std::uint32_t* count, int most)
      : cells_(cells), count_(count), most_(static_cast<std::uint32_t>(most)) {}

  /// Adds a cell. Returns false where there is no room. Any lanes may call it.
  [[nodiscard]] __device__ __forceinline__ bool add(const OpenCell& cell) const {
    const std::uint32_t i = atomicAdd(count_, 1U);
    if (i >= most_) return false;
    cells_[i] = cell;
    return true;
  }

  /// Number of cells, valid after __syncthreads().
  [[nodiscard]] __device__ std::uint32_t count() const { return min(*count_, most_); }
  [[nodiscard]] __device__ const OpenCell& operator[](std::uint32_t i) const { return cells_[i]; }

 private:
  OpenCell* cells_;
  std::uint32_t* count_;
  std::uint32_t most_;
};

}  // namespace equalux::cuda
