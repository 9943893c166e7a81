#pragma once

#include <cstdint>
#include <cstring>

#include <equalux/hessian.h>

#include "src/hessian/hessian_math.h"

/// Arithmetic of `vessel` and `shapes` on single pixels, written once for host and device.
/// docs/hessian.md has formulas and sources.
namespace equalux {

/// Gain for the contrast of bars: one of width 2 sigma and contrast 1 has lambda2 = sqrt(2 / (pi
/// e)) = 1 / kBarGain in its middle.
inline constexpr float kBarGain = 2.0663656f;
/// Levels added to the local mean, so that noise in the dark does not count as contrast.
inline constexpr float kDimLight = 16.0f;

/// Thresholds of a measure: the parameters, or the measure's defaults.
struct VesselThresholds {
  double low;
  double high;
};
[[nodiscard]] inline VesselThresholds vessel_thresholds(const VesselParams& params) {
  const bool frangi = params.measure == VesselMeasure::frangi;
  return {params.low.value_or(frangi ? 0.1 : 0.08), params.high.value_or(frangi ? 0.4 : 0.16)};
}

/// Contrast per level of lambda, where the local mean is `light` levels.
EQUALUX_HD float contrast_gain(float light) {
  return rounded_quotient(kBarGain, (light > 0.0f ? light : 0.0f) + kDimLight);
}

/// lambda2 of lines of a polarity, 0 of others. `sign` is 1 for dark and -1 for bright lines.
EQUALUX_HD float ridge_strength(float sign, float second) {
  const float strength = sign * second;
  return strength > 0.0f ? strength : 0.0f;
}

/// e^-t for t >= 0, with a relative error of 2e-7, and 0 below 2^-126, by operations that round
/// alike everywhere: 2^n times a polynomial of the rest, n the nearest whole number.
EQUALUX_HD float exp_of_minus(float t) {
  constexpr float kIntegerBase = 12582912.0f;  // 1.5 · 2^23: adding it rounds to whole numbers
  const float x = t * -1.44269504f;
  const float n = (x + kIntegerBase) - kIntegerBase;
  const float f = x - n;
  float p = 1.5403530e-4f;  // (ln 2)^k / k!, from k = 6 down
  p = fused_add(p, f, 1.3333558e-3f);
  p = fused_add(p, f, 9.6181291e-3f);
  p = fused_add(p, f, 5.5504109e-2f);
  p = fused_add(p, f, 2.4022651e-1f);
  p = fused_add(p, f, 6.9314718e-1f);
  p = fused_add(p, f, 1.0f);
  if (!(n > -126.0f)) return 0.0f;
  const std::int32_t bits = (static_cast<std::int32_t>(n) + 127) << 23;
  float power;
  memcpy(&power, &bits, sizeof power);
  return p * power;
}

/// Frangi's vesselness of a pixel at one scale: e^(-Rb^2 / 2 beta^2) (1 - e^(-S^2 / 2 c^2)), Rb =
/// lambda1 / lambda2, beta = 1/2, S^2 = lambda1^2 + lambda2^2 as contrast, c = 0.2; 0 for the other
/// polarity. `gain` is contrast_gain().
EQUALUX_HD float frangi_measure(float sign, const Eigenvalues& e, float gain) {
  if (!(sign * e.second > 0.0f)) return 0.0f;
  const float ratio = rounded_quotient(e.first, e.second);
  const float line = exp_of_minus(2.0f * (ratio * ratio));
  const float a = e.first * gain;
  const float b = e.second * gain;
  return line * (1.0f - exp_of_minus(12.5f * fused_add(a, a, b * b)));
}

/// Sigma that smooths a pixel's own level: small compared with vessels of the largest scale.
[[nodiscard]] inline double own_level_sigma(double largest_sigma) {
  return largest_sigma < 2 ? largest_sigma / 2 : 1;
}

/// Measure, set to 0 where the pixel is on the wrong side of the local mean. Large scales respond
/// beyond the edges of thin vessels; this cuts them there.
EQUALUX_HD float within_line(float sign, float light, float own_level, float measure) {
  return sign * (light - own_level) > 0.0f ? measure : 0.0f;
}

/// Largest hole that is filled, in pixels: a square as wide as the widest vessel. Holes come from
/// the bright reflex along the middle of wide vessels.
[[nodiscard]] inline std::int64_t filled_hole(double largest_sigma) {
  return static_cast<std::int64_t>(4 * largest_sigma * largest_sigma + 0.5);
}

/// Vignette, the dark around a photograph through a round opening. A pixel is dark at or below
/// black + max(kDarkestVignette, (p - black) / kVignetteShare), where nine tenths of the pixels in
/// every kVignetteRowStep-th row are at or below p. Brightness is max(r, g, b), or luma; `black` is
/// its level of black.
inline constexpr int kDarkestVignette = 10;  ///< levels above black that cameras give to black
inline constexpr int kVignetteShare = 6;
inline constexpr int kVignetteRowStep = 4;

/// Returns the level of black in a frame's brightness: 16 in limited range.
[[nodiscard]] inline int black_level(const ImageDesc& desc) {
  if (traits(desc.format).model != ColorModel::yuv) return 0;
  return yuv_weights(desc.matrix, desc.range).luma_offset;
}

/// Level up to which a pixel is dark, where nine tenths of the pixels are at or below `bright`.
EQUALUX_HD std::int32_t dark_level(std::int32_t bright, std::int32_t black) {
  const std::int32_t share = (bright - black) / kVignetteShare;
  return black + (share > kDarkestVignette ? share : kDarkestVignette);
}

/// Pixels by which the vignette grows, so that its rim is no line: a kernel of three sigmas beyond
/// the rim sees nothing of it.
[[nodiscard]] inline int vignette_margin(double largest_sigma) {
  return static_cast<int>(3 * largest_sigma + 0.5);
}

/// Class of a measure: 2 where it starts a vessel, 1 where it continues one, else 0.
EQUALUX_HD std::uint8_t vessel_class(float measure, float low, float high) {
  return static_cast<std::uint8_t>((measure >= low ? 1 : 0) + (measure >= high ? 1 : 0));
}

/// Level of the heat map, 0 to 255, with `full` = 255 / (2 high), so that `high` is half of it.
EQUALUX_HD std::uint8_t heat_level(float measure, float full) {
  const float level = measure * full;
  return static_cast<std::uint8_t>(level < 255.0f ? level : 255.0f);
}

/// Class of a pixel as in the report's Figure 1: 0 none, 1 dark line, 2 bright line, 3 dark blob, 4
/// bright blob. A blob's eigenvalues have the same sign and similar size; a line's first one is
/// small.
EQUALUX_HD std::uint8_t shape_class(const Eigenvalues& e, float threshold, float line_ratio,
                                    float blob_ratio) {
  const float strength = magnitude(e.second);
  if (!(strength >= threshold)) return 0;
  const bool dark = e.second > 0.0f;
  const float along = dark ? e.first : -e.first;
  if (magnitude(along) <= line_ratio * strength) return dark ? 1 : 2;
  if (along >= blob_ratio * strength) return dark ? 3 : 4;
  return 0;
}

}  // namespace equalux
