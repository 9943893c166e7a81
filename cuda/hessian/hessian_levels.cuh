#pragma once

#include <cstdint>

#include "cuda/hessian/hessian.h"

/// Levels of a frame as floats.
namespace equalux::cuda {

/// The level of a pixel whose bytes are in a word, the first lowest, as a weighted sum.
__device__ __forceinline__ float sum_level(const LevelSource& in, std::uint32_t bytes) {
  return static_cast<float>(__dp4a(bytes, in.weights, in.bias) >> in.shift);
}

/// The level of a pixel whose bytes are in a word, the first lowest.
__device__ __forceinline__ float level_of(const LevelSource& in, std::uint32_t bytes) {
  if (in.largest) {
    const std::uint32_t taken = __vmaxu4(bytes & in.weights, (bytes & in.weights) >> 16);
    return static_cast<float>(max(taken & 0xFFU, taken >> 8 & 0xFFU));
  }
  return sum_level(in, bytes);
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

/// Four pixels of a byte each.
__device__ __forceinline__ float4 levels_of_bytes(std::uint32_t word) {
  return {static_cast<float>(word & 0xFFU), static_cast<float>(word >> 8 & 0xFFU),
          static_cast<float>(word >> 16 & 0xFFU), static_cast<float>(word >> 24)};
}

/// Four pixels that are floats.
__device__ __forceinline__ float4 levels_of_floats(const std::uint32_t (&words)[4]) {
  return {__uint_as_float(words[0]), __uint_as_float(words[1]), __uint_as_float(words[2]),
          __uint_as_float(words[3])};
}

/// Four pixels of three bytes; level(bytes) is that of one. Its weights are 0 for the byte above a
/// pixel's own.
template <typename Level>
__device__ __forceinline__ float4 levels_of_words(const std::uint32_t (&words)[3],
                                                  const Level& level) {
  return {level(words[0]), level(__byte_perm(words[0], words[1], 0x6543)),
          level(__byte_perm(words[1], words[2], 0x5432)), level(words[2] >> 8)};
}

/// The same of four bytes.
template <typename Level>
__device__ __forceinline__ float4 levels_of_words(const std::uint32_t (&words)[4],
                                                  const Level& level) {
  return {level(words[0]), level(words[1]), level(words[2]), level(words[3])};
}

/// Four pixels, all of them in the frame, from whole words.
__device__ __forceinline__ float4 four_inner_levels(const LevelSource& in,
                                                    const std::uint32_t* from) {
  const auto level = [&](std::uint32_t bytes) { return level_of(in, bytes); };
  if (in.step == 1) return levels_of_bytes(__ldg(from));
  if (in.step == 3) {
    const std::uint32_t words[3] = {__ldg(from), __ldg(from + 1), __ldg(from + 2)};
    return levels_of_words(words, level);
  }
  const std::uint32_t words[4] = {__ldg(from), __ldg(from + 1), __ldg(from + 2), __ldg(from + 3)};
  return in.real ? levels_of_floats(words) : levels_of_words(words, level);
}

/// Levels of pixels x to x + 3, x a multiple of 4, any of which may lie outside.
__device__ __forceinline__ float4 four_levels(const LevelSource& in, int x, int y) {
  if (in.words && x >= 0 && x + 4 <= in.columns) {
    return four_inner_levels(
        in, reinterpret_cast<const std::uint32_t*>(in.at(x, min(max(y, 0), in.rows - 1))));
  }
  return {level_at(in, x, y), level_at(in, x + 1, y), level_at(in, x + 2, y),
          level_at(in, x + 3, y)};
}

}  // namespace equalux::cuda
