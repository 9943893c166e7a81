#pragma once

#include "src/quality/tone.h"

/// Where one picture ends and another begins.
namespace equalux::quality {

/// How far two histograms of V are apart when both are scaled to the same median: the largest
/// distance of their cumulative sums, 0 to 1. Light that becomes brighter or darker as a whole
/// gives about 0.
[[nodiscard]] double histogram_distance(const LevelHistogram& a, const LevelHistogram& b);

/// A cut: the histograms differ in shape, by at least kCutDistance, and so do the pictures: fewer
/// than kCutStillShare of the blocks stand still, and they correlate less than kCutLikeness
/// (find_stillness()).
inline constexpr double kCutDistance = 0.05;
inline constexpr double kCutStillShare = 0.5;
inline constexpr double kCutLikeness = 0.6;

}  // namespace equalux::quality
