#pragma once

#include <cstdint>

#include "cuda/device/warp.h"

/// Sums and minima over a warp. All 32 lanes must call these functions, and all get the result.
namespace equalux::cuda {

__device__ __forceinline__ std::uint32_t warp_sum(std::uint32_t x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xFFFFFFFFU, x);
#else
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2)
    x += __shfl_xor_sync(0xFFFFFFFFU, x, step);
  return x;
#endif
}

__device__ __forceinline__ std::uint32_t warp_min(std::uint32_t x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(0xFFFFFFFFU, x);
#else
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2)
    x = min(x, __shfl_xor_sync(0xFFFFFFFFU, x, step));
  return x;
#endif
}

/// Sums the values of the lanes below this one (an exclusive scan).
__device__ __forceinline__ std::uint32_t warp_sum_before(std::uint32_t x) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  std::uint32_t sum = x;
#pragma unroll
  for (int step = 1; step < kLanes; step *= 2) {
    const std::uint32_t below = __shfl_up_sync(0xFFFFFFFFU, sum, step);
    if (lane >= step) sum += below;
  }
  return sum - x;
}

}  // namespace equalux::cuda
