#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

/// The inner loops of `clahe` with OpenCV's bytes over a span of a row, whose pixels lie between
/// the same four tiles. The arithmetic is src/clahe/opencv_tiles.h.
namespace equalux {

/// Tables of the tiles around a span, 65,536 levels each, and one word behind the last that may be
/// read.
struct WordCorners {
  const std::uint16_t* above_left;
  const std::uint16_t* above_right;
  const std::uint16_t* below_left;
  const std::uint16_t* below_right;
};

/// One target's loops. `of_right` are weights by pixel; rows have no alignment; in and out are the
/// same or do not overlap. All targets give the same bytes.
struct OpencvRows {
  std::string_view target;

  /// Four tables of bytes as one of words, the first table's in the lowest byte.
  void (*join)(const std::uint8_t* above_left, const std::uint8_t* above_right,
               const std::uint8_t* below_left, const std::uint8_t* below_right,
               std::uint32_t* quads);
  void (*mix_bytes)(const std::uint32_t* quads, const float* of_right, float of_below,
                    const std::uint8_t* in, std::size_t n, std::uint8_t* out);
  /// Samples are little-endian words of 16 bits.
  void (*mix_words)(const WordCorners& corners, const float* of_right, float of_below,
                    const std::uint8_t* in, std::size_t n, std::uint8_t* out);
};

/// Plain C++, for machines without a known SIMD target and as the reference of the others.
[[nodiscard]] const OpencvRows& scalar_opencv_rows();
/// The loops of the target that the CPU backend runs, or plain C++.
[[nodiscard]] const OpencvRows& opencv_rows();
/// Every target that this build holds and this machine runs, best first, plain C++ last.
[[nodiscard]] std::vector<OpencvRows> all_opencv_rows();

}  // namespace equalux
