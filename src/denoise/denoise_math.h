#pragma once

#include <cstdint>

#include "src/format/pixel_math.h"

/// Arithmetic of noise reduction on single samples, in whole numbers, so that every backend gives
/// the same bytes. docs/algorithm.md, "Denoising", has formulas and reasons.
///
/// Samples and estimates have kSampleBits bits at every depth of frames: differences then fit in 16
/// bits, and an 8-bit level is 64 units.
namespace equalux::denoise {

inline constexpr int kSampleBits = 14;
inline constexpr int kSampleMost = (1 << kSampleBits) - 1;
/// One 8-bit level in units of samples.
inline constexpr int kLevel = 1 << (kSampleBits - 8);
/// Unit of fractions that times() multiplies.
inline constexpr int kOne = 1 << 15;

EQUALUX_HD constexpr int clamp(int x, int least, int most) {
  return x < least ? least : (x > most ? most : x);
}

/// a · b / 2^15, rounded half up: one instruction in vectors of 16 bits (pmulhrsw).
EQUALUX_HD constexpr int times(int a, int b) {
  return (a * b + kOne / 2) >> 15;
}

/// Segments of a curve of noise over the level of samples, piecewise linear over equal parts of the
/// range.
inline constexpr int kSegments = 16;
inline constexpr int kKnotShift = kSampleBits - 4;

/// Piecewise linear curve over levels. Knots are its values at 0, 2^kKnotShift, ..., each 0 to 2^15
/// - 1.
struct LevelCurve {
  std::int16_t knot[kSegments];
  std::int16_t rise[kSegments];  ///< difference to the next knot

  /// Value at an estimate, in 256 steps a segment.
  EQUALUX_HD int at(int estimate) const {
    const int segment = estimate >> kKnotShift;
    const int part = (estimate >> (kKnotShift - 8)) & 255;
    return knot[segment] + times(rise[segment], part << 7);
  }
};

/// Largest standard deviation of noise, also for the option `noise`.
inline constexpr int kMostSigma = 64 * kLevel;

/// Standard deviation of a plane's noise over level, in units of samples, and 2^16 over it, at most
/// 2^15 - 1, by which differences become deviations.
struct NoiseCurves {
  LevelCurve sigma;
  LevelCurve inverse;
};

/// Number of weights, 0 to 31. A weight is the number of frames that an estimate averages.
inline constexpr int kWeights = 32;

/// Functions of a weight n, in units of 1 / 256.
struct WeightTables {
  std::uint8_t keep[kWeights];  ///< share of the old estimate in the new one: n / (n + 1)
  /// 1 / sqrt(1 + 1 / n), 0 for n = 0: a difference has the noise of both.
  std::uint8_t certainty[kWeights];
  std::uint8_t left[kWeights];  ///< 1 / sqrt(n): share of noise left in the estimate
};
[[nodiscard]] const WeightTables& weight_tables();

/// Entry of WeightTables as a fraction for times().
EQUALUX_HD constexpr int fraction(std::uint8_t entry) {
  return entry << 7;
}

/// Unit of deviations: 1/16 of the standard deviation of noise.
inline constexpr int kSigma = 16;
inline constexpr int kMostDeviation = 127;
/// Largest difference of a sample from its estimate that counts: products of it fit in 32 bits.
inline constexpr int kMostDifference = 4095;

/// Distance of a sample from its estimate, in units of the noise that both have together.
EQUALUX_HD int deviation(int sample, int estimate, int inverse, int certainty) {
  const int difference = clamp(sample - estimate, -kMostDifference, kMostDifference);
  return clamp(times(8 * difference, times(inverse, certainty)), -kMostDeviation, kMostDeviation);
}

/// What a change at a sample begins with: the sum of the 25 deviations around it, the sum of their
/// magnitudes, and its own deviation, whose excess counts kOwnFactor times.
inline constexpr int kLeastSum = 25 * kSigma / 2;
inline constexpr int kLeastMagnitudes = 25 * kSigma;
inline constexpr int kLeastOwn = 5 * kSigma / 2;
inline constexpr int kOwnFactor = 8;

/// Change at a sample, 0 (none) to 255: by mean and mean magnitude of the 25 deviations around it,
/// and by its own. For noise alone these are 0 +- 0.2, 0.8 +- 0.12 and 0 +- 1 standard deviations;
/// change begins at 0.5, 1 and 2.5, and is 255 at 1.14, 1.64 and 4.5.
EQUALUX_HD int change(int sum, int magnitudes, int own) {
  const int by_mean = (sum < 0 ? -sum : sum) - kLeastSum;
  const int by_energy = magnitudes - kLeastMagnitudes;
  const int by_own = kOwnFactor * ((own < 0 ? -own : own) - kLeastOwn);
  int most = by_mean > by_energy ? by_mean : by_energy;
  most = by_own > most ? by_own : most;
  return clamp(most, 0, 255);
}

/// Change of a sample of chroma that its codec repeats: it takes nothing from a weight, which does
/// not grow.
inline constexpr int kRepeated = 1;
/// Sum of the magnitudes of the 25 deviations around a sample of chroma below which the sample is
/// repeated: half of what noise gives, which is 3.3 standard deviations less.
inline constexpr int kLeastNews = 10 * kSigma;

/// change(), and kRepeated where nothing is new in chroma.
EQUALUX_HD int change_or_repeated(int sum, int magnitudes, int own, bool chroma) {
  const int found = change(sum, magnitudes, own);
  return chroma && found == 0 && magnitudes < kLeastNews ? kRepeated : found;
}

/// Weight of an estimate after a change at its sample.
EQUALUX_HD int weight_after(int weight, int change) {
  return (weight * (256 - change) + 128) >> 8;
}

/// Weight with the new sample, for the weight after the change: one more, up to `most`, or the same
/// where the sample is repeated, at least 1.
EQUALUX_HD int next_weight(int weight, bool repeated, int most) {
  const int next = repeated && weight != 0 ? weight : weight + 1;
  return next < most ? next : most;
}

/// New estimate, with the old one weighted by `keep`.
EQUALUX_HD int estimate_of(int sample, int estimate, int keep) {
  return sample - times(sample - estimate, keep);
}

/// Neighbours that help a sample: all within two steps along rows and columns.
inline constexpr int kNeighbours = 12;
EQUALUX_HD constexpr bool is_neighbour(int x, int y) {
  const int steps = (x < 0 ? -x : x) + (y < 0 ? -y : y);
  return steps == 1 || steps == 2;
}
inline constexpr int kNeighbourShare = kOne / (kNeighbours + 1);
/// Largest reach, for which the pulls of kNeighbours fit in 16 bits.
inline constexpr int kMostReach = 3200;
/// `spatial` of reach() for the option at 1: 7 times the noise that is left.
inline constexpr int kMostSpatial = 7 << 12;
/// Largest noise of an estimate that reach() distinguishes.
inline constexpr int kMostNoiseLeft = 4095;

/// Difference from which a neighbour shows something else: `spatial` / 2^12 times the noise left in
/// the estimate. `left` is that of its weight.
EQUALUX_HD int reach(int sigma, int left, int spatial) {
  const int noise = times(sigma, left);
  const int reach = times(8 * (noise > kMostNoiseLeft ? kMostNoiseLeft : noise), spatial);
  return reach > kMostReach ? kMostReach : reach;
}

/// Contribution of a neighbour with this difference: all of it up to half of `reach`, less beyond,
/// none from `reach` on.
EQUALUX_HD int pull(int difference, int reach) {
  const int size = difference < 0 ? -difference : difference;
  const int rest = reach > size ? reach - size : 0;
  const int least = size < rest ? size : rest;
  return difference < 0 ? -least : least;
}

}  // namespace equalux::denoise
