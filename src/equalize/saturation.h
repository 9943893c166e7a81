#pragma once

#include <cstdint>

#include "src/equalize/tone/tone_limits.h"
#include "src/format/pixel_math.h"

/// Saturation S of HSV times a factor k with hue and the new value kept, in integers, written once
/// for host and device. docs/algorithm.md, "Saturation", has the formulas.
///
/// A pixel has value v and least channel m. Where v becomes V = W / 2^bits, a channel c becomes V
/// (1 - f (v - c) / v), rounded half up. f = k, or v / (v - m) where k would take S above 1; it is
/// a fraction p / q.
namespace equalux::saturation {

/// k = 1. k is a whole multiple of 1 / kOne.
inline constexpr std::uint32_t kOne = 256;
/// Largest k of a level, and largest k that is set for all levels.
inline constexpr std::uint32_t kMost = 16 * kOne;
inline constexpr std::uint32_t kMostFactor = 4 * kOne;
/// Levels on either side of a level that its slope is measured over, of 256 or 220.
inline constexpr std::uint32_t kReach = 16;

/// Rule for k of each level, in units of 1 / kOne.
struct Rule {
  std::uint32_t factor = kOne;  ///< for all levels, up to kMostFactor
  /// Limit of the factor that follows the gain of contrast, kOne to kMost; kOne = it is not
  /// followed.
  std::uint32_t most = kOne;
};
/// Returns false where k = 1 at every level.
EQUALUX_HD bool changes(const Rule& rule) {
  return rule.factor != kOne || rule.most != kOne;
}

/// round(n / d), halves up, for n >= 0 and d > 0 with 2 n + d below 2^63 and a quotient below 2^32.
/// The quotient in double precision is at most 1 off; the remainder shows it.
EQUALUX_HD std::int32_t rounded_quotient(std::int64_t n, std::int64_t d) {
  const std::int64_t twice = 2 * n + d;
  const std::int64_t divisor = 2 * d;
  auto quotient =
      static_cast<std::int64_t>(static_cast<double>(twice) / static_cast<double>(divisor));
  const std::int64_t rest = twice - quotient * divisor;
  quotient += (rest >= divisor ? 1 : 0) - (rest < 0 ? 1 : 0);
  return static_cast<std::int32_t>(quotient);
}

/// Ends of a curve: the last level that becomes black, 0 if none does, and the first that becomes
/// as white as the largest level.
struct Ends {
  std::uint32_t black;
  std::uint32_t white;
};
/// Ends of a curve of which `blacks` levels have W = 0 and `whites` the W of the largest level.
EQUALUX_HD Ends ends_of(std::uint32_t blacks, std::uint32_t whites, std::uint32_t max_value) {
  return {blacks == 0 ? 0 : blacks - 1, max_value + 1 - whites};
}
/// Ends as far as they lie within kReach of a level: as good as ends_of() for contrast_at(). Two
/// binary searches, since on a GPU each step waits for memory.
EQUALUX_HD Ends ends_near(const std::uint32_t* levels, std::uint32_t v, std::uint32_t max_value) {
  Ends ends{v < kReach ? 0 : v - kReach, v + kReach > max_value ? max_value : v + kReach};
  for (std::uint32_t last = v; ends.black < last;) {
    const std::uint32_t middle = (ends.black + last) / 2;
    if (levels[middle + 1] == 0) {
      ends.black = middle + 1;
    } else {
      last = middle;
    }
  }
  for (std::uint32_t first = v; first < ends.white;) {
    const std::uint32_t middle = (first + ends.white) / 2;
    if (levels[middle] == levels[max_value]) {
      ends.white = middle;
    } else {
      first = middle + 1;
    }
  }
  return ends;
}

/// Contrast that the curve gives back at a level, in units of 1 / kOne, rounded half up, at most
/// kMost: its slope over the gain, v W'(v) / W(v). An even veil over a picture has divided S by
/// that much. Levels that become black or white together say nothing of the slope beside them and
/// are left out. `levels` holds W of each level, at most 255 * 2^22, and never falls.
EQUALUX_HD std::uint32_t contrast_at(const std::uint32_t* levels, const Ends& ends,
                                     std::uint32_t v) {
  const std::uint32_t black = ends.black < v ? ends.black : v;
  const std::uint32_t white = ends.white > v ? ends.white : v;
  const std::uint32_t low = v > black + kReach ? v - kReach : black;
  const std::uint32_t high = v + kReach < white ? v + kReach : white;
  if (levels[v] == 0 || levels[high] <= levels[low]) return 0;
  const std::uint64_t rise = std::uint64_t{kOne} * v * (levels[high] - levels[low]);
  const std::uint64_t run = std::uint64_t{high - low} * levels[v];
  if (rise >= kMost * run) return kMost;
  // The quotient in single precision is at most 1 off; the remainder shows it.
  const std::uint64_t twice = 2 * rise + run;
  const std::uint64_t divisor = 2 * run;
  auto quotient =
      static_cast<std::uint32_t>(static_cast<float>(twice) / static_cast<float>(divisor));
  const auto rest = static_cast<std::int64_t>(twice - quotient * divisor);
  quotient += (rest >= static_cast<std::int64_t>(divisor) ? 1 : 0) - (rest < 0 ? 1 : 0);
  return quotient;
}

/// k of a level, in units of 1 / kOne. Arguments as in contrast_at().
EQUALUX_HD std::uint32_t factor_at(const Rule& rule, const std::uint32_t* levels, const Ends& ends,
                                   std::uint32_t v) {
  if (rule.most == kOne) return rule.factor;
  const std::uint32_t contrast = contrast_at(levels, ends, v);
  const std::uint32_t gained =
      contrast < kOne ? kOne : (contrast > rule.most ? rule.most : contrast);
  const std::uint32_t k = (rule.factor * gained + kOne / 2) / kOne;
  return k < kMost ? k : kMost;
}

/// k of a level of a curve of levels 0 to `max_value`, at least 16, whose ends are not known.
EQUALUX_HD std::uint32_t factor_at(const Rule& rule, const std::uint32_t* levels, std::uint32_t v,
                                   std::uint32_t max_value) {
  return factor_at(rule, levels, ends_near(levels, v, max_value), v);
}

/// k by the output of a curve: for the level `result`, 0 to `max_value`, k of the level that
/// becomes it, interpolated between the two levels that become less and more.
EQUALUX_HD std::uint32_t factor_of_result(const Rule& rule, const std::uint32_t* levels,
                                          std::uint32_t result, std::uint32_t max_value) {
  if (rule.most == kOne) return rule.factor;
  const std::uint32_t wanted = result << tone::kCurveBits;
  // Binary search for the first level that becomes `wanted` or more; the last level if none does.
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

/// Factor f as a fraction p / q.
struct Factor {
  std::int32_t p;
  std::int32_t q;
};
inline constexpr Factor kUnchanged{kOne, kOne};

/// f of a pixel with value v and least channel m = v - `below`. Channels of YCbCr may lie below
/// black, which is S above 1: such a pixel gets no more saturated, and less only where k < 1.
EQUALUX_HD Factor factor_of(std::uint32_t k, std::int32_t v, std::int32_t below) {
  const auto wanted = static_cast<std::int32_t>(k);
  if (k <= kOne || std::int64_t{wanted} * below <= std::int64_t{kOne} * v)
    return {wanted, kUnchanged.q};
  if (below < v) return {v, below};
  return kUnchanged;
}

/// Distance of the least of R, G and B from luma, in luma codes, rounded to nearest; 0 or less. u
/// and w are Cb and Cr less the middle. Up to 12 bits `Wide` may be std::int32_t.
template <typename Wide = std::int64_t>
EQUALUX_HD std::int32_t least_above_luma(const YuvWeights& k, std::int32_t u, std::int32_t w) {
  const Wide red = Wide{k.red_w} * w;
  const Wide green = -Wide{k.green_u} * u - Wide{k.green_w} * w;
  const Wide blue = Wide{k.blue_u} * u;
  const Wide least = red < green ? (red < blue ? red : blue) : (green < blue ? green : blue);
  return static_cast<std::int32_t>((least + 32768) >> 16);
}

/// q v (1 - f (v - c) / v) of a channel c of a pixel with value v; at most q v, below 2^32.
EQUALUX_HD std::int64_t part(Factor f, std::int32_t v, std::int32_t c) {
  return std::int64_t{f.q} * v - std::int64_t{f.p} * (v - c);
}

/// New code of a channel c, or of luma above black, of a pixel with value v. `level` is W of v with
/// `bits` fractional bits, below 2^30; v is below 2^16. Luma above v, which was clamped, is scaled
/// as with k = 1.
EQUALUX_HD std::int32_t scaled(std::uint32_t level, int bits, Factor f, std::int32_t v,
                               std::int32_t c) {
  if (v == 0) return c;
  if (c >= v) f = kUnchanged;
  return rounded_quotient(std::int64_t{level} * part(f, v, c), (std::int64_t{f.q} * v) << bits);
}

/// scaled() without a division, for 8 bits: `low` is the result or one less, and a product decides.
/// v > 0.
EQUALUX_HD std::int32_t scaled_above(std::int32_t low, std::uint32_t level, int bits, Factor f,
                                     std::int32_t v, std::int32_t c) {
  if (c >= v) f = kUnchanged;
  const std::int64_t twice = 2 * std::int64_t{level} * part(f, v, c);
  const std::int64_t half = (2 * std::int64_t{low} + 1) * ((std::int64_t{f.q} * v) << bits);
  return low + (twice >= half ? 1 : 0);
}

/// Contribution of a luma sample to the sum of gains of its chroma sample: the share of its gain,
/// below 2^56 / v, times f, rounded down.
EQUALUX_HD std::int64_t scaled_share(std::int64_t share, Factor f) {
  const auto whole = static_cast<std::uint64_t>(share);
  const auto p = static_cast<std::uint64_t>(f.p);
  const auto q = static_cast<std::uint64_t>(f.q);
  // Split in two, as a share of 16 bits times kMost has more than 64 bits.
  if (q == kOne) return static_cast<std::int64_t>(whole / kOne * p + whole % kOne * p / kOne);
  return static_cast<std::int64_t>(whole * p / q);
}

}  // namespace equalux::saturation
