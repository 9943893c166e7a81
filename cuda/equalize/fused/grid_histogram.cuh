#pragma once

#include <cstdint>

#include "cuda/equalize/fused/fused_params.h"

/// Histogram of all blocks and only barrier of the grid, in one exchange through L2.
///
/// A cell holds the counts of two neighbouring values and how many blocks have added theirs. A
/// reader that sees all arrivals has the frame's counts: the word is data and flag at once, so no
/// other word needs to be ordered. That saves two of the three trips to L2 that an addition, an
/// arrival and a look at the arrivals take.
///
/// Atomics on one address are serialized: blocks share kGridCopies histograms, which a reader adds
/// up.
namespace equalux::cuda {

/// Adds a block's counts of values 2 `pair` and 2 `pair` + 1. Every block calls it once for each
/// pair.
__device__ __forceinline__ void add_to_grid(GridHistogram& histogram, int pair, std::uint32_t even,
                                            std::uint32_t odd) {
  atomicAdd(&histogram[blockIdx.x % kGridCopies][pair],
            GridCell{1} << (2 * kGridCountBits) | GridCell{odd} << kGridCountBits | even);
}

/// Loads a cell that other blocks add to; ordered with no other word. cuda::atomic_ref gives the
/// same instruction, and its header takes longer to compile than a kernel.
__device__ __forceinline__ GridCell load_grid_cell(const GridCell& cell) {
  GridCell value;
  asm volatile("ld.relaxed.gpu.b64 %0,[%1];" : "=l"(value) : "l"(&cell) : "memory");
  return value;
}

/// Waits until every block has added its counts of a pair, and returns the sums of both values.
/// Called by whole warps. All blocks must be resident at the same time.
__device__ __forceinline__ uint2 await_grid(GridHistogram& histogram, int pair) {
  GridCell cells[kGridCopies];
  std::uint32_t arrivals = 0;
  do {
    arrivals = 0;
#pragma unroll
    for (int copy = 0; copy < kGridCopies; ++copy)
      cells[copy] = load_grid_cell(histogram[copy][pair]);
#pragma unroll
    for (int copy = 0; copy < kGridCopies; ++copy)
      arrivals += static_cast<std::uint32_t>(cells[copy] >> (2 * kGridCountBits));
  } while (!__all_sync(0xFFFFFFFFU, arrivals == gridDim.x));
  constexpr std::uint32_t kMask = kMostGridCount;
  uint2 counts{0, 0};
#pragma unroll
  for (int copy = 0; copy < kGridCopies; ++copy) {
    counts.x += static_cast<std::uint32_t>(cells[copy]) & kMask;
    counts.y += static_cast<std::uint32_t>(cells[copy] >> kGridCountBits) & kMask;
  }
  return counts;
}

}  // namespace equalux::cuda
