#pragma once

#include <cstdint>

#include <equalux/image.h>

#include "src/equalize/space.h"
#include "src/equalize/tone/tone_curve.h"
#include "src/equalize/tone/tone_limits.h"
#include "src/format/pixel_math.h"

/// Samples of more than 8 bits: from histogram to tone curve to gain to code, in 64-bit integers,
/// written once for host and device.
///
/// The curve is a whole number for each v, W(v) = round(M T(v) 2^14), and a channel c becomes
/// floor(c W(v) / (v 2^14) + 1/2) exactly. docs/algorithm.md, "More than 8 bits", has the proofs.
namespace equalux {

/// Fractional bits of W.
inline constexpr int kDeepCurveBits = 14;

/// Constants of a format of 9 to 16 bits.
struct DeepSamples {
  std::int32_t depth;
  std::int32_t shift;          ///< unused bits of a word, below the value
  std::int32_t most;           ///< largest code, 2^depth - 1
  std::int32_t chroma_middle;  ///< code of neutral chroma, 2^(depth - 1)
  YuvWeights weights;          ///< in codes of this depth; for packed RGB and gray luma_max is M
};

constexpr DeepSamples deep_samples(const ImageDesc& desc, Space space = Space::value) {
  const FormatTraits& t = traits(desc.format);
  const std::int32_t most = (1 << t.depth) - 1;
  YuvWeights weights = space_weights(space, desc);
  if (t.model != ColorModel::yuv || desc.range == ColorRange::full) {
    weights.luma_offset = 0;
    weights.luma_max = most;
  } else {
    weights.luma_offset <<= t.depth - 8;
    weights.luma_max <<= t.depth - 8;
  }
  return {t.depth, t.shift, most, 1 << (t.depth - 1), weights};
}

/// Number of bins, where 0 stands for one bin per level.
constexpr int deep_bins(int bins, int depth) {
  if (bins != 0) return bins;
  return depth < 16 ? 1 << depth : kMaxBins;
}

/// Code in a word of memory, and word of a code.
EQUALUX_HD std::int32_t deep_code(const DeepSamples& form, std::uint32_t word) {
  return static_cast<std::int32_t>(word >> form.shift) & form.most;
}
EQUALUX_HD std::uint16_t deep_word(const DeepSamples& form, std::int32_t code) {
  return static_cast<std::uint16_t>(code << form.shift);
}

/// W(v) = round(M T(v) 2^14), halves up; `cdf` is the cumulative histogram up to the bin of v. At
/// most 2^31 pixels and 16 bits keep the dividend below 2^63.
EQUALUX_HD std::uint32_t deep_curve_level(const CurveScale& scale, std::uint64_t cdf,
                                          std::uint32_t v, std::uint32_t max_value) {
  if (scale.span == 0) return v << kDeepCurveBits;
  const std::uint64_t above = cdf > scale.offset ? cdf - scale.offset : 0;
  const std::uint64_t twice = (max_value * above) << (kDeepCurveBits + 1);
  return static_cast<std::uint32_t>((twice + scale.span) / (2 * scale.span));
}

/// deep_curve_level() without a division; `half_inverse` is 1 / (2 span) in double precision.
/// Conversion, inverse and product together are off by less than 2^-51 of a quotient below 2^31, so
/// that it is at most 1 off; the remainder corrects it.
inline std::uint32_t deep_curve_level(const CurveScale& scale, std::uint64_t cdf, std::uint32_t v,
                                      std::uint32_t max_value, double half_inverse) {
  if (scale.span == 0) return v << kDeepCurveBits;
  const std::uint64_t above = cdf > scale.offset ? cdf - scale.offset : 0;
  const auto dividend =
      static_cast<std::int64_t>(((max_value * above) << (kDeepCurveBits + 1)) + scale.span);
  const auto divisor = static_cast<std::int64_t>(2 * scale.span);
  auto quotient = static_cast<std::int64_t>(static_cast<double>(dividend) * half_inverse);
  const std::int64_t rest = dividend - quotient * divisor;
  quotient += (rest >= divisor ? 1 : 0) - (rest < 0 ? 1 : 0);
  return static_cast<std::uint32_t>(quotient);
}

/// Coarse levels: cells of 2^(depth - 8) codes, for which curves with limits or over time are made
/// as for 8 bits. The last one, 255 or 219, is that of M.
constexpr std::uint32_t coarse_max(const DeepSamples& form) {
  return static_cast<std::uint32_t>(form.weights.luma_max >> (form.depth - 8));
}
EQUALUX_HD std::uint32_t coarse_level(const DeepSamples& form, std::uint32_t v) {
  return v >> (form.depth - 8);
}

/// Position of v between coarse levels, `beyond` / M of the way from `level` to `next`. Coarse
/// level i stands at v = i M / coarse_max, which is its place in an 8-bit frame.
struct CoarsePlace {
  std::uint32_t level;
  std::uint32_t next;  ///< equal to `level` for the last one
  std::uint32_t beyond;
};
EQUALUX_HD CoarsePlace coarse_place(const DeepSamples& form, std::uint32_t v) {
  const auto max_value = static_cast<std::uint32_t>(form.weights.luma_max);
  const std::uint32_t last = coarse_max(form);
  const std::uint32_t level = v * last / max_value;
  return {level, level < last ? level + 1 : last, v * last % max_value};
}

/// W(v), interpolated linearly between the coarse levels; level 0 counts as 0, as black stays
/// black. Exact for the identity, and at most M.
EQUALUX_HD std::uint32_t deep_level_between(const DeepSamples& form, const std::uint32_t* coarse,
                                            std::uint32_t v) {
  const auto max_value = static_cast<std::uint32_t>(form.weights.luma_max);
  const CoarsePlace at = coarse_place(form, v);
  const std::uint64_t low = at.level == 0 ? 0 : coarse[at.level];
  const std::uint64_t high = coarse[at.next];
  const std::uint64_t sum = low * (max_value - at.beyond) + high * at.beyond;  // below 2^46
  const std::uint64_t divisor = std::uint64_t{coarse_max(form)}
                                << (tone::kCurveBits - kDeepCurveBits);
  const auto level = static_cast<std::uint32_t>((sum + divisor / 2) / divisor);
  const std::uint32_t most = max_value << kDeepCurveBits;
  return level < most ? level : most;
}

/// k of saturation at v, interpolated linearly between the coarse levels and rounded half up.
EQUALUX_HD std::uint32_t deep_factor_between(const DeepSamples& form, const std::uint32_t* coarse,
                                             std::uint32_t v) {
  const auto max_value = static_cast<std::uint32_t>(form.weights.luma_max);
  const CoarsePlace at = coarse_place(form, v);
  return (coarse[at.level] * (max_value - at.beyond) + coarse[at.next] * at.beyond +
          max_value / 2) /
         max_value;
}

/// Fractional bits of a gain: 2 depth + 1 more than those of W.
EQUALUX_HD std::int32_t deep_gain_bits(std::int32_t depth) {
  return 2 * depth + 1 + kDeepCurveBits;
}

/// Gain 1, of v = 0 and of luma below black.
EQUALUX_HD std::uint64_t deep_gain_one(std::int32_t depth) {
  return std::uint64_t{1} << deep_gain_bits(depth);
}

/// Gain ceil(W 2^(2 depth + 1) / v), for which deep_scaled() is exact. `level` is at most M 2^14,
/// which keeps the dividend below 2^63.
EQUALUX_HD std::uint64_t deep_gain(std::uint32_t level, std::uint32_t v, std::int32_t depth) {
  if (v == 0) return deep_gain_one(depth);
  return ((static_cast<std::uint64_t>(level) << (2 * depth + 1)) + v - 1) / v;
}

/// round(c W(v) / (v 2^14)), halves up, for codes 0 <= c <= v; c may be larger where v was clamped
/// to M.
EQUALUX_HD std::int32_t deep_scaled(std::int32_t c, std::uint64_t gain, std::int32_t depth) {
  const std::int32_t bits = deep_gain_bits(depth);
  const std::uint64_t half = std::uint64_t{1} << (bits - 1);
  return static_cast<std::int32_t>((static_cast<std::uint64_t>(c) * gain + half) >> bits);
}

/// New luma code of a pixel; `gain` is that of its v.
EQUALUX_HD std::int32_t deep_scaled_luma(const DeepSamples& form, std::int32_t luma,
                                         std::uint64_t gain) {
  const std::int32_t above_black = luma - form.weights.luma_offset;
  if (above_black < 0) return luma;
  const std::int32_t scaled = form.weights.luma_offset + deep_scaled(above_black, gain, form.depth);
  return scaled < form.most ? scaled : form.most;
}

/// Fractional bits of deep_gain_share().
EQUALUX_HD constexpr int deep_share_bits(int depth) {
  return 2 * depth + 1 + kDeepCurveBits - 8;
}

/// Contribution of a luma sample to the sum of gains of its chroma sample.
EQUALUX_HD std::int64_t deep_gain_share(std::uint64_t gain) {
  return static_cast<std::int64_t>(gain >> 8);
}

/// Chroma code scaled by the mean gain of the 2^count_log2 luma samples it covers. `u` is the code
/// less the middle, `gain_sum` the sum of deep_gain_share(). u gain_sum is below 2^61, as |u| < 13
/// v for every v >= 1 at such a chroma sample. With luma as v that bound does not hold: at depth 16
/// a result far beyond the last code is caught before the product.
EQUALUX_HD std::int32_t deep_scaled_chroma(const DeepSamples& form, std::int32_t u,
                                           std::int64_t gain_sum, std::int32_t count_log2) {
  const std::int32_t bits = deep_gain_bits(form.depth) - 8 + count_log2;
  if (form.depth == 16 && (u < 0 ? -u : u) * (gain_sum >> bits) > 2 * std::int64_t{form.most})
    return u < 0 ? 0 : form.most;
  const std::int64_t half = std::int64_t{1} << (bits - 1);
  const std::int64_t scaled = form.chroma_middle + ((u * gain_sum + half) >> bits);
  return static_cast<std::int32_t>(scaled < 0 ? 0 : (scaled > form.most ? form.most : scaled));
}

}  // namespace equalux
