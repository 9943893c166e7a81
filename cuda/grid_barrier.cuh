#pragma once

#include <cstdint>

#include <cuda/atomic>

/// A barrier of all blocks of a cooperative launch, once in a launch.
namespace equalux::cuda {

/// The highest bit of the counter flips when the last block arrives, so it needs no reset.
inline constexpr std::uint32_t kBarrierFlag = 0x80000000U;

/// To be called before any block can have arrived, and its result handed to grid_barrier().
__device__ __forceinline__ std::uint32_t read_barrier(const std::uint32_t* arrived) {
  return *static_cast<const volatile std::uint32_t*>(arrived) & kBarrierFlag;
}

/// All threads of all blocks call it. What a block wrote before is seen by every block after.
/// Block 0 adds what flips the flag once all others have added 1.
__device__ __forceinline__ void grid_barrier(std::uint32_t* arrived, std::uint32_t before) {
  __syncthreads();
  if (threadIdx.x == 0) {
    const ::cuda::atomic_ref<std::uint32_t, ::cuda::thread_scope_device> counter(*arrived);
    const std::uint32_t mine = blockIdx.x == 0 ? kBarrierFlag - (gridDim.x - 1) : 1;
    counter.fetch_add(mine, ::cuda::memory_order_release);
    while ((counter.load(::cuda::memory_order_acquire) & kBarrierFlag) == before) {
    }
  }
  __syncthreads();
}

}  // namespace equalux::cuda
