#pragma once

#include <cstdint>

#include "src/equalize/saturation.h"
#include "src/equalize/tone/tone_limits.h"
#include "src/format/pixel_math.h"

/// saturation::scaled() of 8-bit codes without divisions, written once for host and device; only
/// the device uses it.
///
/// c' of all pixels with the same v and f lies on a straight line over c. The line here, in fixed
/// point of 2^-24, never lies above the true one and at most kLineError below it, so that one
/// product and one sum give c'. A fractional part closer than that to the next whole number shows
/// that c' may be wrong.
namespace equalux::saturation {

inline constexpr int kLineBits = 24;
inline constexpr std::uint32_t kLineHalf = std::uint32_t{1} << (kLineBits - 1);
/// Limit of a line where k never takes S above 1: no channel lies farther below v.
inline constexpr std::uint32_t kNoLimit = 255;
/// Low bits of a base, which hold its limit.
inline constexpr std::uint32_t kLimitMask = 255;

/// Line c' + 1/2 = base + c slope, modulo 2^32, in units of 2^-kLineBits, for codes c of pixels
/// with one v where f is k. The low bits of the base hold the limit, the largest v - m for which f
/// is k.
struct Line {
  std::uint32_t slope;
  std::uint32_t base;
};

/// Line of a level. `level` is its W, of tone::kCurveBits; `inverse` is 1 / v in double precision.
/// The slope is k times the gain, rounded down, modulo 2^32. Black has gain 1.
EQUALUX_HD Line line_of(std::uint32_t k, std::uint32_t level, std::uint32_t v, double inverse) {
  if (v == 0) return {k << (kLineBits - 8), kLineHalf | (k > kOne ? 0 : kNoLimit)};
  const std::uint32_t limit = k > kOne ? kOne * v / k : kNoLimit;
  const std::uint64_t product = std::uint64_t{k} * level;  // below 2^40
  // The quotient in double precision is at most 1 off; the remainder shows it.
  constexpr int kShift = tone::kCurveBits + 8 - kLineBits;
  const auto divisor = static_cast<std::int64_t>(std::uint64_t{v} << kShift);
  auto quotient =
      static_cast<std::int64_t>(static_cast<double>(product) * inverse * (1.0 / (1U << kShift)));
  const std::int64_t rest = static_cast<std::int64_t>(product) - quotient * divisor;
  quotient += (rest >= divisor ? 1 : 0) - (rest < 0 ? 1 : 0);
  // Product k W rounded up to the line's units, so that the base is rounded down.
  constexpr int kFiner = kLineBits - tone::kCurveBits;
  const std::uint64_t taken = (product + (kOne >> kFiner) - 1) / (kOne >> kFiner);
  const auto base =
      static_cast<std::uint32_t>((std::uint64_t{level} << kFiner) + kLineHalf - taken);
  return {static_cast<std::uint32_t>(quotient), (base & ~kLimitMask) | limit};
}

/// Largest distance of a line below the true one, in units of 2^-kLineBits: rounding of the slope,
/// times up to 255 codes, and of the base.
inline constexpr std::uint32_t kLineError = 255U + kLimitMask + 2;

/// 2^32 / n, rounded down, or a little less.
EQUALUX_HD std::uint32_t limited_inverse(std::uint32_t n) {
  return n < 2 ? 0xFFFFFFFFU : 0xFFFFFFFFU / n;
}
EQUALUX_HD std::uint32_t high_product(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>((std::uint64_t{a} * b) >> 32);
}
/// W / n in units of 2^-kLineBits, rounded down, or 1 less.
EQUALUX_HD std::uint32_t limited_slope(std::uint32_t level, std::uint32_t inverse) {
  return high_product(level << (kLineBits - tone::kCurveBits), inverse);
}
/// Returns true where f is v / (v - m), or 1, in place of k, for a least channel `below` under v.
EQUALUX_HD bool is_limited(const Line& of_value, std::uint32_t below) {
  return below > (of_value.base & kLimitMask);
}
/// Line of pixels with is_limited(), from m and limited_slope() of v - m.
EQUALUX_HD Line limited_line(std::uint32_t slope, std::uint32_t m) {
  return {slope, kLineHalf - m * slope};
}
/// Line of pixels without is_limited(): the base without its limit.
EQUALUX_HD Line free_line(const Line& of_value) {
  return {of_value.slope, of_value.base & ~kLimitMask};
}
/// Value of a line at c, with kLineBits fractional bits.
EQUALUX_HD std::uint32_t line_value(const Line& line, std::uint32_t c) {
  return c * line.slope + line.base;
}

/// Returns false where the whole part of a value may be wrong. `shifted` is fraction_of_line(), or
/// the largest of several.
EQUALUX_HD bool is_sure(std::uint32_t shifted) {
  // Values for f = v / (v - m) are off by 510 at most.
  static_assert(kLineError >= 512);
  return shifted < (((std::uint32_t{1} << kLineBits) - kLineError) << 8);
}
/// Fractional part of a line's value, shifted to the top.
EQUALUX_HD std::uint32_t fraction_of_line(std::uint32_t value) {
  return value << (32 - kLineBits);
}
/// Whole part of a line's value: c'.
EQUALUX_HD std::uint32_t whole_of_line(std::uint32_t value) {
  return value >> kLineBits;
}

}  // namespace equalux::saturation
