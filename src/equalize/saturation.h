#pragma once

#include <cstdint>

#include "src/equalize/tone_limits.h"
#include "src/format/pixel_math.h"

/// Saturation S of HSV times a factor k, with hue and the new value kept; in integers, written once
/// for host and device. Formulas: docs/algorithm.md, "Saturation".
///
/// A pixel of value v and least channel m, whose v becomes V = W / 2^bits, has its channels c
/// become V (1 - f (v - c) / v), halves up, where f is k, or v / (v - m) where k would take S
/// above 1. f is a fraction p / q.
namespace equalux::saturation {

/// k = 1. Factors are whole multiples of 1 / kOne.
inline constexpr std::uint32_t kOne = 256;
/// The largest k, and the largest that is set for all levels alike.
inline constexpr std::uint32_t kMost = 16 * kOne;
inline constexpr std::uint32_t kMostFactor = 4 * kOne;
/// Levels on either side of one over which a curve's slope is taken, of 256 or 220.
inline constexpr std::uint32_t kReach = 16;

/// What k of each level is made of, both in 1 / kOne.
struct Rule {
  std::uint32_t factor = kOne;  ///< of all levels, up to kMostFactor
  /// What a level's k is at most for the contrast that it gains, kOne to kMost; kOne = none.
  std::uint32_t most = kOne;
};
/// False where k = 1 at every level.
EQUALUX_HD bool changes(const Rule& rule) {
  return rule.factor != kOne || rule.most != kOne;
}

/// How much contrast a curve gives back at a level, in 1 / kOne, rounded half up: its slope as a
/// multiple of the level's gain, v W'(v) / W(v), which is what S has lost where something was laid
/// evenly over a picture. Levels that become black or white together say nothing of the slope
/// beside them. `levels` is W by v, 0 to `max_value`, which is 16 at least; of 255 * 2^22 at most.
EQUALUX_HD std::uint64_t contrast_at(const std::uint32_t* levels, std::uint32_t v,
                                     std::uint32_t max_value) {
  std::uint32_t low = v < kReach ? 0 : v - kReach;
  std::uint32_t high = v + kReach > max_value ? max_value : v + kReach;
  while (low < v && levels[low + 1] == 0)
    ++low;
  while (high > v && levels[high - 1] == levels[max_value])
    --high;
  if (levels[v] == 0 || levels[high] <= levels[low]) return 0;
  const std::uint64_t rise = std::uint64_t{kOne} * v * (levels[high] - levels[low]);
  const std::uint64_t run = std::uint64_t{high - low} * levels[v];
  return (2 * rise + run) / (2 * run);
}

/// k of a level, in 1 / kOne. Arguments as of contrast_at().
EQUALUX_HD std::uint32_t factor_at(const Rule& rule, const std::uint32_t* levels, std::uint32_t v,
                                   std::uint32_t max_value) {
  if (rule.most == kOne) return rule.factor;
  const std::uint64_t contrast = contrast_at(levels, v, max_value);
  const std::uint32_t gained =
      contrast < kOne ? kOne
                      : (contrast > rule.most ? rule.most : static_cast<std::uint32_t>(contrast));
  const std::uint32_t k = (rule.factor * gained + kOne / 2) / kOne;
  return k < kMost ? k : kMost;
}

/// The same by what a curve has made: k of the level `result`, 0 to `max_value`, is that of the
/// levels which become it, on a straight line between those that become less and more.
EQUALUX_HD std::uint32_t factor_of_result(const Rule& rule, const std::uint32_t* levels,
                                          std::uint32_t result, std::uint32_t max_value) {
  if (rule.most == kOne) return rule.factor;
  const std::uint32_t wanted = result << tone::kCurveBits;
  // The first level that becomes as much, or the last one.
  std::uint32_t first = 0;
  std::uint32_t last = max_value;
  while (first < last) {
    const std::uint32_t middle = (first + last) / 2;
    if (levels[middle] < wanted) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  const std::uint32_t above = factor_at(rule, levels, first, max_value);
  if (first == 0 || levels[first] <= wanted) return above;
  const std::uint32_t below = factor_at(rule, levels, first - 1, max_value);
  const std::uint64_t rise = levels[first] - levels[first - 1];
  const std::uint64_t beyond = wanted - levels[first - 1];
  return static_cast<std::uint32_t>((below * (rise - beyond) + above * beyond + rise / 2) / rise);
}

/// p / q.
struct Factor {
  std::int32_t p;
  std::int32_t q;
};
inline constexpr Factor kUnchanged{kOne, kOne};

/// f of a pixel with value v, `below` = v - m under which its least channel lies. Channels of YCbCr
/// may lie below black, S above 1: more saturated they do not get, nor less unless k < 1.
EQUALUX_HD Factor factor_of(std::uint32_t k, std::int32_t v, std::int32_t below) {
  const auto wanted = static_cast<std::int32_t>(k);
  constexpr auto kWhole = static_cast<std::int32_t>(kOne);
  if (k <= kOne || std::int64_t{wanted} * below <= std::int64_t{kWhole} * v)
    return {wanted, kWhole};
  if (below < v) return {v, below};
  return kUnchanged;
}

/// How far the least of R, G and B lies below luma, in its codes, rounded to nearest; 0 or less.
/// u and w are Cb and Cr less the middle. Up to 12 bits `Wide` may be std::int32_t.
template <typename Wide = std::int64_t>
EQUALUX_HD std::int32_t least_above_luma(const YuvWeights& k, std::int32_t u, std::int32_t w) {
  const Wide red = Wide{k.red_w} * w;
  const Wide green = -Wide{k.green_u} * u - Wide{k.green_w} * w;
  const Wide blue = Wide{k.blue_u} * u;
  const Wide least = red < green ? (red < blue ? red : blue) : (green < blue ? green : blue);
  return static_cast<std::int32_t>((least + 32768) >> 16);
}

/// round(n / d), halves up, for n >= 0 and d > 0 of which 2 n + d is below 2^63, and the quotient
/// below 2^32: in double precision it is at most 1 off, which what it leaves over tells.
EQUALUX_HD std::int32_t rounded_quotient(std::int64_t n, std::int64_t d) {
  const std::int64_t twice = 2 * n + d;
  const std::int64_t divisor = 2 * d;
  auto quotient =
      static_cast<std::int64_t>(static_cast<double>(twice) / static_cast<double>(divisor));
  const std::int64_t rest = twice - quotient * divisor;
  quotient += (rest >= divisor ? 1 : 0) - (rest < 0 ? 1 : 0);
  return static_cast<std::int32_t>(quotient);
}

/// q v (1 - f (v - c) / v) of a channel c of a pixel with value v: at most q v, below 2^32.
EQUALUX_HD std::int64_t part(Factor f, std::int32_t v, std::int32_t c) {
  return std::int64_t{f.q} * v - std::int64_t{f.p} * (v - c);
}

/// A channel c, or luma above black, of a pixel with value v > 0; `level` is W of v, of `bits`
/// fractional bits: below 2^30, as v is below 2^16. Luma over v, which was clamped there, is scaled
/// as it is without saturation.
EQUALUX_HD std::int32_t scaled(std::uint32_t level, int bits, Factor f, std::int32_t v,
                               std::int32_t c) {
  if (v == 0) return c;
  if (c >= v) f = kUnchanged;
  return rounded_quotient(std::int64_t{level} * part(f, v, c), (std::int64_t{f.q} * v) << bits);
}

/// scaled() where what it rounds is known to within less than half: `low` is the whole number that
/// it lies above, but for that error. v > 0. In products alone, for 8 bits a sample.
EQUALUX_HD std::int32_t scaled_above(std::int32_t low, std::uint32_t level, int bits, Factor f,
                                     std::int32_t v, std::int32_t c) {
  if (c >= v) f = kUnchanged;
  const std::int64_t twice = 2 * std::int64_t{level} * part(f, v, c);
  const std::int64_t half = (2 * std::int64_t{low} + 1) * ((std::int64_t{f.q} * v) << bits);
  return low + (twice >= half ? 1 : 0);
}

/// What a luma sample adds to the sum of gains of the chroma sample that covers it: its gain's
/// share, which is below 2^56 / v, times f, rounded down.
EQUALUX_HD std::int64_t scaled_share(std::int64_t share, Factor f) {
  const auto whole = static_cast<std::uint64_t>(share);
  const auto p = static_cast<std::uint64_t>(f.p);
  const auto q = static_cast<std::uint64_t>(f.q);
  // In two parts, as with 16 bits a share times kMost has more than 64 bits.
  if (q == kOne) return static_cast<std::int64_t>(whole / kOne * p + whole % kOne * p / kOne);
  return static_cast<std::int64_t>(whole * p / q);
}

}  // namespace equalux::saturation
