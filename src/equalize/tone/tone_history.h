#pragma once

#include <cstdint>

#include "src/equalize/tone/tone_limits.h"

/// Tone curve over time: the state kept from frame to frame, and its update. Integers, written once
/// for host and device; backends own the loops. docs/algorithm.md, "Over time", explains the idea.
///
/// Flicker of light scales every level by a common gain. Frames are therefore compared by
/// quantiles, which such a gain scales too. The history is kept at one exposure, the base; the
/// curve is made for the mean exposure and stretched to that of the frame.
///
/// The curve of a frame is made from the frames before it. Its own pixels only give its gain and
/// tell whether it is another scene; they enter the history with the next frame. A GPU can so make
/// the curve while it still writes the frame before.
namespace equalux::tone {

/// Quantiles that describe a frame: number j lies above (2 j + 1) / 64 of its pixels. As many as
/// lanes in a warp.
inline constexpr std::uint32_t kQuantiles = 32;
/// Unit of quantiles: 1/256 of a level.
inline constexpr std::uint32_t kLevel = 256;
/// Unit of gains.
inline constexpr std::uint32_t kUnit = 1U << 14;
/// Range of gains from frame to frame; a gain beyond is a cut to another scene.
inline constexpr std::uint32_t kLeastGain = kUnit * 5 / 8;
inline constexpr std::uint32_t kMostGain = kUnit * 8 / 5;
/// Range of gains that the search for the exposure tries.
inline constexpr std::uint32_t kLeastTried = kUnit / 4;
inline constexpr std::uint32_t kMostTried = kUnit * 4 - 1;
/// Distance of a match without any gain that fits.
inline constexpr std::uint32_t kNoMatch = 0xFFFFFFFFU;

/// Evenness of a history that does not follow it.
inline constexpr std::uint32_t kUnknownEvenness = 0xFFFFFFFFU;
/// Ends of a history that does not follow them.
inline constexpr Ends kUnknownEnds{0xFFFFFFFFU, 0xFFFFFFFFU};
/// Factors by which contrast and ends follow the frames more slowly than the curve, so that
/// something large that enters and leaves again does not move the rest.
inline constexpr std::uint32_t kEvennessSlowness = 8;
inline constexpr std::uint32_t kEndsSlowness = 24;

/// State kept from frame to frame.
struct alignas(16) History {
  std::uint32_t distribution[256] = {};     ///< mean at the base exposure, without the last frame
  std::uint32_t frame[256] = {};            ///< distribution of the last frame
  std::uint32_t previous[kQuantiles] = {};  ///< quantiles of the last frame
  std::uint32_t gain = kUnit;               ///< gain of the last frame over the base
  std::uint32_t rate = 0;           ///< weight of the last frame in the mean, in units of kOne
  std::uint32_t exposure = kUnit;   ///< mean gain over the base, without the last frame
  std::uint32_t frames = 0;         ///< frames since the last cut; 0 = no history yet
  std::uint32_t least_rate = kOne;  ///< least weight of the next frame
  std::uint32_t evenness = kUnknownEvenness;  ///< mean, if limits follow the contrast
  Ends ends = kUnknownEnds;  ///< mean at the mean exposure, if the curve is stretched

  friend bool operator==(const History&, const History&) = default;
};

/// Weight of a frame in the mean, in units of kOne.
struct Rates {
  std::uint32_t brighten = kOne;
  std::uint32_t darken = kOne;

  friend bool operator==(const Rates&, const Rates&) = default;
};

/// Rank of quantile j in a distribution, in units of 1 / kWhole.
EQUALUX_HD std::uint32_t rank_of(std::uint32_t j) {
  return (2 * j + 1) * (kWhole / (2 * kQuantiles));
}

/// First quantile above a distribution of `at`. Level v holds those from
/// first_quantile(distribution[v - 1]) to before first_quantile(distribution[v]).
EQUALUX_HD std::uint32_t first_quantile(std::uint32_t at) {
  return (at + kWhole / (2 * kQuantiles) - 1) / (kWhole / kQuantiles);
}

/// Number of gains that are tried: those of the quantiles 1, 3, 5 ...
inline constexpr std::uint32_t kTried = kQuantiles / 2;
EQUALUX_HD std::uint32_t tried(std::uint32_t i) {
  return 2 * i + 1;
}

/// Position of quantile j, which lies in level v, interpolated within that level.
EQUALUX_HD std::uint32_t quantile_at(std::uint32_t j, std::uint32_t v, std::uint32_t before,
                                     std::uint32_t at) {
  return v * kLevel + (rank_of(j) - before) * kLevel / (at - before);
}

/// Value times a gain.
EQUALUX_HD std::uint32_t scaled_by(std::uint32_t quantile, std::uint32_t gain) {
  return static_cast<std::uint32_t>((std::uint64_t{quantile} * gain) / kUnit);
}

/// Quantile times a gain that is tried; fits in 32 bits.
EQUALUX_HD std::uint32_t scaled_quantile(std::uint32_t quantile, std::uint32_t gain) {
  return quantile * gain / kUnit;
}

/// Gain from one quantile to another, 0 where it is outside the range that is tried.
EQUALUX_HD std::uint32_t gain_between(std::uint32_t from, std::uint32_t to) {
  if (from == 0) return 0;
  const std::uint32_t gain = (to * kUnit + from / 2) / from;
  return gain < kLeastTried || gain > kMostTried ? 0 : gain;
}

EQUALUX_HD std::uint32_t distance(std::uint32_t a, std::uint32_t b) {
  return a > b ? a - b : b - a;
}

/// Distance that noise alone makes: a fifth of a level in each quantile.
inline constexpr std::uint32_t kNoise = kQuantiles * kLevel / 5;

/// Share of the distance, in twentieths, that a gain must get below to be believed. From one frame
/// to the next hardly anything but light changes. Compared with the base, an object that stays
/// moves the quantiles too, so that only a gain that leaves hardly any distance is beyond doubt.
inline constexpr std::uint32_t kNoneOfLast = 13;
inline constexpr std::uint32_t kNoneOfBase = 8;

/// Value between two others, `part` / kOne of the way.
EQUALUX_HD std::uint32_t between(std::uint32_t from, std::uint32_t to, std::uint32_t part) {
  const std::int64_t way = static_cast<std::int64_t>(to) - static_cast<std::int64_t>(from);
  return static_cast<std::uint32_t>(from + ((way * part + kOne / 2) >> 16));
}

/// Evenness of the history with a frame of weight `rate`; `now` is that of the distribution with
/// the frame.
EQUALUX_HD std::uint32_t evenness_after(std::uint32_t before, std::uint32_t now,
                                        std::uint32_t rate) {
  return before == kUnknownEvenness ? now : between(before, now, rate / kEvennessSlowness);
}

/// Ends that the curve spans: those of the picture, widened, or all levels without `stretch`.
EQUALUX_HD Ends span_between(const Limits& limits, const Ends& own, std::uint32_t max_value) {
  return stretches(limits) ? widened(limits, own, max_value) : all_levels(max_value);
}

/// Ends of the history with a frame of weight `rate`. `brighter` is the mean exposure over the one
/// before, which moves the whole picture. The ends never lag so far that more than kInner of the
/// pixels lie beyond one.
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

/// Contribution of a quantile to the difference of two scenes, capped at half a mean level: a small
/// object then adds no more than its area.
EQUALUX_HD std::uint32_t capped(std::uint32_t difference, std::uint32_t sum) {
  const std::uint32_t most = sum / (2 * kQuantiles) + kLevel;
  return difference < most ? difference : most;
}

/// Returns true for a cut. `difference` is the sum of the capped differences with the gain undone,
/// `sum` the mean of both frames' sums of quantiles.
EQUALUX_HD bool is_cut(std::uint32_t gain, std::uint32_t difference, std::uint32_t sum) {
  return gain < kLeastGain || gain > kMostGain ||
         100 * difference > 18 * (sum + kQuantiles * 4 * kLevel);
}

/// Best gain from one frame's quantiles to another's.
struct Match {
  std::uint32_t gain = 0;             ///< 0 = no gain was in range
  std::uint32_t distance = kNoMatch;  ///< distance that is left with the gain
  std::uint32_t kept = 0;             ///< distance with the gain unchanged
};

/// Gain over the base that a match proposes for a frame.
struct Proposal {
  bool believed = false;
  std::uint32_t gain = kUnit;
};

/// Proposal of a match whose gain is `gain` over the base, where the last one was `last_gain`. It
/// counts for nothing where it leaves `none` twentieths of the distance, fully where it leaves
/// three twentieths less, and partly in between.
EQUALUX_HD Proposal propose(const Match& m, std::uint32_t last_gain, std::uint32_t gain,
                            std::uint32_t none) {
  const std::uint32_t most = none * m.kept;
  if (m.distance == kNoMatch || 20 * m.distance >= most) return {};
  const float part = static_cast<float>(most - 20 * m.distance) / static_cast<float>(3 * m.kept);
  const std::uint32_t now =
      between(last_gain, gain, part < 1.0F ? static_cast<std::uint32_t>(part * kOne) : kOne);
  return {true, now < kLeastTried ? kLeastTried : (now > kMostTried ? kMostTried : now)};
}

/// Proposal of a match with the history.
EQUALUX_HD Proposal propose_by_base(const Match& m, std::uint32_t last_gain) {
  return propose(m, last_gain, m.gain, kNoneOfBase);
}

/// Proposal of a match with the last frame. Errors add up from frame to frame, so that a distance
/// that may be noise gives no gain.
EQUALUX_HD Proposal propose_by_last(const Match& m, std::uint32_t last_gain) {
  if (m.kept < kNoise) return {};
  return propose(m, last_gain, scaled_by(last_gain, m.gain), kNoneOfLast);
}

/// Weight of a frame in a plain mean of all frames so far, the least weight that it gets.
EQUALUX_HD std::uint32_t least_rate_after(std::uint32_t frames) {
  return kOne / (frames + 1);
}

/// Frame counter, saturated where it no longer matters.
EQUALUX_HD std::uint32_t frames_after(std::uint32_t frames) {
  return frames < kOne ? frames + 1 : frames;
}

/// Ratio of two gains.
EQUALUX_HD std::uint32_t ratio_of(std::uint32_t gain, std::uint32_t over) {
  return (gain * kUnit + over / 2) / over;
}

/// Gain over the base of a frame that is no cut.
EQUALUX_HD std::uint32_t gain_of(const Proposal& by_base, const Proposal& by_last,
                                 std::uint32_t last_gain) {
  return by_base.believed ? by_base.gain : (by_last.believed ? by_last.gain : last_gain);
}

/// Mean exposure over a frame's gain, limited to an eighth either way. It is not limited where
/// light that was steady, within a sixteenth of the mean, has changed by more than an eighth since
/// the last frame: the curve for the new light is made with the next frame. A gain beyond is a cut.
EQUALUX_HD std::uint32_t inverse_flicker(std::uint32_t exposure, std::uint32_t gain,
                                         std::uint32_t last_gain) {
  constexpr std::uint32_t kLeast = kUnit * 8 / 9;
  constexpr std::uint32_t kMost = kUnit * 9 / 8;
  const std::uint32_t lag = ratio_of(exposure, last_gain);
  const std::uint32_t step = ratio_of(gain, last_gain);
  const bool steady = lag > kUnit * 16 / 17 && lag < kUnit * 17 / 16;
  const bool sudden = steady && (step < kLeast || step > kMost);
  const std::uint32_t least = sudden ? kLeastGain : kLeast;
  const std::uint32_t most = sudden ? kMostGain : kMost;
  const std::uint32_t inverse = ratio_of(exposure, gain);
  return inverse < least ? least : (inverse > most ? most : inverse);
}

/// Weight of a frame in the mean. Sums are of quantiles; the base's is at the base exposure.
EQUALUX_HD std::uint32_t rate_of(std::uint32_t now_sum, std::uint32_t base_sum,
                                 std::uint32_t exposure, std::uint32_t least_rate,
                                 const Rates& rates) {
  const std::uint32_t rate =
      now_sum > scaled_by(base_sum, exposure) ? rates.brighten : rates.darken;
  return rate < least_rate ? least_rate : rate;
}

/// Mean exposure after a frame. At most an eighth from the frame's gain, so that a fade, which is
/// more than flicker, is followed at once.
EQUALUX_HD std::uint32_t exposure_after(std::uint32_t exposure, std::uint32_t gain,
                                        std::uint32_t rate) {
  const std::uint32_t mean = between(exposure, gain, rate);
  const std::uint32_t least = gain * 8 / 9;
  const std::uint32_t most = gain * 9 / 8;
  return mean < least ? least : (mean > most ? most : mean);
}

/// Returns true where the base must move to the mean exposure.
EQUALUX_HD bool moves_base(std::uint32_t exposure) {
  return exposure < kUnit * 4 / 5 || exposure > kUnit * 5 / 4;
}

/// Distribution at `position`, in levels times kUnit, from 0 to M + 1 and beyond: 0 at position 0,
/// entry v of the table at v + 1, linear in between, all of the frame from the end on.
EQUALUX_HD std::uint32_t distribution_at(const std::uint32_t* table, std::uint32_t position,
                                         std::uint32_t max_value) {
  const std::uint32_t i = position / kUnit;
  if (i > max_value) return kWhole;
  const std::uint32_t low = i == 0 ? 0 : table[i - 1];
  const std::uint64_t rise = table[i] - low;
  return low + static_cast<std::uint32_t>(rise * (position % kUnit) / kUnit);
}

/// Distribution of a frame at level v of the base.
EQUALUX_HD std::uint32_t at_base(const std::uint32_t* frame, std::uint32_t v, std::uint32_t gain,
                                 std::uint32_t max_value) {
  return distribution_at(frame, (v + 1) * gain, max_value);
}

/// Distribution of the history at level v of the mean exposure.
EQUALUX_HD std::uint32_t at_exposure(const std::uint32_t* base, std::uint32_t v,
                                     std::uint32_t inverse_exposure, std::uint32_t max_value) {
  if (v == max_value) return kWhole;
  return distribution_at(base, (v + 1) * inverse_exposure, max_value);
}

/// Position, times kUnit, at which the curve of the mean exposure is read for level v of the frame:
/// v divided by the frame's gain over the mean. It returns to v towards white, where pixels are
/// saturated at any light.
EQUALUX_HD std::uint32_t unflickered(std::uint32_t v, std::uint32_t inverse,
                                     std::uint32_t max_value) {
  const std::uint32_t knee = max_value - 64;
  const std::uint32_t white = max_value * kUnit;
  if (v <= knee || knee * inverse >= white) return v * inverse < white ? v * inverse : white;
  return knee * inverse + (white - knee * inverse) * (v - knee) / 64;
}

/// Curve, interpolated linearly between its levels.
EQUALUX_HD std::uint32_t curve_between(const std::uint32_t* curve, std::uint32_t position,
                                       std::uint32_t max_value) {
  const std::uint32_t i = position / kUnit;
  if (i >= max_value) return curve[max_value];
  const std::uint64_t rise = curve[i + 1] - curve[i];
  return curve[i] + static_cast<std::uint32_t>(rise * (position % kUnit) / kUnit);
}

}  // namespace equalux::tone
