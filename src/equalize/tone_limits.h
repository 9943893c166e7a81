#pragma once

#include <cstdint>

#include <equalux/params.h>

#include "src/equalize/tone_curve.h"
#include "src/format/pixel_math.h"

/// A tone curve under limits, level by level and in integers, written once for host and device.
/// docs/algorithm.md, "Strength and limits", says what each step is for.
///
/// A distribution is what lies at or below each level v of 0 .. M as a fraction of the frame, times
/// kWhole. A curve is W(v) = M T(v) 2^kCurveBits. Backends own the loops over the levels.
namespace equalux::tone {

inline constexpr std::uint32_t kWhole = 1U << 24;
inline constexpr int kCurveBits = 22;
/// Parameters as fractions: strength and gains.
inline constexpr std::uint32_t kOne = 1U << 16;
/// The clip limit's one.
inline constexpr std::uint32_t kClipOne = 1U << 8;
/// Steps towards the level at which what was clipped off is used up. What is left after them, less
/// than a hundredth, is given to all levels.
inline constexpr int kMostClipSteps = 4;

/// EqualizeParams' limits as integers.
struct Limits {
  std::uint32_t strength = kOne;
  std::uint32_t clip = 0;          ///< 0 = none
  std::uint32_t floor = 0;         ///< of kWhole
  std::uint32_t ceiling = kWhole;  ///< of kWhole
  std::uint32_t max_gain = 0;      ///< 0 = none
  std::uint32_t min_gain = 0;      ///< at most kOne
  /// What more strength has where the picture lacks contrast; kOne together at most.
  std::uint32_t flat_strength = 0;
  /// What more min_gain has where the picture has contrast; kOne together at most.
  std::uint32_t spread_min_gain = 0;
  /// How many of all levels a picture has at least between its ends, of kOne; all = nothing is
  /// stretched.
  std::uint32_t least_span = kOne;
  double per_part = 0.25;  ///< 2^kCurveBits / (ceiling - floor)
  Scaler scaler = Scaler::max_abs;

  friend bool operator==(const Limits&, const Limits&) = default;
};

/// The fraction of a frame that some pixels are; `per_pixel` is kWhole / the frame's pixels. Double
/// precision is exact enough for all pixels to be kWhole, and rounds alike everywhere.
EQUALUX_HD std::uint32_t fraction_of(std::uint32_t pixels, double per_pixel) {
  return static_cast<std::uint32_t>(pixels * per_pixel + 0.5);
}

/// A level's part of the pixels between floor and ceiling, from the distribution before it and at
/// it.
EQUALUX_HD std::uint32_t part_between(const Limits& limits, std::uint32_t before,
                                      std::uint32_t at) {
  const auto inside = [&limits](std::uint32_t x) {
    return x < limits.floor ? limits.floor : (x > limits.ceiling ? limits.ceiling : x);
  };
  return inside(at) - inside(before);
}

/// Whether the straight line between a picture's ends takes the identity's place.
EQUALUX_HD bool stretches(const Limits& limits) {
  return limits.least_span != kOne;
}

/// A level, as ends count.
inline constexpr int kEndBits = 16;

/// Where a picture begins and ends, in levels times 2^kEndBits.
struct Ends {
  std::uint32_t low;
  std::uint32_t high;

  friend bool operator==(const Ends&, const Ends&) = default;
};

/// The ends of a picture that has all levels up to `max_value`.
EQUALUX_HD Ends all_levels(std::uint32_t max_value) {
  return {0, max_value << kEndBits};
}

/// The ends of a distribution.
struct FoundEnds {
  Ends own;    ///< at floor and ceiling
  Ends inner;  ///< with kInner of the pixels more beyond either
};
inline constexpr std::uint32_t kInner = kWhole / 50;

/// Takes level v for an end where the distribution, which is `before` one level lower, gets past it
/// there; each end is so at one level or none.
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

/// Ends that are not too close for the line between them. Each moves by its share of the room that
/// is left beyond it, so that black stays black and white stays white.
EQUALUX_HD Ends widened(const Limits& limits, const Ends& ends, std::uint32_t max_value) {
  const std::uint32_t all = max_value << kEndBits;
  const auto least = static_cast<std::uint32_t>(std::uint64_t{all} * limits.least_span / kOne);
  const std::uint32_t span = ends.high - ends.low;
  if (span >= least) return ends;
  const std::uint64_t more = least - span;
  const std::uint32_t low = ends.low - static_cast<std::uint32_t>(ends.low * more / (all - span));
  return {low, low + least};
}

/// The levels from one end to the other, less one.
EQUALUX_HD std::uint32_t levels_between(const Ends& ends) {
  return (ends.high - ends.low + (1U << (kEndBits - 1))) >> kEndBits;
}

/// Whether the curve may rise at level v. Where it is stretched, that is at all levels between the
/// ends, full or empty.
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

/// The most that one of `levels` levels may hold. Where the curve is stretched the limit is one of
/// the identity, but for the straight line, which may be steeper.
EQUALUX_HD std::uint32_t clip_at(const Limits& limits, std::uint32_t levels,
                                 std::uint32_t max_value) {
  if (limits.clip == 0 || levels == 0) return kWhole;
  const std::uint32_t all = limits.ceiling - limits.floor;
  // A clip limit stays below 2^8 and what lies between at most 2^24: 32 bits do.
  const std::uint32_t clip = all / kClipOne * limits.clip;
  if (!stretches(limits)) return clip / levels;
  const std::uint32_t own = clip / (max_value + 1);
  const std::uint32_t even = all / levels;
  return own < even ? even : own;
}

/// A level's part with what every level is given, clipped.
EQUALUX_HD std::uint32_t clipped(std::uint32_t part, std::uint32_t given, std::uint32_t most) {
  return part + given < most ? part + given : most;
}

/// What more every level is given, where `sum` is what the clipped parts add up to and `open`
/// levels are not full. The sum is concave in what is given, so that these steps never give too
/// much. 0 ends them.
EQUALUX_HD std::uint32_t clip_step(const Limits& limits, std::uint32_t sum, std::uint32_t open) {
  const std::uint32_t all = limits.ceiling - limits.floor;
  return sum >= all || open == 0 ? 0 : (all - sum) / open;
}

/// What the scaler takes off the clipped sums.
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

/// W of a level without any change.
EQUALUX_HD std::uint32_t unchanged(std::uint32_t v) {
  return v << kCurveBits;
}

/// The clipped sums' part that becomes the curve, from 0 at the scaler's offset to M at the total.
struct Span {
  std::uint32_t offset;
  double scale;  ///< W of one more; 0 = the curve is the identity
};

EQUALUX_HD Span span_of(const Limits& limits, std::uint32_t offset, std::uint32_t total,
                        std::uint32_t max_value) {
  // All parts add up to what lies between floor and ceiling but for less than one a level.
  if (limits.scaler == Scaler::max_abs) return {0, limits.per_part * max_value};
  if (total == offset) return {offset, 0.0};
  return {offset, static_cast<double>(unchanged(max_value)) / (total - offset)};
}

/// W of level v on the straight line from one end, which becomes black, to the other, which becomes
/// white; without any change where the ends are all levels.
EQUALUX_HD std::uint32_t line_at(const Ends& ends, std::uint32_t v, std::uint32_t max_value) {
  const std::uint32_t place = v << kEndBits;
  if (place <= ends.low) return 0;
  if (place >= ends.high) return unchanged(max_value);
  const std::uint32_t span = ends.high - ends.low;
  return static_cast<std::uint32_t>(
      (std::uint64_t{unchanged(max_value)} * (place - ends.low) + span / 2) / span);
}

/// Whether strength or the least gain follow the contrast that the picture has.
EQUALUX_HD bool follows_contrast(const Limits& limits) {
  return limits.flat_strength != 0 || limits.spread_min_gain != 0;
}

/// Levels of a bin that contrast is told by; all numbers of levels are multiples of it.
inline constexpr std::uint32_t kEvenBin = 4;
/// The evenness of a picture that fills all bins alike.
inline constexpr std::uint32_t kMostEvenness = kWhole / 2;

/// A bin's part of the evenness: the pixels in it, up to half of what each holds where all are
/// alike. `last` is the last level, counted from the picture's low end.
EQUALUX_HD std::uint32_t even_part(std::uint32_t pixels, std::uint32_t last) {
  const std::uint32_t bins = (last + 1) / kEvenBin;
  const std::uint32_t most = kMostEvenness / (bins == 0 ? 1 : bins);
  return pixels < most ? pixels : most;
}
/// What the parts add up to: a bin more than `last` tells may have some.
EQUALUX_HD std::uint32_t evenness_in_all(std::uint32_t sum) {
  return sum < kMostEvenness ? sum : kMostEvenness;
}

/// The contrast that a picture has by its evenness, of kOne: none up to a half of the most, all
/// from seven tenths on.
EQUALUX_HD std::uint32_t contrast_of(std::uint32_t evenness) {
  constexpr std::uint32_t kNone = kMostEvenness / 2;
  constexpr std::uint32_t kAll = kMostEvenness / 10 * 7;
  if (evenness <= kNone) return 0;
  if (evenness >= kAll) return kOne;
  return static_cast<std::uint32_t>(std::uint64_t{evenness - kNone} * kOne / (kAll - kNone));
}

/// The strength in a picture with so much contrast, of kOne.
EQUALUX_HD std::uint32_t strength_at(const Limits& limits, std::uint32_t contrast) {
  const std::uint32_t more =
      static_cast<std::uint32_t>(std::uint64_t{limits.flat_strength} * (kOne - contrast) / kOne);
  return limits.strength + more < kOne ? limits.strength + more : kOne;
}

/// The least gain in a picture with so much contrast, of kOne.
EQUALUX_HD std::uint32_t min_gain_at(const Limits& limits, std::uint32_t contrast) {
  const std::uint32_t more =
      static_cast<std::uint32_t>(std::uint64_t{limits.spread_min_gain} * contrast / kOne);
  return limits.min_gain + more < kOne ? limits.min_gain + more : kOne;
}

/// W of a level from the clipped sum up to its bin and its line_at(). Strength is in it, bounds of
/// the gain are not.
EQUALUX_HD std::uint32_t curve_at(std::uint32_t strength, std::uint32_t line, std::uint32_t sum,
                                  const Span& span) {
  const std::uint32_t above = sum > span.offset ? sum - span.offset : 0;
  const std::uint32_t curve =
      span.scale == 0.0 ? line : static_cast<std::uint32_t>(above * span.scale + 0.5);
  return static_cast<std::uint32_t>(
      (std::uint64_t{curve} * strength + std::uint64_t{line} * (kOne - strength) + kOne / 2) /
      kOne);
}

/// Whether anything bounds the curve.
EQUALUX_HD bool bounds(const Limits& limits) {
  return limits.strength != kOne || limits.clip != 0 || limits.floor != 0 ||
         limits.ceiling != kWhole || limits.max_gain != 0 || limits.min_gain != 0 ||
         stretches(limits) || follows_contrast(limits);
}

/// W with its gain W / v limited, to `min_gain` at least.
EQUALUX_HD std::uint32_t limit_gain(const Limits& limits, std::uint32_t min_gain, std::uint32_t v,
                                    std::uint32_t curve) {
  const auto times = [v](std::uint32_t gain) {
    return (std::uint64_t{v} * gain << kCurveBits) / kOne;
  };
  if (limits.max_gain != 0 && curve > times(limits.max_gain))
    curve = static_cast<std::uint32_t>(times(limits.max_gain));
  // At most the identity, and so below the last level.
  const auto least = static_cast<std::uint32_t>(times(min_gain));
  return curve > least ? curve : least;
}

/// The exact gain W / v of a level; black has gain 1.
EQUALUX_HD GainFraction gain_fraction(std::uint32_t v, std::uint32_t curve) {
  if (v == 0) return {1, 1};
  return {curve, unchanged(v)};
}

}  // namespace equalux::tone
