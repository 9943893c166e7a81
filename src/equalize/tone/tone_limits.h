#pragma once

#include <cstdint>

#include <equalux/params.h>

#include "src/equalize/tone/tone_curve.h"
#include "src/format/pixel_math.h"

/// Limits of a tone curve, level by level and in integers, written once for host and device.
/// docs/algorithm.md, "Strength and limits", explains each step.
///
/// A distribution gives, for each level v of 0 .. M, the fraction of the pixels at or below v,
/// times kWhole. A curve is W(v) = M T(v) 2^kCurveBits. Backends own the loops over the levels.
namespace equalux::tone {

inline constexpr std::uint32_t kWhole = 1U << 24;
inline constexpr int kCurveBits = 22;
/// Unit of strength and of gains.
inline constexpr std::uint32_t kOne = 1U << 16;
/// Unit of the clip limit.
inline constexpr std::uint32_t kClipOne = 1U << 8;
/// Iterations that redistribute what the clip limit has cut off. The rest after them, less than a
/// hundredth, goes to all levels.
inline constexpr int kMostClipSteps = 4;

/// Limits of EqualizeParams as integers.
struct Limits {
  std::uint32_t strength = kOne;
  std::uint32_t clip = 0;          ///< 0 = none
  std::uint32_t floor = 0;         ///< fraction of pixels, in units of 1 / kWhole
  std::uint32_t ceiling = kWhole;  ///< fraction of pixels, in units of 1 / kWhole
  std::uint32_t max_gain = 0;      ///< 0 = none
  std::uint32_t min_gain = 0;      ///< at most kOne
  /// Added to strength where the picture lacks contrast; both together are at most kOne.
  std::uint32_t flat_strength = 0;
  /// Added to min_gain where the picture has contrast; both together are at most kOne.
  std::uint32_t spread_min_gain = 0;
  /// Least distance of a picture's ends for `stretch`, as a fraction of all levels in units of
  /// kOne; kOne = no stretch.
  std::uint32_t least_span = kOne;
  double per_part = 0.25;  ///< 2^kCurveBits / (ceiling - floor)
  Scaler scaler = Scaler::max_abs;

  friend bool operator==(const Limits&, const Limits&) = default;
};

/// Fraction of the frame's pixels, in units of 1 / kWhole; `per_pixel` is kWhole / all pixels.
/// Double precision gives kWhole for all pixels, and rounds alike on every backend.
EQUALUX_HD std::uint32_t fraction_of(std::uint32_t pixels, double per_pixel) {
  return static_cast<std::uint32_t>(pixels * per_pixel + 0.5);
}

/// Share of a level in the pixels between floor and ceiling; `before` and `at` are the distribution
/// one level lower and at the level.
EQUALUX_HD std::uint32_t part_between(const Limits& limits, std::uint32_t before,
                                      std::uint32_t at) {
  const auto inside = [&limits](std::uint32_t x) {
    return x < limits.floor ? limits.floor : (x > limits.ceiling ? limits.ceiling : x);
  };
  return inside(at) - inside(before);
}

/// Returns true where the straight line between a picture's ends replaces the identity.
EQUALUX_HD bool stretches(const Limits& limits) {
  return limits.least_span != kOne;
}

/// Fractional bits of a level in Ends.
inline constexpr int kEndBits = 16;

/// Lowest and highest level of a picture, times 2^kEndBits.
struct Ends {
  std::uint32_t low;
  std::uint32_t high;

  friend bool operator==(const Ends&, const Ends&) = default;
};

/// Ends of a picture that uses all levels up to `max_value`.
EQUALUX_HD Ends all_levels(std::uint32_t max_value) {
  return {0, max_value << kEndBits};
}

/// Ends that a distribution has.
struct FoundEnds {
  Ends own;    ///< levels at which it passes floor and reaches ceiling
  Ends inner;  ///< ends with kInner more of the pixels beyond each of them
};
inline constexpr std::uint32_t kInner = kWhole / 50;

/// Records level v as an end where the distribution, `before` one level lower and `at` here, passes
/// floor or reaches ceiling. Each end is recorded once at most, as the distribution never falls.
EQUALUX_HD void find_ends(const Limits& limits, std::uint32_t v, std::uint32_t before,
                          std::uint32_t at, FoundEnds& found) {
  const auto passes = [before, at](std::uint32_t share) { return before <= share && at > share; };
  const auto reaches = [before, at](std::uint32_t share) { return before < share && at >= share; };
  const std::uint32_t place = v << kEndBits;
  if (passes(limits.floor)) found.own.low = place;
  if (reaches(limits.ceiling)) found.own.high = place;
  if (passes(limits.floor + kInner)) found.inner.low = place;
  if (reaches(limits.ceiling < kInner ? 0 : limits.ceiling - kInner)) found.inner.high = place;
}

/// Ends moved apart to the least distance that `stretch` allows. Each moves in proportion to the
/// levels beyond it, so that neither passes black or white.
EQUALUX_HD Ends widened(const Limits& limits, const Ends& ends, std::uint32_t max_value) {
  const std::uint32_t all = max_value << kEndBits;
  const auto least = static_cast<std::uint32_t>(std::uint64_t{all} * limits.least_span / kOne);
  const std::uint32_t span = ends.high - ends.low;
  if (span >= least) return ends;
  const std::uint64_t more = least - span;
  const std::uint32_t low = ends.low - static_cast<std::uint32_t>(ends.low * more / (all - span));
  return {low, low + least};
}

/// Number of levels between two ends, less one.
EQUALUX_HD std::uint32_t levels_between(const Ends& ends) {
  return (ends.high - ends.low + (1U << (kEndBits - 1))) >> kEndBits;
}

/// Returns true where the curve may rise at level v: everywhere between the ends if it is
/// stretched, also at empty levels; else between floor and ceiling.
EQUALUX_HD bool may_rise(const Limits& limits, const Ends& ends, std::uint32_t v,
                         std::uint32_t before, std::uint32_t at) {
  if (stretches(limits)) {
    const std::uint32_t place = v << kEndBits;
    return (place + (1U << kEndBits) > ends.low && place <= ends.high) ||
           part_between(limits, before, at) != 0;
  }
  return (limits.floor == 0 || at > limits.floor) &&
         (limits.ceiling == kWhole || before < limits.ceiling);
}

/// Clip limit: the largest share that one of `levels` levels may keep. With `stretch` it is
/// relative to the identity, but never below the slope of the straight line.
EQUALUX_HD std::uint32_t clip_at(const Limits& limits, std::uint32_t levels,
                                 std::uint32_t max_value) {
  if (limits.clip == 0 || levels == 0) return kWhole;
  const std::uint32_t all = limits.ceiling - limits.floor;
  // 32 bits are enough: a clip limit is below 2^8 times kClipOne, `all` at most 2^24.
  const std::uint32_t clip = all / kClipOne * limits.clip;
  if (!stretches(limits)) return clip / levels;
  const std::uint32_t own = clip / (max_value + 1);
  const std::uint32_t even = all / levels;
  return own < even ? even : own;
}

/// Share of a level with its part of the redistributed excess, clipped.
EQUALUX_HD std::uint32_t clipped(std::uint32_t part, std::uint32_t given, std::uint32_t most) {
  return part + given < most ? part + given : most;
}

/// Next increment of what every level is given of the excess. `sum` is the sum of the clipped
/// shares and `open` the number of levels below the limit. The sum is concave in what is given, so
/// that these Newton steps never give too much. 0 ends them.
EQUALUX_HD std::uint32_t clip_step(const Limits& limits, std::uint32_t sum, std::uint32_t open) {
  const std::uint32_t all = limits.ceiling - limits.floor;
  return sum >= all || open == 0 ? 0 : (all - sum) / open;
}

/// Offset that the scaler subtracts from the clipped sums.
EQUALUX_HD std::uint32_t sum_offset(Scaler scaler, std::uint32_t first_bin,
                                    std::uint32_t first_nonempty) {
  switch (scaler) {
    case Scaler::max_abs:
      return 0;
    case Scaler::min_max:
      return first_bin;
    case Scaler::min_max_nonzero:
      return first_nonempty;
  }
  return 0;
}

/// W of the identity.
EQUALUX_HD std::uint32_t unchanged(std::uint32_t v) {
  return v << kCurveBits;
}

/// Mapping of the clipped sums to the curve, from 0 at the scaler's offset to M at the total.
struct Span {
  std::uint32_t offset;
  double scale;  ///< W of one unit; 0 = the curve is the identity
};

EQUALUX_HD Span span_of(const Limits& limits, std::uint32_t offset, std::uint32_t total,
                        std::uint32_t max_value) {
  // All shares add up to what lies between floor and ceiling, less rounding of under one unit a
  // level.
  if (limits.scaler == Scaler::max_abs) return {0, limits.per_part * max_value};
  if (total == offset) return {offset, 0.0};
  return {offset, static_cast<double>(unchanged(max_value)) / (total - offset)};
}

/// W of level v on the straight line from the low end, which becomes black, to the high end, which
/// becomes white; the identity where the ends are all levels.
EQUALUX_HD std::uint32_t line_at(const Ends& ends, std::uint32_t v, std::uint32_t max_value) {
  const std::uint32_t place = v << kEndBits;
  if (place <= ends.low) return 0;
  if (place >= ends.high) return unchanged(max_value);
  const std::uint32_t span = ends.high - ends.low;
  return static_cast<std::uint32_t>(
      (std::uint64_t{unchanged(max_value)} * (place - ends.low) + span / 2) / span);
}

/// Returns true where strength or the least gain depend on the picture's contrast.
EQUALUX_HD bool follows_contrast(const Limits& limits) {
  return limits.flat_strength != 0 || limits.spread_min_gain != 0;
}

/// Levels in a bin of the contrast measure; every number of levels is a multiple of it.
inline constexpr std::uint32_t kEvenBin = 4;
/// Evenness of a picture whose bins are all equally full.
inline constexpr std::uint32_t kMostEvenness = kWhole / 2;

/// Contribution of a bin to the evenness: its pixels, at most half of its share in an even
/// histogram. `last` is the last level, counted from the picture's low end.
EQUALUX_HD std::uint32_t even_part(std::uint32_t pixels, std::uint32_t last) {
  const std::uint32_t bins = (last + 1) / kEvenBin;
  const std::uint32_t most = kMostEvenness / (bins == 0 ? 1 : bins);
  return pixels < most ? pixels : most;
}
/// Evenness from the sum of all contributions, saturated: levels may reach into one bin more than
/// `last` gives.
EQUALUX_HD std::uint32_t evenness_in_all(std::uint32_t sum) {
  return sum < kMostEvenness ? sum : kMostEvenness;
}

/// Contrast of a picture from its evenness, in units of kOne: 0 up to half of kMostEvenness, kOne
/// from seven tenths of it on.
EQUALUX_HD std::uint32_t contrast_of(std::uint32_t evenness) {
  constexpr std::uint32_t kNone = kMostEvenness / 2;
  constexpr std::uint32_t kAll = kMostEvenness / 10 * 7;
  if (evenness <= kNone) return 0;
  if (evenness >= kAll) return kOne;
  return static_cast<std::uint32_t>(std::uint64_t{evenness - kNone} * kOne / (kAll - kNone));
}

/// Strength for a contrast, both in units of kOne.
EQUALUX_HD std::uint32_t strength_at(const Limits& limits, std::uint32_t contrast) {
  const std::uint32_t more =
      static_cast<std::uint32_t>(std::uint64_t{limits.flat_strength} * (kOne - contrast) / kOne);
  return limits.strength + more < kOne ? limits.strength + more : kOne;
}

/// Least gain for a contrast, both in units of kOne.
EQUALUX_HD std::uint32_t min_gain_at(const Limits& limits, std::uint32_t contrast) {
  const std::uint32_t more =
      static_cast<std::uint32_t>(std::uint64_t{limits.spread_min_gain} * contrast / kOne);
  return limits.min_gain + more < kOne ? limits.min_gain + more : kOne;
}

/// W of a level from the clipped sum up to its bin and from line_at(). Includes strength, not the
/// limits of the gain.
EQUALUX_HD std::uint32_t curve_at(std::uint32_t strength, std::uint32_t line, std::uint32_t sum,
                                  const Span& span) {
  const std::uint32_t above = sum > span.offset ? sum - span.offset : 0;
  const std::uint32_t curve =
      span.scale == 0.0 ? line : static_cast<std::uint32_t>(above * span.scale + 0.5);
  return static_cast<std::uint32_t>(
      (std::uint64_t{curve} * strength + std::uint64_t{line} * (kOne - strength) + kOne / 2) /
      kOne);
}

/// Returns true where any limit applies.
EQUALUX_HD bool bounds(const Limits& limits) {
  return limits.strength != kOne || limits.clip != 0 || limits.floor != 0 ||
         limits.ceiling != kWhole || limits.max_gain != 0 || limits.min_gain != 0 ||
         stretches(limits) || follows_contrast(limits);
}

/// W with its gain W / v clamped to `min_gain` .. max_gain.
EQUALUX_HD std::uint32_t limit_gain(const Limits& limits, std::uint32_t min_gain, std::uint32_t v,
                                    std::uint32_t curve) {
  const auto times = [v](std::uint32_t gain) {
    return (std::uint64_t{v} * gain << kCurveBits) / kOne;
  };
  if (limits.max_gain != 0 && curve > times(limits.max_gain))
    curve = static_cast<std::uint32_t>(times(limits.max_gain));
  // The least gain is at most 1, so that W stays below the last level.
  const auto least = static_cast<std::uint32_t>(times(min_gain));
  return curve > least ? curve : least;
}

/// Exact gain W / v of a level; black has gain 1.
EQUALUX_HD GainFraction gain_fraction(std::uint32_t v, std::uint32_t curve) {
  if (v == 0) return {1, 1};
  return {curve, unchanged(v)};
}

}  // namespace equalux::tone
