#pragma once

#include <cstdint>

#include "src/equalize/tone_limits.h"

/// A tone curve over time: what is kept of the frames seen so far, and how a frame changes it.
/// Integers, written once for host and device; backends own the loops. docs/algorithm.md, "Over
/// time", tells the idea.
///
/// Light that flickers scales every level by a common gain. So frames are compared by their
/// quantiles, as a frame's quantiles are then the other's times the gain; the history is kept for
/// one exposure, the base; and the curve is made for the mean exposure and stretched to the
/// frame's.
///
/// A frame's curve is that of the frames before it: its own pixels tell its gain, and whether it
/// shows another scene, and go into the history when the next frame comes. So a GPU makes the curve
/// while it still writes the frame before.
namespace equalux::tone {

/// Quantiles that a frame is described by: number j lies above (2 j + 1) / 64 of its pixels. As
/// many as a warp has lanes.
inline constexpr std::uint32_t kQuantiles = 32;
/// A level, as quantiles count: steps of 1/256.
inline constexpr std::uint32_t kLevel = 256;
/// A gain of 1.
inline constexpr std::uint32_t kUnit = 1U << 14;
/// Gains from frame to frame beyond these are another scene.
inline constexpr std::uint32_t kLeastGain = kUnit * 5 / 8;
inline constexpr std::uint32_t kMostGain = kUnit * 8 / 5;
/// The range of gains that the search for the exposure tries.
inline constexpr std::uint32_t kLeastTried = kUnit / 4;
inline constexpr std::uint32_t kMostTried = kUnit * 4 - 1;
/// Stands for a match where no gain fits.
inline constexpr std::uint32_t kNoMatch = 0xFFFFFFFFU;

/// Stands for an evenness that nobody has asked for.
inline constexpr std::uint32_t kUnknownEvenness = 0xFFFFFFFFU;
/// Stands for ends that nobody has asked for.
inline constexpr Ends kUnknownEnds{0xFFFFFFFFU, 0xFFFFFFFFU};
/// How much slower than the curve its contrast follows the frames, and how much slower its ends:
/// something large that enters and leaves again is not to move all of the rest.
inline constexpr std::uint32_t kEvennessSlowness = 8;
inline constexpr std::uint32_t kEndsSlowness = 24;

/// What is kept from frame to frame.
struct alignas(16) History {
  std::uint32_t distribution[256] = {};       ///< of frames at the base exposure, but for the last
  std::uint32_t frame[256] = {};              ///< of the last frame
  std::uint32_t previous[kQuantiles] = {};    ///< its quantiles
  std::uint32_t gain = kUnit;                 ///< its gain over the base
  std::uint32_t rate = 0;                     ///< its part of the history, of kOne
  std::uint32_t exposure = kUnit;             ///< mean gain over the base, but for the last frame's
  std::uint32_t frames = 0;                   ///< since the last cut; 0 = nothing is kept yet
  std::uint32_t least_rate = kOne;            ///< of the next frame
  std::uint32_t evenness = kUnknownEvenness;  ///< mean of the history, where something follows it
  Ends ends = kUnknownEnds;                   ///< the same, at the mean exposure

  friend bool operator==(const History&, const History&) = default;
};

/// How much a frame counts, as fractions of kOne.
struct Rates {
  std::uint32_t brighten = kOne;
  std::uint32_t darken = kOne;

  friend bool operator==(const Rates&, const Rates&) = default;
};

/// Quantile j of a distribution, as a fraction of kWhole.
EQUALUX_HD std::uint32_t rank_of(std::uint32_t j) {
  return (2 * j + 1) * (kWhole / (2 * kQuantiles));
}

/// The first quantile that is not below a level with `at` of the frame at or below it: level v has
/// those from first_quantile(distribution[v - 1]) to before first_quantile(distribution[v]).
EQUALUX_HD std::uint32_t first_quantile(std::uint32_t at) {
  return (at + kWhole / (2 * kQuantiles) - 1) / (kWhole / kQuantiles);
}

/// The quantiles' gains that are tried: those of quantiles 1, 3, 5 ...
inline constexpr std::uint32_t kTried = kQuantiles / 2;
EQUALUX_HD std::uint32_t tried(std::uint32_t i) {
  return 2 * i + 1;
}

/// The place of quantile j within level v.
EQUALUX_HD std::uint32_t quantile_at(std::uint32_t j, std::uint32_t v, std::uint32_t before,
                                     std::uint32_t at) {
  return v * kLevel + (rank_of(j) - before) * kLevel / (at - before);
}

/// A number at another exposure.
EQUALUX_HD std::uint32_t scaled_by(std::uint32_t quantile, std::uint32_t gain) {
  return static_cast<std::uint32_t>((std::uint64_t{quantile} * gain) / kUnit);
}

/// A quantile times a gain that is tried, in 32 bits.
EQUALUX_HD std::uint32_t scaled_quantile(std::uint32_t quantile, std::uint32_t gain) {
  return quantile * gain / kUnit;
}

/// The gain that takes one quantile to another, 0 where it is none that is tried.
EQUALUX_HD std::uint32_t gain_between(std::uint32_t from, std::uint32_t to) {
  if (from == 0) return 0;
  const std::uint32_t gain = (to * kUnit + from / 2) / from;
  return gain < kLeastTried || gain > kMostTried ? 0 : gain;
}

EQUALUX_HD std::uint32_t distance(std::uint32_t a, std::uint32_t b) {
  return a > b ? a - b : b - a;
}

/// Distances that noise alone makes: a fifth of a level in each quantile.
inline constexpr std::uint32_t kNoise = kQuantiles * kLevel / 5;

/// What a gain must leave of the distance to be no gain at all, in twentieths. From one frame to
/// the next little else changes. The base is another matter: an object that stays there moves the
/// quantiles too, and only where hardly anything is left the gain is beyond doubt.
inline constexpr std::uint32_t kNoneOfLast = 13;
inline constexpr std::uint32_t kNoneOfBase = 8;

/// A number on the way from one to another, `part` of kOne.
EQUALUX_HD std::uint32_t between(std::uint32_t from, std::uint32_t to, std::uint32_t part) {
  const std::int64_t way = static_cast<std::int64_t>(to) - static_cast<std::int64_t>(from);
  return static_cast<std::uint32_t>(from + ((way * part + kOne / 2) >> 16));
}

/// The history's evenness with a frame in it that has a part of it, of kOne; `now` is that of the
/// distribution with the frame.
EQUALUX_HD std::uint32_t evenness_after(std::uint32_t before, std::uint32_t now,
                                        std::uint32_t rate) {
  return before == kUnknownEvenness ? now : between(before, now, rate / kEvennessSlowness);
}

/// What the curve goes between: own ends, not too close, or all levels where nothing is stretched.
EQUALUX_HD Ends span_between(const Limits& limits, const Ends& own, std::uint32_t max_value) {
  return stretches(limits) ? widened(limits, own, max_value) : all_levels(max_value);
}

/// The history's ends with a frame in it, likewise; `brighter` is the mean exposure over the one
/// before, by which all of the picture has moved. They never lag so far that more than a few pixels
/// lie beyond them.
EQUALUX_HD Ends ends_after(const Ends& before, const FoundEnds& now, std::uint32_t brighter,
                           std::uint32_t rate, std::uint32_t max_value) {
  if (before.high == kUnknownEnds.high) return now.own;
  const std::uint32_t most = max_value << kEndBits;
  const auto moved = [brighter, most](std::uint32_t end) {
    const std::uint64_t there = std::uint64_t{end} * brighter / kUnit;
    return there < most ? static_cast<std::uint32_t>(there) : most;
  };
  const std::uint32_t low = between(moved(before.low), now.own.low, rate / kEndsSlowness);
  const std::uint32_t high = between(moved(before.high), now.own.high, rate / kEndsSlowness);
  return {low < now.inner.low ? low : now.inner.low, high > now.inner.high ? high : now.inner.high};
}

/// A quantile's part in the difference of two scenes, no more than half a mean level: what a small
/// object adds to the difference is bounded by its area.
EQUALUX_HD std::uint32_t capped(std::uint32_t difference, std::uint32_t sum) {
  const std::uint32_t most = sum / (2 * kQuantiles) + kLevel;
  return difference < most ? difference : most;
}

/// Whether the frame shows another scene than the last: `difference` is the sum of the quantiles'
/// capped differences, the gain undone, and `sum` the mean of both frames' sums of quantiles.
EQUALUX_HD bool is_cut(std::uint32_t gain, std::uint32_t difference, std::uint32_t sum) {
  return gain < kLeastGain || gain > kMostGain ||
         100 * difference > 18 * (sum + kQuantiles * 4 * kLevel);
}

/// The best of the gains that take one frame's quantiles to another's.
struct Match {
  std::uint32_t gain = 0;             ///< 0 = none is tried
  std::uint32_t distance = kNoMatch;  ///< what it leaves
  std::uint32_t kept = 0;             ///< the distance with the gain as it was
};

/// A frame's gain over the base as a match tells it.
struct Proposal {
  bool believed = false;
  std::uint32_t gain = kUnit;
};

/// The proposal of a match whose gain makes `gain` over the base where it was `last_gain`. It is
/// not believed where it leaves `none` twentieths of the distance, and wholly where it leaves three
/// less.
EQUALUX_HD Proposal propose(const Match& m, std::uint32_t last_gain, std::uint32_t gain,
                            std::uint32_t none) {
  const std::uint32_t most = none * m.kept;
  if (m.distance == kNoMatch || 20 * m.distance >= most) return {};
  const float part = static_cast<float>(most - 20 * m.distance) / static_cast<float>(3 * m.kept);
  const std::uint32_t now =
      between(last_gain, gain, part < 1.0F ? static_cast<std::uint32_t>(part * kOne) : kOne);
  return {true, now < kLeastTried ? kLeastTried : (now > kMostTried ? kMostTried : now)};
}

/// The proposal of a match against the history.
EQUALUX_HD Proposal propose_by_base(const Match& m, std::uint32_t last_gain) {
  return propose(m, last_gain, m.gain, kNoneOfBase);
}

/// The proposal of a match against the last frame. From frame to frame errors add up, so that what
/// may be noise is no gain.
EQUALUX_HD Proposal propose_by_last(const Match& m, std::uint32_t last_gain) {
  if (m.kept < kNoise) return {};
  return propose(m, last_gain, scaled_by(last_gain, m.gain), kNoneOfLast);
}

/// The part of the frame after so many: at first as in a mean of all.
EQUALUX_HD std::uint32_t least_rate_after(std::uint32_t frames) {
  return kOne / (frames + 1);
}

/// The number of frames stops where it no longer matters.
EQUALUX_HD std::uint32_t frames_after(std::uint32_t frames) {
  return frames < kOne ? frames + 1 : frames;
}

/// One gain over another.
EQUALUX_HD std::uint32_t ratio_of(std::uint32_t gain, std::uint32_t over) {
  return (gain * kUnit + over / 2) / over;
}

/// The gain over the base of a frame that is no cut.
EQUALUX_HD std::uint32_t gain_of(const Proposal& by_base, const Proposal& by_last,
                                 std::uint32_t last_gain) {
  return by_base.believed ? by_base.gain : (by_last.believed ? by_last.gain : last_gain);
}

/// The mean exposure over a frame's gain.
EQUALUX_HD std::uint32_t inverse_flicker(std::uint32_t exposure, std::uint32_t gain) {
  constexpr std::uint32_t kLeast = kUnit * 8 / 9;
  constexpr std::uint32_t kMost = kUnit * 9 / 8;
  const std::uint32_t inverse = ratio_of(exposure, gain);
  return inverse < kLeast ? kLeast : (inverse > kMost ? kMost : inverse);
}

/// A frame's part of the history. Sums are of quantiles, the base's at the base exposure.
EQUALUX_HD std::uint32_t rate_of(std::uint32_t now_sum, std::uint32_t base_sum,
                                 std::uint32_t exposure, std::uint32_t least_rate,
                                 const Rates& rates) {
  const std::uint32_t rate =
      now_sum > scaled_by(base_sum, exposure) ? rates.brighten : rates.darken;
  return rate < least_rate ? least_rate : rate;
}

/// The mean exposure after a frame: at most an eighth away from the frame's gain, so that what is
/// more than flicker, a fade, is followed at once.
EQUALUX_HD std::uint32_t exposure_after(std::uint32_t exposure, std::uint32_t gain,
                                        std::uint32_t rate) {
  const std::uint32_t mean = between(exposure, gain, rate);
  const std::uint32_t least = gain * 8 / 9;
  const std::uint32_t most = gain * 9 / 8;
  return mean < least ? least : (mean > most ? most : mean);
}

/// Whether the base moves to the mean exposure.
EQUALUX_HD bool moves_base(std::uint32_t exposure) {
  return exposure < kUnit * 4 / 5 || exposure > kUnit * 5 / 4;
}

/// A distribution at `position`, in levels times kUnit from 0 to M + 1 and beyond: 0 at 0, the
/// table's entry v at v + 1, straight lines between, all of the frame from the end on.
EQUALUX_HD std::uint32_t distribution_at(const std::uint32_t* table, std::uint32_t position,
                                         std::uint32_t max_value) {
  const std::uint32_t i = position / kUnit;
  if (i > max_value) return kWhole;
  const std::uint32_t low = i == 0 ? 0 : table[i - 1];
  const std::uint64_t rise = table[i] - low;
  return low + static_cast<std::uint32_t>(rise * (position % kUnit) / kUnit);
}

/// A frame's distribution read at the base's level v.
EQUALUX_HD std::uint32_t at_base(const std::uint32_t* frame, std::uint32_t v, std::uint32_t gain,
                                 std::uint32_t max_value) {
  return distribution_at(frame, (v + 1) * gain, max_value);
}

/// The history's distribution, read at level v of the mean exposure.
EQUALUX_HD std::uint32_t at_exposure(const std::uint32_t* base, std::uint32_t v,
                                     std::uint32_t inverse_exposure, std::uint32_t max_value) {
  if (v == max_value) return kWhole;
  return distribution_at(base, (v + 1) * inverse_exposure, max_value);
}

/// The place at which a level of the frame is read off the curve of the mean exposure, times kUnit:
/// v divided by the frame's gain over the mean. Towards white it comes back to v, where pixels are
/// saturated whatever the light does.
EQUALUX_HD std::uint32_t unflickered(std::uint32_t v, std::uint32_t inverse,
                                     std::uint32_t max_value) {
  const std::uint32_t knee = max_value - 64;
  if (v <= knee) return v * inverse;
  const std::uint32_t rest = max_value * kUnit - knee * inverse;
  return knee * inverse + rest * (v - knee) / 64;
}

/// A curve between its levels.
EQUALUX_HD std::uint32_t curve_between(const std::uint32_t* curve, std::uint32_t position,
                                       std::uint32_t max_value) {
  const std::uint32_t i = position / kUnit;
  if (i >= max_value) return curve[max_value];
  const std::uint64_t rise = curve[i + 1] - curve[i];
  return curve[i] + static_cast<std::uint32_t>(rise * (position % kUnit) / kUnit);
}

}  // namespace equalux::tone
