#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <equalux/curve.h>
#include <equalux/params.h>

#include "src/equalize/deep_curve.h"
#include "src/equalize/tone/tone_curve.h"
#include "src/equalize/tone/tone_limits.h"

/// Arithmetic of curves that are kept: what a frame adds to their sum, and their tables for frames
/// of any depth. Integers, for host and device.
namespace equalux {

static_assert(ToneCurve::kUnit == 1U << tone::kCurveBits);

/// W of plain equalization: round(M T(v) 2^kCurveBits), halves up; `cdf` is the cumulative
/// histogram up to the bin of v. It is rounded only once: from a rounded distribution some halves
/// would go to the wrong side. At most 2^31 pixels keep the dividend below 2^63.
EQUALUX_HD std::uint32_t plain_level(const CurveScale& scale, std::uint64_t cdf, std::uint32_t v,
                                     std::uint32_t max_value) {
  if (scale.span == 0) return tone::unchanged(v);
  const std::uint64_t above = cdf > scale.offset ? cdf - scale.offset : 0;
  const std::uint64_t twice = (max_value * above) << (tone::kCurveBits + 1);
  return static_cast<std::uint32_t>((twice + scale.span) / (2 * scale.span));
}

/// Position of a coarse level among deep codes, as in deep_level_between(): `beyond` / coarse_max
/// past `v`.
struct DeepPlace {
  std::uint32_t v;
  std::uint32_t beyond;
};
EQUALUX_HD DeepPlace place_of_level(const DeepSamples& form, std::uint32_t level) {
  const std::uint32_t at = level * static_cast<std::uint32_t>(form.weights.luma_max);
  return {at / coarse_max(form), at % coarse_max(form)};
}

/// W of a coarse level, interpolated between the deep W at its place and at the next code.
EQUALUX_HD std::uint32_t coarse_from_deep(const DeepSamples& form, const DeepPlace& place,
                                          std::uint32_t at, std::uint32_t after) {
  const auto max_value = static_cast<std::uint64_t>(form.weights.luma_max);
  const std::uint64_t sum =
      std::uint64_t{at} * (coarse_max(form) - place.beyond) + std::uint64_t{after} * place.beyond;
  constexpr int kBits = tone::kCurveBits - kDeepCurveBits;
  return static_cast<std::uint32_t>(((sum << (kBits + 1)) + max_value) / (2 * max_value));
}

/// W for each level; entries above M are unused.
using CurveTable = std::array<std::uint32_t, 256>;

/// Curve of plain equalization for the histogram of a frame or a tile that is not empty;
/// `max_value` is 255 or 219.
[[nodiscard]] CurveTable plain_curve(const std::array<std::uint32_t, 256>& counts, Scaler scaler,
                                     int bins, int max_value);

/// W of the levels 0 to `max_value`, 255 or 219, interpolated linearly between the curve's levels
/// as by deep_level_between(); unchanged where the curve has as many.
[[nodiscard]] CurveTable curve_table(const ToneCurve& curve, int max_value);

/// Table of a curve for more than 8 bits, in units of 2^-kDeepCurveBits.
[[nodiscard]] std::vector<std::uint32_t> deep_curve_table(const ToneCurve& curve, int max_value);

/// Makes the sum of the curves of `frames` frames, with the options of `params`.
[[nodiscard]] CurveSum curve_sum_of(const EqualizeParams& params, std::uint64_t frames,
                                    std::vector<std::uint64_t> levels);

/// Returns what is wrong with a curve, as "has 17 levels, must have 220 or 256", or an empty text.
[[nodiscard]] std::string fault_of(const ToneCurve& curve);

}  // namespace equalux
