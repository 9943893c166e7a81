#pragma once

#include <cstdint>
#include <vector>

#include "src/equalize/deep_curve.h"
#include "src/equalize/deep_line.h"

/// Gains of the deep chain in the forms that its loops read.
namespace equalux {

/// Gains of one frame by v, 0 to M; v = 0 has gain 1. Valid for levels that the frame has; of
/// `fixed` and `scaled` only the table that the target's loops read is filled.
struct DeepGains {
  std::vector<std::uint32_t> curve;  ///< W
  std::vector<std::uint64_t> fixed;  ///< deep_gain()
  std::vector<double> scaled;        ///< deep_scaled_gain()
  std::vector<std::uint16_t> words;  ///< gray: output words

  void resize(const DeepSamples& form);
};

/// Gain g of deep_gain() in double precision, times 2^deep_share_bits(): a little above g / 2^8, so
/// that no product is on a half.
///
/// Up to 12 bits it is (g + 1/2) / 2^8, exact, as g is below 2^51; its whole part is
/// deep_gain_share(g). A code c times it, rounded to nearest, is deep_scaled(): in units of
/// 2^-deep_gain_bits(), g is less than one unit above W 2^F / v, F = 2 depth + 1, so that the sum
/// is less than two above, and c times two units is below 1 / (v 2^14), the least distance of c W /
/// (v 2^14) from a half above it (docs/algorithm.md, section 8). The product is below 2^53 units
/// and exact.
///
/// With 16 bits it is W 2^(F - 8) / v, rounded twice and raised by 2^-50 of itself. Errors are
/// below 2^-49 of a product, which is at most 2^16: less than 2^-30, the least distance from a
/// half. The share is at most one unit and 2^-49 of the gain below it.
inline double deep_scaled_gain(std::uint32_t level, std::uint32_t v, std::int32_t depth) {
  if (depth <= 12) return (static_cast<double>(deep_gain(level, v, depth)) + 0.5) * (1.0 / 256.0);
  const double unit = static_cast<double>(std::uint64_t{1} << (2 * depth + 1 - 8));
  const double above = 1.0 + 1.0 / static_cast<double>(std::uint64_t{1} << 50);
  if (v == 0) return unit * (1 << kDeepCurveBits) * above;
  // Both are below 2^30; the conversion instruction takes signed numbers.
  const auto w = static_cast<double>(static_cast<std::int32_t>(level));
  return w * (unit * above) / static_cast<double>(static_cast<std::int32_t>(v));
}

/// Gain and chroma share of one v where all levels have the same k, for YCbCr of at most 12 bits.
///
/// `gain` is W / (v 2^14), raised by 2^-49 of itself. Luma v - d becomes gain (v - k d), a multiple
/// of 1 / (v 2^22), on a half or at least 2^-34 from it; products are at most 2^12 and less than
/// 2^-36 too large. Where S comes to 1, luma becomes gain (v - f d) with f a little below v / (v -
/// m); results are then at least 2^-28 from a half.
///
/// `share` is the contribution of a luma sample to the sum of its chroma sample where S stays below
/// 1: scaled_share(), as a fraction. Products of sums and chroma have less than 53 bits unless they
/// saturate.
struct alignas(16) DeepScaling {
  double gain;
  double share;
};
/// Makes the DeepScaling of a level and a k of at most saturation::kMostFactor. At v = 0 luma
/// stays, and any chroma has S of 1 or more, so that k is at most 1.
[[nodiscard]] DeepScaling deep_scaling(std::uint32_t level, std::uint32_t factor, std::uint32_t v,
                                       std::int32_t depth);

/// Gain W / (v 2^14) of packed 16-bit RGB where all levels have the same k, a whole multiple of
/// 1/8; raised by 2^-50 of itself. A channel v - d becomes gain (v - k d), a multiple of 1 / (v
/// 2^17), on a half or more than 2^-33 from it; products are below 2^16 and, with roundings, less
/// than 2^-33.5 too large. Where S comes to 1, f, a little below v / (v - m), replaces k: less than
/// 2^-31.9 too large, and more than 2^-30 from a half.
[[nodiscard]] double deep_rgb_gain(std::uint32_t level, std::uint32_t v);

/// Value of black's line in YCbCr, where luma stays: its low word is 0, and its S never comes to 1.
inline constexpr double kBlackValue = 1 << 20;

/// Tables of changed saturation by v, 0 to M, beside W.
struct DeepSaturation {
  std::vector<std::uint16_t> factors;  ///< k, in units of 1 / saturation::kOne
  std::vector<DeepLine> lines;         ///< valid for levels that the frame has
  std::vector<DeepScaling> scalings;   ///< as lines, instead of them for YCbCr where `alike`
  std::vector<double> gains;           ///< as lines, instead of them for packed RGB where `alike`
  std::uint32_t most = 0;              ///< largest k
  bool alike = false;                  ///< all levels have k = most, and scalings or gains are used
  bool limits = false;                 ///< some k is above 1, so that S may come to 1
  bool exact = false;                  ///< all lines are exact, so that halves may be frequent

  void resize(const DeepSamples& form);
  /// Sets k of all levels from k of the coarse levels.
  void set_factors(const DeepSamples& form, const std::uint32_t* coarse);
};
/// Makes lines, scalings or gains for the levels that `counts` has, from their W and k.
void make_lines(const DeepSamples& form, ColorModel model, const std::vector<std::uint32_t>& counts,
                const std::vector<std::uint32_t>& levels, DeepSaturation& saturation);

/// Makes `fixed` for the levels that `counts` has.
void make_fixed_gains(const DeepSamples& form, const std::vector<std::uint32_t>& counts,
                      DeepGains& gains);
/// Makes `scaled` for the levels that `counts` has.
void make_scaled_gains(const DeepSamples& form, const std::vector<std::uint32_t>& counts,
                       DeepGains& gains);
/// Makes `words` for all levels.
void make_gray_words(const DeepSamples& form, DeepGains& gains);

}  // namespace equalux
