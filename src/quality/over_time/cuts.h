#pragma once

#include "src/quality/tone.h"

/// Detection of cuts between shots.
namespace equalux::quality {

/// Returns the largest distance, 0 to 1, of the cumulative distributions of V after both are scaled
/// to the same median; about 0 for a change of light as a whole.
[[nodiscard]] double histogram_distance(const LevelHistogram& a, const LevelHistogram& b);

/// Returns by how many levels V changes at least, as the mean over the pixels, where one histogram
/// becomes the other: the area between their cumulative distributions.
[[nodiscard]] double histogram_shift(const LevelHistogram& a, const LevelHistogram& b);

/// Thresholds of a cut: histogram distance at least kCutDistance, histogram shift at least
/// kCutShift levels (frames that are nearly black have no median to scale to), share of still
/// blocks under kCutStillShare, and correlation of the block means under kCutLikeness
/// (find_stillness()).
inline constexpr double kCutDistance = 0.05;
inline constexpr double kCutShift = 2;
inline constexpr double kCutStillShare = 0.5;
inline constexpr double kCutLikeness = 0.6;

}  // namespace equalux::quality
