#pragma once

#include <cstdint>

/// Whether a gain in single precision does what the exact one does; float_gain() of tone_curve.h
/// without its search.
namespace equalux::cuda {

/// How far a gain moves off a half that it would round wrong at, times gain + 1.
inline constexpr double kNudge = 0x1p-22;
/// One half of a product modulo 1, in units of 2^-32.
inline constexpr std::uint32_t kHalf = 0x80000000U;

/// 1 / x to a unit or so of the last place; infinite for 0.
__device__ __forceinline__ float reciprocal(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

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
__device__ __forceinline__ int code_near_half(float gain, std::uint32_t fraction,
                                              std::uint32_t error, int most) {
  constexpr float kFloor = 8388608.0f;    // added with rounding down and taken off again
  constexpr std::uint32_t kCutOff = 512;  // more than the rest of `fraction` makes of a product
  const float last = 2.0f * static_cast<float>(most);
  float rest = __fadd_rn(gain, -__fadd_rn(__fadd_rd(gain, kFloor), -kFloor));
  float q = 1.0f;
  float before = 0.0f;
  int near = 0;
  while (true) {
    const float x = reciprocal(rest);
    const float whole = __fadd_rn(__fadd_rd(x, kFloor), -kFloor);
    const float next = __fmaf_rn(whole, q, before);
    if (!(next <= last)) return near;
    rest = __fadd_rn(x, -whole);
    before = q;
    q = next;
    const std::uint32_t bits = __float_as_uint(__fadd_rn(q, kFloor));
    const std::uint32_t code = (bits & 0x3FFU) / 2;
    const std::uint32_t tolerance = error * code + kCutOff;
    const std::uint32_t product = fraction * code - kHalf + tolerance;
    if (bits % 2 == 0 && product <= 2 * tolerance) near = static_cast<int>(code);
  }
}

}  // namespace equalux::cuda
