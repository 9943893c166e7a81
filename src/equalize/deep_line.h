#pragma once

#include <cstdint>

#include "src/equalize/deep_curve.h"
#include "src/equalize/saturation.h"

/// Saturation of more than 8 bits in double precision, written once for host and device.
namespace equalux {

/// Line on which all pixels of one v lie where saturation changes: a channel c becomes value -
/// slope (v - c), rounded to nearest, as long as S stays below 1.
///
/// `value` is V' = W / 2^14, raised by 2^-49 of itself so that no result is on a half; `slope` is k
/// W / (v 2^14), or V' / (v - m) where S comes to 1. All roundings of value, slope, product and
/// difference together are below 2^-50.3 V', so that the computed result is above the true one, by
/// less than 2^-48.5 V'. A true result below a half misses it by at least 1 / ((v - m) 2^15) where
/// S comes to 1, else by at least 1 / (v 2^22): up to 12 bits results are therefore right in both
/// cases. With 16 bits and S below 1 a result within 2^-32 of a half may be wrong, unless the slope
/// is a whole multiple of 1 / 256: then only `value` rounds.
struct alignas(16) DeepLine {
  /// Lowest bit: set where the line is exact. The slope is then a whole multiple of 1 / 256 and
  /// equals the contribution of luma to a sum of chroma, so that such sums and their products with
  /// chroma are not rounded.
  double value;
  double slope;
};
inline constexpr double kAboveValue = 1.0 + 1.0 / static_cast<double>(std::uint64_t{1} << 49);
/// Distance of a 16-bit result from the nearest whole number up to which its rounding is sure.
inline constexpr double kSureLine = 0.5 - 1.0 / 2147483648.0;

/// Returns true where a DeepLine with this slope is exact. W and v must not be 0.
EQUALUX_HD bool has_exact_slope(std::uint32_t level, std::uint32_t factor, double slope,
                                std::uint32_t v, std::int32_t depth) {
  const double scaled = slope * saturation::kOne;
  const auto whole = static_cast<std::int64_t>(scaled);
  // Rules out most levels. A slope that passes may still have been rounded.
  if (static_cast<double>(whole) != scaled) return false;
  const std::uint64_t product = static_cast<std::uint64_t>(whole) * v << kDeepCurveBits;
  if (product != std::uint64_t{factor} * level) return false;
  const std::int64_t share = saturation::scaled_share(
      deep_gain_share(deep_gain(level, v, depth)),
      {static_cast<std::int32_t>(factor), static_cast<std::int32_t>(saturation::kOne)});
  return share == whole << (deep_share_bits(depth) - 8);
}

/// Line with V' = `value`, marked as exact or not.
EQUALUX_HD DeepLine marked_line(double value, double slope, bool exact) {
  const auto bits = __builtin_bit_cast(std::uint64_t, value * kAboveValue) & ~std::uint64_t{1};
  return {__builtin_bit_cast(double, bits | (exact ? 1 : 0)), slope};
}

EQUALUX_HD bool is_exact(const DeepLine& line) {
  return (__builtin_bit_cast(std::uint64_t, line.value) & 1) != 0;
}

/// Line of a v of 1 or more, from its W and k.
EQUALUX_HD DeepLine deep_line(std::uint32_t level, std::uint32_t factor, std::uint32_t v,
                              std::int32_t depth) {
  constexpr double kUnit = 1.0 / (1 << kDeepCurveBits);
  // At most 2^40 and thus exact, like the divisor.
  const auto product = static_cast<double>(static_cast<std::int64_t>(factor) * level);
  const double slope = product / (static_cast<double>(v) * (saturation::kOne / kUnit));
  const bool exact = level != 0 && has_exact_slope(level, factor, slope, v, depth);
  return marked_line(level * kUnit, slope, exact);
}

/// Line of v = 0, for chroma alone: its value counts as 1. Any chroma there has S of 1 or more, so
/// that k is at most 1. Packed RGB has no colour at v = 0.
EQUALUX_HD DeepLine deep_line_of_black(std::uint32_t factor, bool yuv) {
  const std::uint32_t k = factor < saturation::kOne ? factor : saturation::kOne;
  return marked_line(yuv ? 1 : 0, static_cast<double>(k) / saturation::kOne, yuv);
}

}  // namespace equalux
