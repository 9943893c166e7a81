#pragma once

#include <cstdint>

#include "cuda/hessian/hessian.h"

/// Levels of a frame as floats.
namespace equalux::cuda {

/// The level of a pixel whose bytes are in a word, the first lowest.
__device__ __forceinline__ float level_of(const LevelSource& in, std::uint32_t bytes) {
  if (in.largest) {
    const std::uint32_t taken = __vmaxu4(bytes & in.weights, (bytes & in.weights) >> 16);
    return static_cast<float>(max(taken & 0xFFU, taken >> 8 & 0xFFU));
  }
  return static_cast<float>(__dp4a(bytes, in.weights, in.bias) >> in.shift);
}

/// The level at a position that may lie outside, where the frame's edge goes on.
__device__ __forceinline__ float level_at(const LevelSource& in, int x, int y) {
  const int column = min(max(x, 0), in.columns - 1);
  const int row = min(max(y, 0), in.rows - 1);
  const std::uint8_t* pixel = in.at(column, row);
  std::uint32_t bytes = pixel[0];
  for (int b = 1; b < in.step; ++b)
    bytes |= static_cast<std::uint32_t>(pixel[b]) << (8 * b);
  return in.real ? __uint_as_float(bytes) : level_of(in, bytes);
}

/// Four pixels from whole words.
template <int kStep>
__device__ __forceinline__ float4 levels_of_words(const LevelSource& in,
                                                  const std::uint32_t* from) {
  std::uint32_t words[kStep];
#pragma unroll
  for (int i = 0; i < kStep; ++i)
    words[i] = __ldg(from + i);
  if constexpr (kStep == 1) {
    return {level_of(in, words[0] & 0xFFU), level_of(in, words[0] >> 8 & 0xFFU),
            level_of(in, words[0] >> 16 & 0xFFU), level_of(in, words[0] >> 24)};
  } else if constexpr (kStep == 3) {
    // What lies above a pixel's three bytes has weight 0.
    return {level_of(in, words[0]), level_of(in, __byte_perm(words[0], words[1], 0x6543)),
            level_of(in, __byte_perm(words[1], words[2], 0x5432)), level_of(in, words[2] >> 8)};
  } else {
    return {level_of(in, words[0]), level_of(in, words[1]), level_of(in, words[2]),
            level_of(in, words[3])};
  }
}

/// Levels of pixels x to x + 3 of row y, all of them in the frame, from whole words.
__device__ __forceinline__ float4 four_inner_levels(const LevelSource& in, int x, int y) {
  const auto* from = reinterpret_cast<const std::uint32_t*>(in.at(x, y));
  if (in.real) {
    return {__uint_as_float(__ldg(from)), __uint_as_float(__ldg(from + 1)),
            __uint_as_float(__ldg(from + 2)), __uint_as_float(__ldg(from + 3))};
  }
  if (in.step == 1) return levels_of_words<1>(in, from);
  return in.step == 3 ? levels_of_words<3>(in, from) : levels_of_words<4>(in, from);
}

/// Levels of pixels x to x + 3, x a multiple of 4, any of which may lie outside.
__device__ __forceinline__ float4 four_levels(const LevelSource& in, int x, int y) {
  if (in.words && x >= 0 && x + 4 <= in.columns) {
    return four_inner_levels(in, x, min(max(y, 0), in.rows - 1));
  }
  return {level_at(in, x, y), level_at(in, x + 1, y), level_at(in, x + 2, y),
          level_at(in, x + 3, y)};
}

}  // namespace equalux::cuda
