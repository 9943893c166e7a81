#pragma once

#include <cstdint>
#include <vector>

#include "src/equalize/deep_curve.h"
#include "src/equalize/deep_line.h"

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

/// What luma and chroma of one v are scaled by where all levels have the same k, in YCbCr of at
/// most 12 bits.
///
/// `gain` is W / (v 2^14) and 2^-49 of it more. Luma v - d becomes gain (v - k d), a multiple of
/// 1 / (v 2^22): it misses a half by 2^-34 at least, if it is not on it. Products are at most 2^12,
/// and less than 2^-36 too large. Where S comes to 1 they are gain (v - f d), with a little less
/// than f = v / (v - m) for f: that misses a half by 2^-28.
///
/// `share` is what a luma sample adds to the sum of its chroma sample where S stays below 1:
/// scaled_share(), as a part of 1. Products of sums and chroma have less than 53 bits, unless they
/// come out clamped.
struct alignas(16) DeepScaling {
  double gain;
  double share;
};
/// That of a level and a k of at most saturation::kMostFactor. Where v is 0 luma is left alone, and
/// S is 1 or more where chroma is any colour at all: k is 1 at most.
[[nodiscard]] DeepScaling deep_scaling(std::uint32_t level, std::uint32_t factor, std::uint32_t v,
                                       std::int32_t depth);

/// W / (v 2^14) of packed RGB of 16 bits, where all levels have one k, a whole multiple of 1/8; and
/// 2^-50 of it more. A channel v - d becomes that times v - k d, a multiple of 1 / (v 2^17): it
/// misses a half by more than 2^-33, if it is not on it. Products are less than 2^16, and with
/// roundings less than 2^-33.5 too large. Where S comes to 1, a little less than f = v / (v - m)
/// takes the place of k: less than 2^-31.9 too large, and a half is missed by more than 2^-30.
[[nodiscard]] double deep_rgb_gain(std::uint32_t level, std::uint32_t v);

/// The value of black's line in YCbCr, whose luma is left alone: its low word is 0, and S does not
/// take it to 1.
inline constexpr double kBlackValue = 1 << 20;

/// What the loops read beside W where saturation is changed, by v, 0 to M.
struct DeepSaturation {
  std::vector<std::uint16_t> factors;  ///< k, in 1 / saturation::kOne
  std::vector<DeepLine> lines;         ///< of values that the frame has
  std::vector<DeepScaling> scalings;   ///< likewise, in place of lines where `alike` is set
  std::vector<double> gains;           ///< likewise, in place of lines of packed RGB
  std::uint32_t most = 0;              ///< the largest k
  bool alike = false;                  ///< it is k of all levels, and samples have scalings
  bool limits = false;                 ///< it is above 1, so that S may come to 1
  bool exact = false;                  ///< all lines are exact, so that halves may be many

  void resize(const DeepSamples& form);
  /// Sets k of all values, of k of the coarse levels.
  void set_factors(const DeepSamples& form, const std::uint32_t* coarse);
};
/// Makes the lines or scalings of the values that `counts` has, of their W and k.
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
