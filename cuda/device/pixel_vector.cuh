#pragma once

#include <cstdint>

#include "cuda/device/gain_scale.h"

/// Words and single bytes of registers, and the rounding product of a code and a gain.
namespace equalux::cuda {

/// Byte `i` of consecutive words. After unrolling, one byte permutation.
__device__ __forceinline__ std::uint32_t byte_of(const std::uint32_t* words, int i) {
  return __byte_perm(words[i / 4], 0, 0x4440 | (i % 4));
}

/// A byte of the words, times 256.
__device__ __forceinline__ std::uint32_t byte_times_256(const std::uint32_t* words, int i) {
  return __byte_perm(words[i / 4], 0, 0x4404 | (i % 4) << 4);
}

/// Bytes i and j in the upper bytes of a word's halves; the lower bytes are anything. Halves
/// compare as their upper bytes do.
__device__ __forceinline__ std::uint32_t upper_bytes(const std::uint32_t* words, int i, int j) {
  return __byte_perm(words[i / 4], words[j / 4], (4 + j % 4) << 12 | (i % 4) << 4);
}

/// Four results' lowest bytes as one word.
__device__ __forceinline__ std::uint32_t pack(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                              std::uint32_t d) {
  return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

/// 16 or 8 bytes as words.
template <int kBytes>
__device__ __forceinline__ void load_words(const std::uint8_t* from, std::uint32_t* words) {
  static_assert(kBytes == 16 || kBytes == 8);
  if constexpr (kBytes == 16) {
    const uint4 v = *reinterpret_cast<const uint4*>(from);
    words[0] = v.x;
    words[1] = v.y;
    words[2] = v.z;
    words[3] = v.w;
  } else {
    const uint2 v = *reinterpret_cast<const uint2*>(from);
    words[0] = v.x;
    words[1] = v.y;
  }
}

template <int kBytes>
__device__ __forceinline__ void store_words(std::uint8_t* to, const std::uint32_t* words) {
  static_assert(kBytes == 16 || kBytes == 8);
  if constexpr (kBytes == 16) {
    *reinterpret_cast<uint4*>(to) = uint4{words[0], words[1], words[2], words[3]};
  } else {
    *reinterpret_cast<uint2*>(to) = uint2{words[0], words[1]};
  }
}

/// Stores to device memory where nobody on the device reads it again: it should push nothing else
/// out of L2.
template <int kBytes>
__device__ __forceinline__ void stream_words(std::uint8_t* to, const std::uint32_t* words) {
  static_assert(kBytes == 16 || kBytes == 8);
  if constexpr (kBytes == 16) {
    __stcs(reinterpret_cast<uint4*>(to), uint4{words[0], words[1], words[2], words[3]});
  } else {
    __stcs(reinterpret_cast<uint2*>(to), uint2{words[0], words[1]});
  }
}

/// round(c gain) in the low 16 bits, for a code times 256 and a gain of float_gain() times
/// kGainScale.
///
/// Read as a float, the integer 256 c is the denormal 2^-141 c. The fused product is 2^-23 c gain
/// + 1, whose last place is 2^-23: the sum's rounding to nearest is the rounding of c gain, and its
/// lowest bits are the result. No conversion is needed. The gain never puts c gain on a half.
__device__ __forceinline__ std::uint32_t scale_rounded(std::uint32_t code_times_256, float gain) {
  return __float_as_uint(__fmaf_rn(__uint_as_float(code_times_256), gain, 1.0f));
}

}  // namespace equalux::cuda
