#pragma once

#include <cstdint>

#include "fused_config.h"

/// Moving a warp's chunks between device memory and its slots in shared memory.
namespace equalux::cuda {

/// Bytes in device memory, at most kChunkBytes.
template <typename Byte>
struct Span {
  Byte* data;
  int bytes;
};

__device__ __forceinline__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// 16 bytes past the first-level cache and the registers; before compute capability 8.0 through
/// the registers. Seen by the issuing thread after copies_wait().
__device__ __forceinline__ void copy_vector_async(std::uint8_t* to, const std::uint8_t* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from)
               : "memory");
#else
  *reinterpret_cast<uint4*>(to) = __ldcg(reinterpret_cast<const uint4*>(from));
#endif
}

/// Ends a group of copies; a group may be empty.
__device__ __forceinline__ void copies_commit() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until at most kPending of this thread's groups are under way.
template <int kPending>
__device__ __forceinline__ void copies_wait() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#endif
}

/// Bytes of a span that is not whole, lane by lane: rare, so kept short.
template <typename To, typename From>
__device__ __forceinline__ void copy_bytes(To* to, From* from, int bytes, int lane) {
#pragma unroll 1
  for (int i = lane; i < bytes; i += kLanes) to[i] = from[i];
}

/// A warp starts the copy of a span of at most kCapacity bytes. Without kAligned, byte by byte.
template <bool kAligned, int kCapacity>
__device__ __forceinline__ void load_span(std::uint8_t* slot, Span<const std::uint8_t> from,
                                          int lane) {
  constexpr int kStep = kLanes * kVectorBytes;
  const int mine = lane * kVectorBytes;
  if (kAligned && from.bytes == kCapacity) {
#pragma unroll
    for (int first = 0; first < kCapacity; first += kStep) {
      if (kCapacity - first >= kStep || first + mine < kCapacity) {
        copy_vector_async(slot + first + mine, from.data + first + mine);
      }
    }
    return;
  }
  int done = 0;
  if (kAligned) {
    const int whole = from.bytes / kVectorBytes * kVectorBytes;
#pragma unroll 1
    for (int at = mine; at < whole; at += kStep) copy_vector_async(slot + at, from.data + at);
    done = whole;
  }
  copy_bytes(slot + done, from.data + done, from.bytes - done, lane);
}

/// A warp writes a span of at most kCapacity bytes. The caller has synchronised the warp. Nobody on
/// the device reads the result again, so it should push nothing else out of L2.
template <bool kAligned, int kCapacity>
__device__ __forceinline__ void store_span(Span<std::uint8_t> to, const std::uint8_t* slot,
                                           int lane) {
  constexpr int kStep = kLanes * kVectorBytes;
  const int mine = lane * kVectorBytes;
  const auto copy_vector = [&](int at) {
    __stcs(reinterpret_cast<uint4*>(to.data + at), *reinterpret_cast<const uint4*>(slot + at));
  };
  if (kAligned && to.bytes == kCapacity) {
#pragma unroll
    for (int first = 0; first < kCapacity; first += kStep) {
      if (kCapacity - first >= kStep || first + mine < kCapacity) copy_vector(first + mine);
    }
    return;
  }
  int done = 0;
  if (kAligned) {
    const int whole = to.bytes / kVectorBytes * kVectorBytes;
#pragma unroll 1
    for (int at = mine; at < whole; at += kStep) copy_vector(at);
    done = whole;
  }
  copy_bytes(to.data + done, slot + done, to.bytes - done, lane);
}

}  // namespace equalux::cuda
