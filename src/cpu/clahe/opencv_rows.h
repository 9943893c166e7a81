#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

/// Inner loops of `clahe` with OpenCV's bytes over a span of a row, whose pixels lie between the
/// same four tiles. src/clahe/opencv_tiles.h has the arithmetic.
namespace equalux {

/// Tables of the four tiles around a span, 65,536 levels each; one word behind the last may be
/// read.
struct WordCorners {
  const std::uint16_t* above_left;
  const std::uint16_t* above_right;
  const std::uint16_t* below_left;
  const std::uint16_t* below_right;
};

/// Loops of one target. `of_right` are the weights of pixels; rows may have any alignment; `in` and
/// `out` are the same memory or do not overlap. All targets give the same bytes.
struct OpencvRows {
  std::string_view target;

  /// Joins four tables of bytes in one of words, the first table's in the lowest byte.
  void (*join)(const std::uint8_t* above_left, const std::uint8_t* above_right,
               const std::uint8_t* below_left, const std::uint8_t* below_right,
               std::uint32_t* quads);
  void (*mix_bytes)(const std::uint32_t* quads, const float* of_right, float of_below,
                    const std::uint8_t* in, std::size_t n, std::uint8_t* out);
  /// Mixes pixels of 16-bit little-endian words.
  void (*mix_words)(const WordCorners& corners, const float* of_right, float of_below,
                    const std::uint8_t* in, std::size_t n, std::uint8_t* out);
};

/// Returns the plain C++ loops, for machines without a known SIMD target and as reference of the
/// others.
[[nodiscard]] const OpencvRows& scalar_opencv_rows();
/// Returns the loops of the target that the CPU backend runs, or plain C++.
[[nodiscard]] const OpencvRows& opencv_rows();
/// Returns every target that this build has and this machine runs, best first, plain C++ last.
[[nodiscard]] std::vector<OpencvRows> all_opencv_rows();

}  // namespace equalux
