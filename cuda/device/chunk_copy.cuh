#pragma once

#include <cstdint>

#include "cuda/device/warp.h"

/// Copies between device memory and a warp's slots in shared memory, asynchronous (cp.async) where
/// the device has that.
namespace equalux::cuda {

__device__ __forceinline__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Copies 16 bytes into shared memory, past the first-level cache and the registers. Before compute
/// capability 8.0 the copy goes through registers. The issuing thread sees the bytes after
/// copies_wait().
__device__ __forceinline__ void copy_vector_async(std::uint8_t* to, const std::uint8_t* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from)
               : "memory");
#else
  *reinterpret_cast<uint4*>(to) = __ldcg(reinterpret_cast<const uint4*>(from));
#endif
}

/// Copies a vector where `wanted`, else nothing. The copy is predicated, so that the warp does not
/// branch.
__device__ __forceinline__ void copy_vector_async_if(bool wanted, std::uint8_t* to,
                                                     const std::uint8_t* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "{ .reg .pred wanted;\n"
      "setp.ne.b32 wanted, %2, 0;\n"
      "@wanted cp.async.cg.shared.global [%0], [%1], 16; }" ::"r"(shared_address(to)),
      "l"(from), "r"(static_cast<int>(wanted))
      : "memory");
#else
  if (wanted) copy_vector_async(to, from);
#endif
}

/// Copies the first `bytes` (0 to 16) of a vector and fills the rest with zeros.
__device__ __forceinline__ void copy_some_async(std::uint8_t* to, const std::uint8_t* from,
                                                int bytes) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
               "r"(bytes)
               : "memory");
#else
#pragma unroll 1
  for (int i = 0; i < kVectorBytes; ++i)
    to[i] = i < bytes ? from[i] : std::uint8_t{0};
#endif
}

/// Copies kBytes where they exist, else writes as many zeros. The size is an operand, so that the
/// warp does not branch.
template <int kBytes>
__device__ __forceinline__ void copy_all_or_nothing_async(std::uint8_t* to,
                                                          const std::uint8_t* from, bool exist) {
  static_assert(kBytes == 16 || kBytes == 8);
#if __CUDA_ARCH__ >= 800
  if constexpr (kBytes == 16) {
    copy_some_async(to, from, exist ? kBytes : 0);
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(shared_address(to)),
                 "l"(from), "r"(exist ? kBytes : 0)
                 : "memory");
  }
#else
  if constexpr (kBytes == 16) {
    *reinterpret_cast<uint4*>(to) =
        exist ? __ldcg(reinterpret_cast<const uint4*>(from)) : uint4{0, 0, 0, 0};
  } else {
    *reinterpret_cast<uint2*>(to) =
        exist ? __ldcg(reinterpret_cast<const uint2*>(from)) : uint2{0, 0};
  }
#endif
}

/// Copies 4 bytes through the first-level cache; cp.async bypasses that only for 16 bytes.
__device__ __forceinline__ void copy_word_async(std::uint8_t* to, const std::uint8_t* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(to)), "l"(from)
               : "memory");
#else
  *reinterpret_cast<std::uint32_t*>(to) = __ldg(reinterpret_cast<const std::uint32_t*>(from));
#endif
}

/// Ends a group of asynchronous copies; a group may be empty.
__device__ __forceinline__ void copies_commit() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until at most kPending of this thread's groups of copies are still under way.
template <int kPending>
__device__ __forceinline__ void copies_wait() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#endif
}

/// Calls `work` with the byte offset of each vector that a lane has in a span of kCapacity bytes.
/// Neighbouring lanes take neighbouring vectors, so that accesses are coalesced.
template <int kCapacity, typename Work>
__device__ __forceinline__ void for_vectors(int lane, Work work) {
  constexpr int kStep = kLanes * kVectorBytes;
  const int mine = lane * kVectorBytes;
#pragma unroll
  for (int first = 0; first < kCapacity; first += kStep) {
    if (kCapacity - first >= kStep || first + mine < kCapacity) work(first + mine);
  }
}

/// Starts a warp's copy of a whole span that is aligned to 16 bytes.
template <int kCapacity>
__device__ __forceinline__ void load_whole(std::uint8_t* slot, const std::uint8_t* from, int lane) {
  for_vectors<kCapacity>(lane, [=](int at) { copy_vector_async(slot + at, from + at); });
}

/// Starts a warp's copy of a span of which only the first `bytes` exist, and fills the rest with
/// zeros. Unaligned spans are copied byte by byte, through registers.
template <bool kAligned, int kCapacity>
__device__ __forceinline__ void load_some(std::uint8_t* slot, const std::uint8_t* from, int bytes,
                                          int lane) {
  if constexpr (kAligned) {
    for_vectors<kCapacity>(lane, [=](int at) {
      copy_some_async(slot + at, from + at, min(max(bytes - at, 0), kVectorBytes));
    });
  } else {
#pragma unroll 4
    for (int at = lane; at < kCapacity; at += kLanes) {
      slot[at] = at < bytes ? from[at] : std::uint8_t{0};
    }
  }
}

/// Writes 16 bytes of a lane to device memory with a streaming store: no kernel reads them again,
/// so they should not displace other data from L2.
__device__ __forceinline__ void store_vector(std::uint8_t* to, const std::uint8_t* from) {
  __stcs(reinterpret_cast<uint4*>(to), *reinterpret_cast<const uint4*>(from));
}

/// Writes a warp's whole span, aligned to 16 bytes. The caller has synchronised the warp after the
/// slot was filled.
template <int kCapacity>
__device__ __forceinline__ void store_whole(std::uint8_t* to, const std::uint8_t* slot, int lane) {
  for_vectors<kCapacity>(lane, [=](int at) { store_vector(to + at, slot + at); });
}

/// Writes the first `bytes` of a warp's span; what is not a whole vector goes byte by byte.
template <bool kAligned>
__device__ __forceinline__ void store_some(std::uint8_t* to, const std::uint8_t* slot, int bytes,
                                           int lane) {
  int done = 0;
  if constexpr (kAligned) {
    done = bytes / kVectorBytes * kVectorBytes;
#pragma unroll 1
    for (int at = lane * kVectorBytes; at < done; at += kLanes * kVectorBytes) {
      store_vector(to + at, slot + at);
    }
  }
#pragma unroll 1
  for (int at = done + lane; at < bytes; at += kLanes)
    to[at] = slot[at];
}

}  // namespace equalux::cuda
