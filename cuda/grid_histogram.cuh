#pragma once

#include <cstdint>

#include <cuda/atomic>

#include "fused_params.h"

/// The histogram of all blocks, and the only barrier of the grid, in one exchange.
///
/// A cell holds a value's count in its low 32 bits and in its high ones how many blocks have added
/// theirs. Who reads as many as there are has the frame's count: the word is data and flag at once,
/// so nothing else needs to be ordered. That saves two of the three trips to L2 which an addition,
/// an arrival and a look at the arrivals take. Counts are at most 2^31 and never carry.
///
/// Additions to one address wait for each other: the blocks share kGridCopies histograms, and a
/// reader adds those up.
namespace equalux::cuda {

/// Every block calls it once for every value. One block may give less than nothing: until the
/// others have made up for it, the cell looks as if one of them had not come yet.
__device__ __forceinline__ void add_to_grid(GridHistogram& histogram, int value,
                                            std::int64_t count) {
  atomicAdd(&histogram[blockIdx.x % kGridCopies][value],
            (GridCount{1} << 32) + static_cast<GridCount>(count));
}

/// The frame's count of a value, once every block has added its own. Whole warps call it. All
/// blocks must run at the same time.
__device__ __forceinline__ std::uint32_t await_grid(GridHistogram& histogram, int value) {
  GridCount seen = 0;
  do {
    seen = 0;
#pragma unroll
    for (int copy = 0; copy < kGridCopies; ++copy) {
      const ::cuda::atomic_ref<GridCount, ::cuda::thread_scope_device> cell(histogram[copy][value]);
      seen += cell.load(::cuda::memory_order_relaxed);
    }
  } while (!__all_sync(0xFFFFFFFFU, (seen >> 32) == gridDim.x));
  return static_cast<std::uint32_t>(seen);
}

}  // namespace equalux::cuda
