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

/// Whether the curve may rise at a level.
EQUALUX_HD bool may_rise(const Limits& limits, std::uint32_t before, std::uint32_t at) {
  return (limits.floor == 0 || at > limits.floor) &&
         (limits.ceiling == kWhole || before < limits.ceiling);
}

/// The most that one of `levels` levels may hold.
EQUALUX_HD std::uint32_t clip_at(const Limits& limits, std::uint32_t levels) {
  if (limits.clip == 0 || levels == 0) return kWhole;
  // A clip limit stays below 2^8 and what lies between at most 2^24: 32 bits do.
  return (limits.ceiling - limits.floor) / kClipOne * limits.clip / levels;
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

/// Whether strength or the least gain follow the contrast that the picture has.
EQUALUX_HD bool follows_contrast(const Limits& limits) {
  return limits.flat_strength != 0 || limits.spread_min_gain != 0;
}

/// Levels of a bin that contrast is told by; all numbers of levels are multiples of it.
inline constexpr std::uint32_t kEvenBin = 4;
/// The evenness of a picture that fills all bins alike.
inline constexpr std::uint32_t kMostEvenness = kWhole / 2;

/// A bin's part of the evenness: the pixels in it, up to half of what each holds where all are
/// alike.
EQUALUX_HD std::uint32_t even_part(std::uint32_t pixels, std::uint32_t max_value) {
  const std::uint32_t most = kMostEvenness / ((max_value + 1) / kEvenBin);
  return pixels < most ? pixels : most;
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

/// W of level v from the clipped sum up to its bin. Strength is in it, bounds of the gain are not.
EQUALUX_HD std::uint32_t curve_at(std::uint32_t strength, std::uint32_t v, std::uint32_t sum,
                                  const Span& span) {
  const std::uint32_t above = sum > span.offset ? sum - span.offset : 0;
  const std::uint32_t curve =
      span.scale == 0.0 ? unchanged(v) : static_cast<std::uint32_t>(above * span.scale + 0.5);
  return static_cast<std::uint32_t>((std::uint64_t{curve} * strength +
                                     std::uint64_t{unchanged(v)} * (kOne - strength) + kOne / 2) /
                                    kOne);
}

/// Whether anything bounds the curve.
EQUALUX_HD bool bounds(const Limits& limits) {
  return limits.strength != kOne || limits.clip != 0 || limits.floor != 0 ||
         limits.ceiling != kWhole || limits.max_gain != 0 || limits.min_gain != 0 ||
         follows_contrast(limits);
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
