#pragma once

#include <cstdint>

/// Numbers the threads of any 3-D grid of 3-D blocks in one line, and says which elements each of
/// them handles.
namespace equalux::cuda {

/// The largest block of any CUDA device; kernels are compiled so that they can run with as many
/// threads.
inline constexpr int kMostThreads = 1024;

__device__ __forceinline__ std::uint32_t thread_in_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
__device__ __forceinline__ std::uint32_t threads_of_block() {
  return blockDim.x * blockDim.y * blockDim.z;
}
__device__ __forceinline__ std::uint64_t block_in_grid() {
  return blockIdx.x +
         std::uint64_t{gridDim.x} * (blockIdx.y + std::uint64_t{gridDim.y} * blockIdx.z);
}
__device__ __forceinline__ std::uint64_t blocks_of_grid() {
  return std::uint64_t{gridDim.x} * gridDim.y * gridDim.z;
}

/// The elements of one thread: first, first + apart, first + 2 apart ... below end. 64 bits, since
/// the last step may pass 2^32.
struct Walk {
  std::uint64_t first;
  std::uint64_t end;
  std::uint64_t apart;
};

/// Gives neighbouring threads neighbouring elements, so that a warp's accesses are coalesced.
__device__ __forceinline__ Walk interleaved_walk(std::uint32_t count) {
  return {block_in_grid() * threads_of_block() + thread_in_block(), count,
          blocks_of_grid() * threads_of_block()};
}

/// Gives each thread a run of elements of its own: the accesses of a warp lie one run apart and are
/// not coalesced.
__device__ __forceinline__ Walk contiguous_walk(std::uint32_t count) {
  const Walk all = interleaved_walk(count);
  const std::uint64_t run = (count + all.apart - 1) / all.apart;
  const std::uint64_t first = all.first * run;
  return {first, first + run < count ? first + run : count, 1};
}

/// Calls use(i, load(i)) for every element i of the walk. kInFlight loads are issued before the
/// first of them is used, so that their latencies overlap (the report's section 5.4, instruction
/// level parallelism).
template <int kInFlight, typename Load, typename Use>
__device__ __forceinline__ void walk_in_flight(const Walk& walk, Load load, Use use) {
  for (std::uint64_t first = walk.first; first < walk.end; first += kInFlight * walk.apart) {
    decltype(load(0U)) items[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      const std::uint64_t i = first + static_cast<unsigned>(k) * walk.apart;
      if (i < walk.end) items[k] = load(static_cast<std::uint32_t>(i));
    }
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      const std::uint64_t i = first + static_cast<unsigned>(k) * walk.apart;
      if (i < walk.end) use(static_cast<std::uint32_t>(i), items[k]);
    }
  }
}

}  // namespace equalux::cuda
