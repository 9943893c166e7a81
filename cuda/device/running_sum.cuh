#pragma once

#include <cstdint>

#include "cuda/device/warp_sum.cuh"

/// Prefix sums over a block.
namespace equalux::cuda {

/// Sums the values of this thread and of those below it (an inclusive scan). All kThreads threads
/// of a block must call it. `warp_sums` may be written again after the block's next barrier.
template <int kThreads>
__device__ __forceinline__ std::uint32_t running_sum(
    std::uint32_t x, std::uint32_t (&warp_sums)[kThreads / kLanes]) {
  static_assert(kThreads % kLanes == 0 && kThreads <= kLanes * kLanes);
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned warp = threadIdx.x / kLanes;
  const std::uint32_t sum = warp_sum_before(x) + x;
  if (lane == kLanes - 1) warp_sums[warp] = sum;
  __syncthreads();
  // Each lane takes one of the warps below.
  return sum + warp_sum(lane < warp ? warp_sums[lane] : 0);
}

/// Total over the block, of the sums that running_sum() has left.
template <int kWarps>
__device__ __forceinline__ std::uint32_t block_total(const std::uint32_t (&warp_sums)[kWarps]) {
  const unsigned lane = threadIdx.x % kLanes;
  return warp_sum(lane < kWarps ? warp_sums[lane] : 0);
}

}  // namespace equalux::cuda
