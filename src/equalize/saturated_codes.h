#pragma once

#include <cstdint>

#include "src/equalize/saturation.h"
#include "src/equalize/tone_limits.h"
#include "src/format/pixel_math.h"

/// What saturation::scaled() makes of codes of 8 bits, without its divisions; written once for host
/// and device, which uses it.
///
/// c' of all pixels of one v and one f lies on a straight line over c. A line in whole numbers of
/// 2^-24 that is never above the true one and little below it gives c' by a product and a sum, and
/// where it does not, shows it: what is then left to the next whole number is less than it may be
/// off.
namespace equalux::saturation {

inline constexpr int kLineBits = 24;
inline constexpr std::uint32_t kLineHalf = std::uint32_t{1} << (kLineBits - 1);
/// A line's limit where k never takes S above 1: no channel lies further below v.
inline constexpr std::uint32_t kNoLimit = 255;
/// The lowest bits of a base, which hold its limit.
inline constexpr std::uint32_t kLimitMask = 255;

/// c' + 1/2 of the codes c of pixels with one v, where f is k: base + c slope, modulo 2^32, the
/// base in 2^-kLineBits with the lowest bits for the limit, up to which v - m is such that f is k.
struct Line {
  std::uint32_t slope;
  std::uint32_t base;
};

/// The line of a value. `level` is its W, of tone::kCurveBits; `inverse` is 1 / v in double
/// precision. The slope is k times the gain, rounded down, modulo 2^32. Black has gain 1.
EQUALUX_HD Line line_of(std::uint32_t k, std::uint32_t level, std::uint32_t v, double inverse) {
  if (v == 0) return {k << (kLineBits - 8), kLineHalf | (k > kOne ? 0 : kNoLimit)};
  const std::uint32_t limit = k > kOne ? kOne * v / k : kNoLimit;
  const std::uint64_t product = std::uint64_t{k} * level;  // below 2^40
  // In double precision the quotient is 1 off at most, which what it leaves over tells.
  constexpr int kShift = tone::kCurveBits + 8 - kLineBits;
  const auto divisor = static_cast<std::int64_t>(std::uint64_t{v} << kShift);
  auto quotient =
      static_cast<std::int64_t>(static_cast<double>(product) * inverse * (1.0 / (1U << kShift)));
  const std::int64_t rest = static_cast<std::int64_t>(product) - quotient * divisor;
  quotient += (rest >= divisor ? 1 : 0) - (rest < 0 ? 1 : 0);
  // V (1 - k), rounded down.
  constexpr int kFiner = kLineBits - tone::kCurveBits;
  const std::uint64_t taken = (product + (kOne >> kFiner) - 1) / (kOne >> kFiner);
  const auto base =
      static_cast<std::uint32_t>((std::uint64_t{level} << kFiner) + kLineHalf - taken);
  return {static_cast<std::uint32_t>(quotient), (base & ~kLimitMask) | limit};
}

/// How far a line's value is below the true one at most, in 2^-kLineBits: by the slope's rounding
/// for each of 255 codes, and by the base's.
inline constexpr std::uint32_t kLineError = 255U + kLimitMask + 2;

/// 2^32 / n, rounded down, or a little less.
EQUALUX_HD std::uint32_t limited_inverse(std::uint32_t n) {
  return n < 2 ? 0xFFFFFFFFU : 0xFFFFFFFFU / n;
}
EQUALUX_HD std::uint32_t high_product(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>((std::uint64_t{a} * b) >> 32);
}
/// W / n in 2^-kLineBits, rounded down, or 1 less.
EQUALUX_HD std::uint32_t limited_slope(std::uint32_t level, std::uint32_t inverse) {
  return high_product(level << (kLineBits - tone::kCurveBits), inverse);
}
/// Whether f is v / (v - m), or 1, in place of k, where the least channel lies `below` under v.
EQUALUX_HD bool is_limited(const Line& of_value, std::uint32_t below) {
  return below > (of_value.base & kLimitMask);
}
/// The line of pixels where it is so, with m and limited_slope() of v - m.
EQUALUX_HD Line limited_line(std::uint32_t slope, std::uint32_t m) {
  return {slope, kLineHalf - m * slope};
}
/// The line of all others with that value.
EQUALUX_HD Line free_line(const Line& of_value) {
  return {of_value.slope, of_value.base & ~kLimitMask};
}
/// A line's value at c, of which kLineBits are a fraction.
EQUALUX_HD std::uint32_t line_value(const Line& line, std::uint32_t c) {
  return c * line.slope + line.base;
}

/// False where a line's value may have the wrong whole part; `shifted` is the value without that,
/// shifted to the top, or the largest of several.
EQUALUX_HD bool is_sure(std::uint32_t shifted) {
  // A value that f = v / (v - m) gives is off by 510 at most.
  static_assert(kLineError >= 512);
  return shifted < (((std::uint32_t{1} << kLineBits) - kLineError) << 8);
}
/// A line's value without its whole part, shifted to the top.
EQUALUX_HD std::uint32_t fraction_of_line(std::uint32_t value) {
  return value << (32 - kLineBits);
}
/// Its whole part: c'.
EQUALUX_HD std::uint32_t whole_of_line(std::uint32_t value) {
  return value >> kLineBits;
}

}  // namespace equalux::saturation
