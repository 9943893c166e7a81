#pragma once

#include <cmath>
#include <cstdint>

#include "src/format/pixel_math.h"

/// Whether a gain in single precision does what the exact one does, without the search that
/// float_gain() of tone_curve.h is; written once for host and device, which uses it.
namespace equalux {

/// One half of a product modulo 1, in units of 2^-32.
inline constexpr std::uint32_t kHalf = 0x80000000U;

namespace near_half {

/// Added with rounding down, and taken off again: floor() below 2^23.
inline constexpr float kFloor = 8388608.0f;

EQUALUX_HD float whole_part(float x) {
#if defined(__CUDA_ARCH__)
  return __fadd_rn(__fadd_rd(x, kFloor), -kFloor);
#else
  return std::floor(x);
#endif
}

/// 1 / x to a unit or so of the last place; infinite for 0.
EQUALUX_HD float reciprocal(float x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return 1.0f / x;
#endif
}

/// A whole number up to 1,023.
EQUALUX_HD std::uint32_t small_integer(float x) {
#if defined(__CUDA_ARCH__)
  return __float_as_uint(__fadd_rn(x, kFloor)) & 0x3FFU;
#else
  return static_cast<std::uint32_t>(x);
#endif
}

}  // namespace near_half

/// A code whose product with the gain of a value comes so near to a half that the gain's rounding
/// to single precision might put it on the other side; 0 where there is none, as for most values.
///
/// The half of code c stands at the gain (2k + 1) / (2c), in lowest terms p / q with an even q of
/// at most 2 `most`. Where that lies between the gain and `gain`, it is nearer to `gain` than 1 /
/// (2 q^2), because 255 / v 2^-24 < 1 / (8 v^2); so it is a convergent of its continued fraction
/// (Legendre 1798), of which five terms or so lead to the largest q. Reciprocals off by a few units
/// of the last place make that the fraction of a neighbour within 2^-20, which changes nothing.
///
/// `fraction` is that of the exact gain, and `error` how far `gain` is off it, in units of 2^-32.
EQUALUX_HD int code_near_half(float gain, std::uint32_t fraction, std::uint32_t error, int most) {
  constexpr std::uint32_t kCutOff = 512;  // more than the rest of `fraction` makes of a product
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
