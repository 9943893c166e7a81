#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include <equalux/params.h>

#include "src/format/pixel_math.h"

/// Arithmetic from histogram to curve to gain, in integers, written once for host and device.
///
/// Samples are 8-bit: v runs from 0 to M, M = 255 or 219. T(v) = numerator / denominator is
/// rational and a channel c becomes round(c M T(v) / v), halves up. See docs/algorithm.md,
/// "Why the gains are exact".
namespace equalux {

/// Histogram bin of v among n: round((n - 1) v / M), halves up. 64 bits: n reaches 65,536.
EQUALUX_HD std::int64_t bin_of(std::int64_t v, std::int64_t bins, std::int64_t max_value) {
  return (2 * (bins - 1) * v + max_value) / (2 * max_value);
}

/// The largest value in v's bin: the cumulative sum up to it is the sum up to the bin.
EQUALUX_HD std::uint32_t last_of_bin(std::uint32_t v, std::int64_t bins, std::int64_t max_value) {
  const std::int64_t bin = bin_of(v, bins, max_value);
  const std::int64_t last = (2 * max_value * bin + max_value - 1) / (2 * (bins - 1));
  return static_cast<std::uint32_t>(last < max_value ? last : max_value);
}

/// last_of_bin() of the levels 0 to M below 256, where 0 bins stand for 256.
inline std::array<std::uint8_t, 256> last_levels_of_bins(int bins, std::int32_t max_value) {
  std::array<std::uint8_t, 256> last{};
  for (std::uint32_t v = 0; v <= static_cast<std::uint32_t>(max_value); ++v)
    last[v] = static_cast<std::uint8_t>(last_of_bin(v, bins == 0 ? 256 : bins, max_value));
  return last;
}

/// What a scaler takes off the cumulative sums before it divides. T(v) = (cdf - offset) / span,
/// and the identity where span is 0.
struct CurveScale {
  std::uint64_t offset;
  std::uint64_t span;
};

/// `first_bin` is the count of bin 0, `first_nonempty` that of the first bin that is not empty.
EQUALUX_HD CurveScale curve_scale(Scaler scaler, std::uint64_t first_bin,
                                  std::uint64_t first_nonempty, std::uint64_t total) {
  switch (scaler) {
    case Scaler::max_abs:
      return {0, total};
    case Scaler::min_max:
      return {first_bin, total - first_bin};
    case Scaler::min_max_nonzero:
      return {first_nonempty, total - first_nonempty};
  }
  return {0, 0};
}

/// T of a bin in single precision, for the staged chain: one division of the integer sums. The span
/// is not 0.
EQUALUX_HD float curve_value(const CurveScale& scale, std::uint64_t cdf) {
  const std::uint64_t above = cdf > scale.offset ? cdf - scale.offset : 0;
  return static_cast<float>(above) / static_cast<float>(scale.span);
}

/// The exact gain M T(v) / v of one v as a fraction. At most 2^31 pixels keep every product of
/// this file below 2^63.
struct GainFraction {
  std::uint64_t numerator;
  std::uint64_t denominator;
};

/// Gain of v where the cumulative sum up to its bin is `cdf`. v = 0 and the identity have gain 1.
EQUALUX_HD GainFraction gain_fraction(const CurveScale& scale, std::uint64_t cdf, std::uint32_t v,
                                      std::uint32_t max_value) {
  if (v == 0 || scale.span == 0) return {1, 1};
  const std::uint64_t above = cdf > scale.offset ? cdf - scale.offset : 0;
  return {max_value * above, v * scale.span};
}

/// ceil(gain 2^48): c times it, plus 2^47, shifted right by 48 is round(c gain) exactly, because
/// c < 2^8 keeps the excess below the 1 / (2 v 2^31) that lies between a product and the next half.
/// `ratio` is the gain and `inverse` 1 / denominator, both in double precision.
EQUALUX_HD std::uint64_t gain_48(const GainFraction& gain, double ratio, double inverse) {
  // The ratio is off by less than 2^-50 of itself, which is below 2^8: the estimate by at most 64.
  // What it leaves over is then below 2^46, exact in double precision, and corrects it. A quotient
  // that is not whole is 2^-39 away from being so, since denominators are below 2^39.
  const auto estimate = static_cast<std::uint64_t>(ratio * 281474976710656.0);
  const auto rest =
      static_cast<std::int64_t>((gain.numerator << 48) - estimate * gain.denominator);  // mod 2^64
  const double correction = static_cast<double>(rest) * inverse - 0x1p-41;
  // Up to the next whole, from an integer below.
  return estimate - 128 + static_cast<std::uint64_t>(std::ceil(correction + 128.0));
}

EQUALUX_HD std::uint64_t gain_48(const GainFraction& gain) {
  const double inverse = 1.0 / static_cast<double>(gain.denominator);
  return gain_48(gain, static_cast<double>(gain.numerator) * inverse, inverse);
}

/// round(c gain), halves up, for 0 <= c <= 255.
EQUALUX_HD std::int32_t scale_exact(std::int32_t c, std::uint64_t gain48) {
  return static_cast<std::int32_t>(
      (static_cast<std::uint64_t>(c) * gain48 + (std::uint64_t{1} << 47)) >> 48);
}

/// A chroma code scaled by the mean of the gains of the `count` luma samples it covers.
/// `gain_sum` is the sum of gain_48(...) >> 8.
EQUALUX_HD std::int32_t scale_chroma_exact(std::int32_t code, std::uint64_t gain_sum, int count) {
  const std::int64_t product = (code - 128) * static_cast<std::int64_t>(gain_sum);
  const std::int64_t half = static_cast<std::int64_t>(count) << 39;
  const std::int64_t whole = static_cast<std::int64_t>(count) << 40;
  std::int64_t quotient = (product + half) / whole;
  if ((product + half) % whole < 0) --quotient;  // floor, not towards zero
  const std::int64_t scaled = 128 + quotient;
  return static_cast<std::int32_t>(scaled < 0 ? 0 : (scaled > 255 ? 255 : scaled));
}

/// A gain in double precision, and two that enclose it with `margin` to spare.
struct GainBounds {
  double exact, low, high;
};

EQUALUX_HD GainBounds gain_bounds(const GainFraction& gain) {
  const double exact = static_cast<double>(gain.numerator) / static_cast<double>(gain.denominator);
  const double margin = (exact + 1.0) / 4194304.0;
  return {exact, exact - margin, exact + margin};
}

/// Whether c times the bounds round to different whole numbers.
EQUALUX_HD bool parted(const GainBounds& bounds, std::int32_t c) {
  return static_cast<std::int32_t>(c * bounds.low + 0.5) !=
         static_cast<std::int32_t>(c * bounds.high + 0.5);
}

/// A gain that less than `margin` on either side rounds every c as `gain` does; `c` is the first of
/// 1 .. max_c that parted() says of, 0 if there is none.
EQUALUX_HD double safe_gain(const GainFraction& gain, const GainBounds& bounds, std::int32_t c) {
  if (c == 0) return bounds.exact;
  // One fraction lies in between: is the gain on it or past it?
  const auto below = static_cast<std::int32_t>(c * bounds.low + 0.5);
  const bool reached = 2 * static_cast<std::uint64_t>(c) * gain.numerator >=
                       (2 * static_cast<std::uint64_t>(below) + 1) * gain.denominator;
  return reached ? bounds.high : bounds.low;
}

/// A single-precision gain g with floor(fma(c, g, 1/2)) = round(c gain) for every c of
/// 1 .. max_c: it always exists.
///
/// The results change only where the gain passes a fraction (2k+1) / (2c). Two such fractions with
/// c <= max_c differ by at least 1 / (2 max_c (max_c - 1)), and `margin` is less than a quarter of
/// that. So of gain + margin and gain - margin at least one lies between the same two fractions as
/// the gain, at least `margin` away from both, which is more than single precision loses.
EQUALUX_HD float float_gain(const GainFraction& gain, std::int32_t max_c) {
  const GainBounds bounds = gain_bounds(gain);
  std::int32_t c = 1;
  while (c <= max_c && !parted(bounds, c))
    ++c;
  return static_cast<float>(safe_gain(gain, bounds, c <= max_c ? c : 0));
}

/// Fraction bits of fixed_gain().
inline constexpr int kFixedGainBits = 21;

/// A safe_gain() as a whole number: half of its last bit is below the margin. Gains are at most
/// 255, so that the sum of four fits 31 bits.
EQUALUX_HD std::uint32_t fixed_gain(double safe) {
  return static_cast<std::uint32_t>(safe * (1 << kFixedGainBits) + 0.5);
}

}  // namespace equalux
