#pragma once

#include <cmath>
#include <cstdint>

#include "src/format/pixel_math.h"

/// Test of whether a gain in single precision rounds as the exact one, without the search in
/// float_gain() of tone_curve.h. Written once for host and device; only the device uses it.
namespace equalux {

/// Half, as the fraction of a product in units of 2^-32.
inline constexpr std::uint32_t kHalf = 0x80000000U;

namespace near_half {

/// Added in rounding-down mode and subtracted again: floor() below 2^23.
inline constexpr float kFloor = 8388608.0f;

EQUALUX_HD float whole_part(float x) {
#if defined(__CUDA_ARCH__)
  return __fadd_rn(__fadd_rd(x, kFloor), -kFloor);
#else
  return std::floor(x);
#endif
}

/// 1 / x, off by about one unit in the last place; infinite for 0.
EQUALUX_HD float reciprocal(float x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return 1.0f / x;
#endif
}

/// Conversion of a whole number up to 1,023.
EQUALUX_HD std::uint32_t small_integer(float x) {
#if defined(__CUDA_ARCH__)
  return __float_as_uint(__fadd_rn(x, kFloor)) & 0x3FFU;
#else
  return static_cast<std::uint32_t>(x);
#endif
}

}  // namespace near_half

/// Code whose product with a gain comes so close to a half that rounding the gain to single
/// precision may have moved it to the other side; 0 where there is none, as for most levels.
///
/// Code c is on a half where the gain is (2k + 1) / (2c), in lowest terms p / q with q even and at
/// most 2 `most`. If that fraction lies between the exact gain and `gain`, it is closer to `gain`
/// than 1 / (2 q^2), because 255 / v 2^-24 < 1 / (8 v^2). It is then a convergent of the continued
/// fraction of `gain` (Legendre 1798), which reaches the largest q within about five terms.
/// Approximate reciprocals only stand for a neighbour within 2^-20, which changes nothing.
///
/// `fraction` is the fractional part of the exact gain, and `error` its distance from `gain`, both
/// in units of 2^-32.
EQUALUX_HD int code_near_half(float gain, std::uint32_t fraction, std::uint32_t error, int most) {
  // More than the cut-off bits of `fraction` add to a product.
  constexpr std::uint32_t kCutOff = 512;
  const float last = 2.0f * static_cast<float>(most);
  float rest = gain - near_half::whole_part(gain);
  float q = 1.0f;
  float before = 0.0f;
  int near = 0;
  while (true) {
    const float x = near_half::reciprocal(rest);
    const float whole = near_half::whole_part(x);
    const float next = std::fma(whole, q, before);
    if (!(next <= last)) return near;
    rest = x - whole;
    before = q;
    q = next;
    const std::uint32_t denominator = near_half::small_integer(q);
    const std::uint32_t code = denominator / 2;
    const std::uint32_t tolerance = error * code + kCutOff;
    const std::uint32_t product = fraction * code - kHalf + tolerance;
    if (denominator % 2 == 0 && product <= 2 * tolerance) near = static_cast<int>(code);
  }
}

}  // namespace equalux
