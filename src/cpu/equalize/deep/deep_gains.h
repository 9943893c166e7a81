#pragma once

#include <cstdint>
#include <vector>

#include "src/equalize/deep_curve.h"

/// Gains of the deep chain in the forms that its loops read.
namespace equalux {

/// Gains of one frame by v, 0 to M; v = 0 has gain 1. Only those of values that the frame has are
/// right, and of `fixed` and `scaled` only what the target's loops read.
struct DeepGains {
  std::vector<std::uint32_t> curve;  ///< W
  std::vector<std::uint64_t> fixed;  ///< deep_gain()
  std::vector<double> scaled;        ///< deep_scaled_gain()
  std::vector<std::uint16_t> words;  ///< gray: the result, ready to be stored

  void resize(const DeepSamples& form);
};

/// Bits below the point of deep_scaled_gain(), those of deep_gain_share().
constexpr int deep_share_bits(int depth) {
  return 2 * depth + 1 + kDeepCurveBits - 8;
}

/// A gain g of deep_gain() in double precision, times 2^deep_share_bits(): a little more than
/// g / 2^8, so that no product is half-way between two whole numbers.
///
/// Up to 12 bits it is (g + 1/2) / 2^8, which double precision holds: g is below 2^51. Its whole
/// part is deep_gain_share(g). A code c times it, rounded to the nearest whole number in units of
/// 2^deep_share_bits(), is deep_scaled(): g is less than one unit above W 2^F / v, F = 2 depth + 1,
/// the sum so less than two, and c times two such units is below 1 / (v 2^14), the least by which c
/// W / (v 2^14) misses a half from below (docs/algorithm.md, section 8). The product is below 2^53
/// of its units, and exact.
///
/// With 16 bits it is W 2^(F - 8) / v, rounded twice, and 2^-50 of it more. Errors are below 2^-49
/// of a product, which is at most 2^16: less than the 2^-30 by which it can miss a half. The share
/// is at most one unit and 2^-49 of the gain below it.
inline double deep_scaled_gain(std::uint32_t level, std::uint32_t v, std::int32_t depth) {
  if (depth <= 12) return (static_cast<double>(deep_gain(level, v, depth)) + 0.5) * (1.0 / 256.0);
  const double unit = static_cast<double>(std::uint64_t{1} << (2 * depth + 1 - 8));
  const double above = 1.0 + 1.0 / static_cast<double>(std::uint64_t{1} << 50);
  if (v == 0) return unit * (1 << kDeepCurveBits) * above;
  // Both are below 2^30, and there is an instruction for signed ones.
  const auto w = static_cast<double>(static_cast<std::int32_t>(level));
  return w * (unit * above) / static_cast<double>(static_cast<std::int32_t>(v));
}

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

/// What the loops read beside W where saturation is changed, by v, 0 to M.
struct DeepSaturation {
  std::vector<std::uint16_t> factors;  ///< k, in 1 / saturation::kOne
  std::vector<DeepLine> lines;         ///< of values that the frame has
  std::uint32_t most = 0;              ///< the largest k
  bool limits = false;                 ///< it is above 1, so that S may come to 1
  bool exact = false;                  ///< all lines are exact, so that halves may be many

  void resize(const DeepSamples& form);
  /// Sets k of all values, of k of the coarse levels.
  void set_factors(const DeepSamples& form, const std::uint32_t* coarse);
};
/// Makes the lines of the values that `counts` has, of their W and k. That of black counts as 1 in
/// YCbCr, where it scales chroma alone.
void make_lines(const DeepSamples& form, ColorModel model, const std::vector<std::uint32_t>& counts,
                const std::vector<std::uint32_t>& levels, DeepSaturation& saturation);

/// Fills `fixed` of the values that `counts` has.
void make_fixed_gains(const DeepSamples& form, const std::vector<std::uint32_t>& counts,
                      DeepGains& gains);
/// Fills `scaled` likewise.
void make_scaled_gains(const DeepSamples& form, const std::vector<std::uint32_t>& counts,
                       DeepGains& gains);
/// Fills `words`, of all values.
void make_gray_words(const DeepSamples& form, DeepGains& gains);

}  // namespace equalux
