#pragma once

#include <cstdint>

#include "cuda/hessian/hessian.h"

/// Loads of a frame's levels as floats.
namespace equalux::cuda {

/// Computes the level of a pixel as a weighted sum of its bytes; the first byte is the lowest of
/// the word.
__device__ __forceinline__ float sum_level(const LevelSource& in, std::uint32_t bytes) {
  return static_cast<float>(__dp4a(bytes, in.weights, in.bias) >> in.shift);
}

/// Computes the level of a pixel from its bytes; the first byte is the lowest of the word.
__device__ __forceinline__ float level_of(const LevelSource& in, std::uint32_t bytes) {
  if (in.largest) {
    const std::uint32_t taken = __vmaxu4(bytes & in.weights, (bytes & in.weights) >> 16);
    return static_cast<float>(max(taken & 0xFFU, taken >> 8 & 0xFFU));
  }
  return sum_level(in, bytes);
}

/// Loads the level at a position that may lie outside the frame, where the edge is repeated.
__device__ __forceinline__ float level_at(const LevelSource& in, int x, int y) {
  const int column = min(max(x, 0), in.columns - 1);
  const int row = min(max(y, 0), in.rows - 1);
  const std::uint8_t* pixel = in.at(column, row);
  std::uint32_t bytes = pixel[0];
  for (int b = 1; b < in.step; ++b)
    bytes |= static_cast<std::uint32_t>(pixel[b]) << (8 * b);
  return in.real ? __uint_as_float(bytes) : level_of(in, bytes);
}

/// Converts four pixels of one byte each.
__device__ __forceinline__ float4 levels_of_bytes(std::uint32_t word) {
  return {static_cast<float>(word & 0xFFU), static_cast<float>(word >> 8 & 0xFFU),
          static_cast<float>(word >> 16 & 0xFFU), static_cast<float>(word >> 24)};
}

/// Converts four pixels that are floats.
__device__ __forceinline__ float4 levels_of_floats(const std::uint32_t (&words)[4]) {
  return {__uint_as_float(words[0]), __uint_as_float(words[1]), __uint_as_float(words[2]),
          __uint_as_float(words[3])};
}

/// Converts four pixels of three bytes each; level(bytes) converts one. The byte above a pixel's
/// own must have weight 0.
template <typename Level>
__device__ __forceinline__ float4 levels_of_words(const std::uint32_t (&words)[3],
                                                  const Level& level) {
  return {level(words[0]), level(__byte_perm(words[0], words[1], 0x6543)),
          level(__byte_perm(words[1], words[2], 0x5432)), level(words[2] >> 8)};
}

/// Converts four pixels of four bytes each; level(bytes) converts one.
template <typename Level>
__device__ __forceinline__ float4 levels_of_words(const std::uint32_t (&words)[4],
                                                  const Level& level) {
  return {level(words[0]), level(words[1]), level(words[2]), level(words[3])};
}

/// Loads four pixels, all inside the frame, as whole words.
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

/// Loads the levels of pixels x to x + 3, where x is a multiple of 4. Any of them may lie outside
/// the frame.
__device__ __forceinline__ float4 four_levels(const LevelSource& in, int x, int y) {
  if (in.words && x >= 0 && x + 4 <= in.columns) {
    return four_inner_levels(
        in, reinterpret_cast<const std::uint32_t*>(in.at(x, min(max(y, 0), in.rows - 1))));
  }
  return {level_at(in, x, y), level_at(in, x + 1, y), level_at(in, x + 2, y),
          level_at(in, x + 3, y)};
}

}  // namespace equalux::cuda
