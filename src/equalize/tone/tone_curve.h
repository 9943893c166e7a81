#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include <equalux/params.h>

#include "src/format/pixel_math.h"

/// Integer arithmetic from histogram to tone curve to gain, written once for host and device.
///
/// Samples have 8 bits: v is 0 to M, M = 255 or 219. T(v) = numerator / denominator is rational,
/// and a channel c becomes round(c M T(v) / v), halves up. docs/algorithm.md, "Why the gains are
/// exact", has the proofs.
namespace equalux {

/// Histogram bin of v among n bins: round((n - 1) v / M), halves up. In 64 bits, as n reaches
/// 65,536.
EQUALUX_HD std::int64_t bin_of(std::int64_t v, std::int64_t bins, std::int64_t max_value) {
  return (2 * (bins - 1) * v + max_value) / (2 * max_value);
}

/// Largest level in the bin of v. The cumulative histogram at it is that of the whole bin.
EQUALUX_HD std::uint32_t last_of_bin(std::uint32_t v, std::int64_t bins, std::int64_t max_value) {
  const std::int64_t bin = bin_of(v, bins, max_value);
  const std::int64_t last = (2 * max_value * bin + max_value - 1) / (2 * (bins - 1));
  return static_cast<std::uint32_t>(last < max_value ? last : max_value);
}

/// last_of_bin() of all levels 0 to M below 256; 0 bins stand for 256.
inline std::array<std::uint8_t, 256> last_levels_of_bins(int bins, std::int32_t max_value) {
  std::array<std::uint8_t, 256> last{};
  for (std::uint32_t v = 0; v <= static_cast<std::uint32_t>(max_value); ++v)
    last[v] = static_cast<std::uint8_t>(last_of_bin(v, bins == 0 ? 256 : bins, max_value));
  return last;
}

/// Normalization of the cumulative histogram by a scaler: T(v) = (cdf - offset) / span; the
/// identity where span is 0.
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

/// T of a bin in single precision for the staged chain: one division of integer sums. The span must
/// not be 0.
EQUALUX_HD float curve_value(const CurveScale& scale, std::uint64_t cdf) {
  const std::uint64_t above = cdf > scale.offset ? cdf - scale.offset : 0;
  return static_cast<float>(above) / static_cast<float>(scale.span);
}

/// Exact gain M T(v) / v of a level v as a fraction. With at most 2^31 pixels, every product in
/// this file is below 2^63.
struct GainFraction {
  std::uint64_t numerator;
  std::uint64_t denominator;
};

/// Gain of v; `cdf` is the cumulative histogram up to its bin. v = 0 and the identity have gain 1.
EQUALUX_HD GainFraction gain_fraction(const CurveScale& scale, std::uint64_t cdf, std::uint32_t v,
                                      std::uint32_t max_value) {
  if (v == 0 || scale.span == 0) return {1, 1};
  const std::uint64_t above = cdf > scale.offset ? cdf - scale.offset : 0;
  return {max_value * above, v * scale.span};
}

/// ceil(gain 2^48). (c gain_48 + 2^47) >> 48 is round(c gain) exactly: c < 2^8 keeps the excess of
/// the ceiling below 1 / (2 v 2^31), the least distance of a product from the next half. `ratio` is
/// the gain and `inverse` 1 / denominator, both in double precision.
EQUALUX_HD std::uint64_t gain_48(const GainFraction& gain, double ratio, double inverse) {
  // The ratio is below 2^8 and its relative error below 2^-50, so that the estimate is off by at
  // most 64. The remainder is then below 2^46, exact in double precision, and corrects the
  // estimate. A quotient that is not whole is at least 2^-39 from a whole number, as denominators
  // are below 2^39.
  const auto estimate = static_cast<std::uint64_t>(ratio * 281474976710656.0);
  const auto rest =
      // Modulo 2^64.
      static_cast<std::int64_t>((gain.numerator << 48) - estimate * gain.denominator);
  const double correction = static_cast<double>(rest) * inverse - 0x1p-41;
  // ceil() of the correction, 128 added to keep it positive.
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

/// Chroma code scaled by the mean gain of the `count` luma samples it covers. `gain_sum` is the sum
/// of their gain_48() >> 8.
EQUALUX_HD std::int32_t scale_chroma_exact(std::int32_t code, std::uint64_t gain_sum, int count) {
  const std::int64_t product = (code - 128) * static_cast<std::int64_t>(gain_sum);
  const std::int64_t half = static_cast<std::int64_t>(count) << 39;
  const std::int64_t whole = static_cast<std::int64_t>(count) << 40;
  std::int64_t quotient = (product + half) / whole;
  if ((product + half) % whole < 0) --quotient;  // rounds towards minus infinity
  const std::int64_t scaled = 128 + quotient;
  return static_cast<std::int32_t>(scaled < 0 ? 0 : (scaled > 255 ? 255 : scaled));
}

/// Gain in double precision, with bounds a margin below and above it.
struct GainBounds {
  double exact, low, high;
};

EQUALUX_HD GainBounds gain_bounds(const GainFraction& gain) {
  const double exact = static_cast<double>(gain.numerator) / static_cast<double>(gain.denominator);
  const double margin = (exact + 1.0) / 4194304.0;
  return {exact, exact - margin, exact + margin};
}

/// Returns true where c times the two bounds round to different whole numbers.
EQUALUX_HD bool parted(const GainBounds& bounds, std::int32_t c) {
  return static_cast<std::int32_t>(c * bounds.low + 0.5) !=
         static_cast<std::int32_t>(c * bounds.high + 0.5);
}

/// Gain that stays on the right side of every rounding edge even if it is off by less than the
/// margin. `c` is the first of 1 .. max_c for which parted() is true, 0 if there is none.
EQUALUX_HD double safe_gain(const GainFraction& gain, const GainBounds& bounds, std::int32_t c) {
  if (c == 0) return bounds.exact;
  // Exactly one rounding edge lies between the bounds; integers tell on which side of it the gain
  // is.
  const auto below = static_cast<std::int32_t>(c * bounds.low + 0.5);
  const bool reached = 2 * static_cast<std::uint64_t>(c) * gain.numerator >=
                       (2 * static_cast<std::uint64_t>(below) + 1) * gain.denominator;
  return reached ? bounds.high : bounds.low;
}

/// Gain g in single precision with floor(fma(c, g, 1/2)) = round(c gain) for every c of 1 .. max_c.
///
/// It always exists. Results change only where the gain passes a fraction (2k+1) / (2c). Two
/// different such fractions with c <= max_c are at least 1 / (2 max_c (max_c - 1)) apart, and the
/// margin is less than a quarter of that. So gain + margin or gain - margin lies between the same
/// two fractions as the gain and at least a margin from both, which is more than single precision
/// loses.
EQUALUX_HD float float_gain(const GainFraction& gain, std::int32_t max_c) {
  const GainBounds bounds = gain_bounds(gain);
  std::int32_t c = 1;
  while (c <= max_c && !parted(bounds, c))
    ++c;
  return static_cast<float>(safe_gain(gain, bounds, c <= max_c ? c : 0));
}

/// Fraction bits of fixed_gain().
inline constexpr int kFixedGainBits = 21;

/// safe_gain() in fixed point; its rounding error is below the margin. Gains are at most 255, so
/// that the sum of four fits in 31 bits.
EQUALUX_HD std::uint32_t fixed_gain(double safe) {
  return static_cast<std::uint32_t>(safe * (1 << kFixedGainBits) + 0.5);
}

}  // namespace equalux
