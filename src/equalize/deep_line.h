#pragma once

#include <cstdint>

#include "src/equalize/deep_curve.h"
#include "src/equalize/saturation.h"

/// Saturation of more than 8 bits in double precision, written once for host and device.
namespace equalux {

/// What pixels of one v become where saturation is changed too: a channel c becomes
/// value - slope (v - c), rounded to the nearest whole number, where S stays below 1.
///
/// `value` is V' = W / 2^14 and 2^-49 of it more, so that no result is on a half; `slope` is k W /
/// (v 2^14). Where S comes to 1 the slope is V' / (v - m) in place of that. Roundings of both, of
/// their product and of the difference are below 2^-50.3 V' together: what comes out is above the
/// true result, by less than 2^-48.5 V'. That is less than what a result below a half misses it by,
/// which is 1 / ((v - m) 2^15) at least where S comes to 1, and else 1 / (v 2^22): so with 12 bits
/// a result is right in either case. With 16 bits, where k serves, it may be wrong if it lies
/// within 2^-32 of a half, unless the slope is a whole multiple of 1 / 256: then only `value`
/// rounds.
struct alignas(16) DeepLine {
  /// Its last bit is set where the line is exact: the slope is a whole multiple of 1 / 256, and
  /// what luma adds to a sum of chroma is just that, so that such sums, and their products with
  /// chroma, have no rounding.
  double value;
  double slope;
};
inline constexpr double kAboveValue = 1.0 + 1.0 / static_cast<double>(std::uint64_t{1} << 49);

/// Whether a DeepLine with this slope is exact. W and v are not 0.
EQUALUX_HD bool has_exact_slope(std::uint32_t level, std::uint32_t factor, double slope,
                                std::uint32_t v, std::int32_t depth) {
  const double scaled = slope * saturation::kOne;
  const auto whole = static_cast<std::int64_t>(scaled);
  // For most levels that is all; but the slope was rounded.
  if (static_cast<double>(whole) != scaled) return false;
  const std::uint64_t product = static_cast<std::uint64_t>(whole) * v << kDeepCurveBits;
  if (product != std::uint64_t{factor} * level) return false;
  const std::int64_t share = saturation::scaled_share(
      deep_gain_share(deep_gain(level, v, depth)),
      {static_cast<std::int32_t>(factor), static_cast<std::int32_t>(saturation::kOne)});
  return share == whole << (deep_share_bits(depth) - 8);
}

/// A line of the value V', which is marked as exact or not.
EQUALUX_HD DeepLine marked_line(double value, double slope, bool exact) {
  const auto bits = __builtin_bit_cast(std::uint64_t, value * kAboveValue) & ~std::uint64_t{1};
  return {__builtin_bit_cast(double, bits | (exact ? 1 : 0)), slope};
}

EQUALUX_HD bool is_exact(const DeepLine& line) {
  return (__builtin_bit_cast(std::uint64_t, line.value) & 1) != 0;
}

/// The line of a v of 1 or more, of its W and k.
EQUALUX_HD DeepLine deep_line(std::uint32_t level, std::uint32_t factor, std::uint32_t v,
                              std::int32_t depth) {
  constexpr double kUnit = 1.0 / (1 << kDeepCurveBits);
  // At most 2^40, exact like its divisor.
  const auto product = static_cast<double>(static_cast<std::int64_t>(factor) * level);
  const double slope = product / (static_cast<double>(v) * (saturation::kOne / kUnit));
  const bool exact = level != 0 && has_exact_slope(level, factor, slope, v, depth);
  return marked_line(level * kUnit, slope, exact);
}

/// That of v = 0, whose k scales chroma alone: its value counts as 1, and S is 1 or more where
/// chroma is any colour at all, so that k is 1 at most. Packed RGB has no colour there.
EQUALUX_HD DeepLine deep_line_of_black(std::uint32_t factor, bool yuv) {
  const std::uint32_t k = factor < saturation::kOne ? factor : saturation::kOne;
  return marked_line(yuv ? 1 : 0, static_cast<double>(k) / saturation::kOne, yuv);
}

}  // namespace equalux
