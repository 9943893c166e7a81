#pragma once

#include <cstdint>

#include "src/format/pixel_math.h"

/// Change of lightness at constant hue, in single precision, written once for host and device. No
/// product is contracted into a sum, so that all backends give the same bits. CIE 15, "CIE 1976
/// L*a*b*"; docs/algorithm.md, "What is equalized".
namespace equalux {

/// Linear light of sRGB; each component is 0 to 1.
struct LinearRgb {
  float red, green, blue;
};

/// Light relative to white above which L* is a cube root, and below which it is linear.
inline constexpr float kRootFrom = 216.0F / 24389.0F;

/// Tolerance of the gamut test for rounding; less than one unit of 16-bit light.
inline constexpr float kGamutSlack = 1e-5F;

/// Cube root of 0.008 to 1, within 3 units in the last place.
EQUALUX_HD float cube_root(float x) {
  // Initial value: a third of the float's bits divides the exponent by 3. At most 4 per cent off.
  const auto bits = static_cast<float>(__builtin_bit_cast(std::int32_t, x));
  float root =
      __builtin_bit_cast(float, static_cast<std::int32_t>(bits * (1.0F / 3.0F) + 709958144.0F));
  for (int i = 0; i < 2; ++i) {  // Halley's method, cubic convergence
    const float cube = root * root * root;
    root = root * (cube + x + x) / (cube + cube + x);
  }
  return root;
}

/// Function f of L* = 116 f(Y) - 16, a* = 500 (f(X) - f(Y)), b* = 200 (f(Y) - f(Z)), white being 1.
EQUALUX_HD float lab_root(float x) {
  const float straight = x * (24389.0F / 3132.0F) + 16.0F / 116.0F;
  const float root = cube_root(x);
  return x > kRootFrom ? root : straight;
}

/// Inverse of lab_root().
EQUALUX_HD float lab_power(float f) {
  const float straight = (f - 16.0F / 116.0F) * (3132.0F / 24389.0F);
  const float cube = f * f * f;
  return f > 6.0F / 29.0F ? cube : straight;
}

/// Colour of luminance `y`, with a* and b* given as differences of roots `a` and `b`. The matrix is
/// the inverse of IEC 61966-2-1's primaries for X and Z relative to white.
EQUALUX_HD LinearRgb colour_of(float y, float root, float a, float b) {
  const float x = lab_power(root + a);
  const float z = lab_power(root + b);
  return {3.0802145F * x - 1.5372080F * y - 0.5430065F * z,
          -0.9209686F * x + 1.8757561F * y + 0.0452126F * z,
          0.0529525F * x - 0.2040211F * y + 1.1510686F * z};
}

/// Distance of a colour outside the sRGB gamut; 0 or less inside.
EQUALUX_HD float excess_of(const LinearRgb& colour) {
  const float high = colour.red > colour.green ? colour.red : colour.green;
  const float low = colour.red < colour.green ? colour.red : colour.green;
  const float most = high > colour.blue ? high : colour.blue;
  const float least = low < colour.blue ? low : colour.blue;
  return most - 1.0F > -least ? most - 1.0F : -least;
}

/// Colour with `gain` times the luminance, at most 1, the same hue angle h_ab, and chroma scaled by
/// the root of luminance, or the most chroma that sRGB has there, to within 1/10000 of white.
EQUALUX_HD LinearRgb at_same_hue(const LinearRgb& from, float gain) {
  const float x = 0.4338769F * from.red + 0.3762230F * from.green + 0.1899001F * from.blue;
  const float y = 0.2126F * from.red + 0.7152F * from.green + 0.0722F * from.blue;
  const float z = 0.0177227F * from.red + 0.1094582F * from.green + 0.8728191F * from.blue;
  const float raised = y * gain;
  const float luminance = raised < 1.0F ? raised : 1.0F;
  const float root_before = lab_root(y);
  const float root = lab_root(luminance);
  const float grown = root / root_before;
  const float a = (lab_root(x) - root_before) * grown;
  const float b = (lab_root(z) - root_before) * grown;
  // Search for the fraction of the chroma at which the gamut ends, between gray, which is inside,
  // and all of it: false position and bisection in turn.
  float inside = 0;
  float outside = 1;
  float excess_inside = luminance - 1.0F > -luminance ? luminance - 1.0F : -luminance;
  float excess_outside = excess_of(colour_of(luminance, root, a, b));
  const bool whole = excess_outside <= kGamutSlack;
  const auto chord = [&] {
    return inside - (outside - inside) * excess_inside / (excess_outside - excess_inside + 1e-30F);
  };
  for (int i = 0; i < 8; ++i) {
    const float middle = i % 2 == 0 ? chord() : 0.5F * (inside + outside);
    const float excess = excess_of(colour_of(luminance, root, middle * a, middle * b));
    const bool within = excess <= kGamutSlack;
    inside = within ? middle : inside;
    outside = within ? outside : middle;
    excess_inside = within ? excess : excess_inside;
    excess_outside = within ? excess_outside : excess;
  }
  const float part = whole ? 1.0F : chord();
  return colour_of(luminance, root, part * a, part * b);
}

}  // namespace equalux
