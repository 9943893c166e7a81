#pragma once

#include <cstdint>

#include <cuda/atomic>

#include "cuda/equalize/fused/fused_params.h"

/// The histogram of all blocks, and the only barrier of the grid, in one exchange.
///
/// A cell holds the counts of two neighbouring values and how many blocks have added theirs. Who
/// reads as many as there are has the frame's counts: the word is data and flag at once, so nothing
/// else needs to be ordered. That saves two of the three trips to L2 which an addition, an arrival
/// and a look at the arrivals take.
///
/// Additions to one address wait for each other: the blocks share kGridCopies histograms, and a
/// reader adds those up.
namespace equalux::cuda {

/// Values 2 `pair` and 2 `pair` + 1 of one block; every block calls it once for every pair.
__device__ __forceinline__ void add_to_grid(GridHistogram& histogram, int pair, std::uint32_t even,
                                            std::uint32_t odd) {
  atomicAdd(&histogram[blockIdx.x % kGridCopies][pair],
            GridCell{1} << (2 * kGridCountBits) | GridCell{odd} << kGridCountBits | even);
}

/// The frame's counts of both values of a pair, once every block has added its own. Whole warps
/// call it. All blocks must run at the same time.
__device__ __forceinline__ uint2 await_grid(GridHistogram& histogram, int pair) {
  GridCell cells[kGridCopies];
  std::uint32_t arrivals = 0;
  do {
    arrivals = 0;
#pragma unroll
    for (int copy = 0; copy < kGridCopies; ++copy) {
      const ::cuda::atomic_ref<GridCell, ::cuda::thread_scope_device> cell(histogram[copy][pair]);
      cells[copy] = cell.load(::cuda::memory_order_relaxed);
    }
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
