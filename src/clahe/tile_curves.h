#pragma once

#include <cstdint>

#include "src/equalize/tone/tone_limits.h"
#include "src/format/pixel_math.h"

/// Arithmetic from the curves of tiles to the gain of a pixel, written once for host and device.
/// docs/algorithm.md, "Tiles", has the formulas and proofs.
namespace equalux::tiles {

/// Unit of a level in a tile's curve.
inline constexpr int kLevel = 64;
/// Full weight of two tiles together.
inline constexpr int kFullWeight = 256;
/// gain_numerator() of one level.
inline constexpr float kNumeratorLevel = 2.0f * kLevel * kFullWeight;

/// Entry of a tile's curve at level v: W(v) in 64ths of a level; at black, which keeps its level,
/// the entry that makes the gain 1.
EQUALUX_HD std::uint32_t curve_level(std::uint32_t v, std::uint32_t curve) {
  constexpr int kDropped = tone::kCurveBits - 6;
  return v == 0 ? kLevel : (curve + (1U << (kDropped - 1))) >> kDropped;
}

/// Mean of all tiles' curves at a level, rounded half up; `sum` is the sum of W.
EQUALUX_HD std::uint32_t mean_level(std::uint64_t sum, std::uint32_t tiles) {
  return static_cast<std::uint32_t>((2 * sum + tiles) / (2 * std::uint64_t{tiles}));
}

/// Mean of the tiles above and below; the lower one has weight `below` of kFullWeight.
EQUALUX_HD std::int32_t mix_rows(std::int32_t above_level, std::int32_t below_level,
                                 std::int32_t below) {
  return above_level + (((below_level - above_level) * below + kFullWeight / 2) >> 8);
}

/// Twice the weighted sum of the mixes left and right, plus 1: odd and below 2^23. The value it
/// stands for is therefore never on a half between two levels, so that the gain may be a float.
EQUALUX_HD std::int32_t gain_numerator(std::int32_t left, std::int32_t right,
                                       std::int32_t of_right) {
  return 2 * (left * kFullWeight + (right - left) * of_right) + 1;
}

/// 1 / (kNumeratorLevel v), rounded once; at v = 0 as for v = 1.
EQUALUX_HD float gain_inverse(std::int32_t v) {
  return (1.0f / kNumeratorLevel) / static_cast<float>(v == 0 ? 1 : v);
}

EQUALUX_HD float gain_of(std::int32_t numerator, float inverse) {
  return static_cast<float>(numerator) * inverse;
}

#if !defined(__CUDA_ARCH__)
/// factor gain, exact in double precision and rounded to nearest, halves to even: the result of one
/// fused addition of 2^23 in single precision.
inline std::int32_t round_product(std::int32_t factor, float gain) {
  constexpr double kOne = 6755399441055744.0;  // 1.5 2^52, whose last bit is worth 1
  return static_cast<std::int32_t>(
      (static_cast<double>(factor) * static_cast<double>(gain) + kOne) - kOne);
}
#endif

}  // namespace equalux::tiles
