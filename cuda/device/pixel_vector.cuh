#pragma once

#include <cstdint>

#include "cuda/device/gain_scale.h"

/// Words and their bytes in registers, and the rounded product of a code and a gain.
namespace equalux::cuda {

/// Extracts byte `i` of consecutive words. With a constant `i`, as in unrolled loops, this is one
/// byte permutation.
__device__ __forceinline__ std::uint32_t byte_of(const std::uint32_t* words, int i) {
  return __byte_perm(words[i / 4], 0, 0x4440 | (i % 4));
}

/// Extracts a byte of the words, multiplied by 256, in one byte permutation.
__device__ __forceinline__ std::uint32_t byte_times_256(const std::uint32_t* words, int i) {
  return __byte_perm(words[i / 4], 0, 0x4404 | (i % 4) << 4);
}

/// Puts bytes i and j into the upper bytes of a word's two halves; the lower bytes are undefined.
/// Halves so made compare as their upper bytes do, unless these are equal.
__device__ __forceinline__ std::uint32_t upper_bytes(const std::uint32_t* words, int i, int j) {
  return __byte_perm(words[i / 4], words[j / 4], (4 + j % 4) << 12 | (i % 4) << 4);
}

/// Packs the lowest bytes of four results into a word.
__device__ __forceinline__ std::uint32_t pack(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                              std::uint32_t d) {
  return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

/// Loads kBytes as words, with the widest loads that their number allows; `from` is aligned to
/// these.
template <int kBytes>
__device__ __forceinline__ void load_words(const std::uint8_t* from, std::uint32_t* words) {
  static_assert(kBytes % 16 == 0 || kBytes == 8 || kBytes == 4);
  if constexpr (kBytes % 16 == 0) {
#pragma unroll
    for (int i = 0; i < kBytes / 16; ++i) {
      const uint4 v = reinterpret_cast<const uint4*>(from)[i];
      words[4 * i] = v.x;
      words[4 * i + 1] = v.y;
      words[4 * i + 2] = v.z;
      words[4 * i + 3] = v.w;
    }
  } else if constexpr (kBytes == 8) {
    const uint2 v = *reinterpret_cast<const uint2*>(from);
    words[0] = v.x;
    words[1] = v.y;
  } else {
    words[0] = *reinterpret_cast<const std::uint32_t*>(from);
  }
}

/// Calls store(to, vector) for the vectors of kBytes that load_words() loads.
template <int kBytes, typename Store>
__device__ __forceinline__ void for_vectors_of_words(std::uint8_t* to, const std::uint32_t* words,
                                                     Store store) {
  static_assert(kBytes % 16 == 0 || kBytes == 8 || kBytes == 4);
  if constexpr (kBytes % 16 == 0) {
#pragma unroll
    for (int i = 0; i < kBytes / 16; ++i) {
      store(reinterpret_cast<uint4*>(to) + i,
            uint4{words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]});
    }
  } else if constexpr (kBytes == 8) {
    store(reinterpret_cast<uint2*>(to), uint2{words[0], words[1]});
  } else {
    store(reinterpret_cast<std::uint32_t*>(to), words[0]);
  }
}

/// Stores words as load_words() loads them.
template <int kBytes>
__device__ __forceinline__ void store_words(std::uint8_t* to, const std::uint32_t* words) {
  for_vectors_of_words<kBytes>(to, words, [](auto* at, auto vector) { *at = vector; });
}

/// Stores words in device memory with streaming stores: no kernel reads the bytes again, so they
/// should not displace other data from L2.
template <int kBytes>
__device__ __forceinline__ void stream_words(std::uint8_t* to, const std::uint32_t* words) {
  for_vectors_of_words<kBytes>(to, words, [](auto* at, auto vector) { __stcs(at, vector); });
}

/// Computes round(c gain) into the low 16 bits, from 256 c and a gain of float_gain() times
/// kGainScale.
///
/// Read as a float, the integer 256 c is the denormal 2^-141 c. The fused product plus 1 is 2^-23 c
/// gain + 1, whose last place is 2^-23: rounding that sum to nearest rounds c gain, and its lowest
/// bits are the result. No conversion between integers and floats is needed. float_gain() makes
/// sure that c gain is never a half, where rounding to even would differ from rounding up.
__device__ __forceinline__ std::uint32_t scale_rounded(std::uint32_t code_times_256, float gain) {
  return __float_as_uint(__fmaf_rn(__uint_as_float(code_times_256), gain, 1.0f));
}

}  // namespace equalux::cuda
