#pragma once

#include <cstdint>

#include "src/format/pixel_math.h"

/// The arithmetic of noise reduction on single samples, in whole numbers, so that every backend
/// gives the same bytes. Formulas and reasons: docs/algorithm.md, "Denoising".
///
/// Samples and estimates have kSampleBits bits whatever the frame's depth: differences fit 16 bits,
/// and an 8-bit level has 64 parts.
namespace equalux::denoise {

inline constexpr int kSampleBits = 14;
inline constexpr int kSampleMost = (1 << kSampleBits) - 1;
/// An 8-bit level in units of samples.
inline constexpr int kLevel = 1 << (kSampleBits - 8);
/// 1 of fractions that are multiplied by times().
inline constexpr int kOne = 1 << 15;

EQUALUX_HD constexpr int clamp(int x, int least, int most) {
  return x < least ? least : (x > most ? most : x);
}

/// a · b / 2^15, rounded half up: what one instruction does with vectors of 16 bits.
EQUALUX_HD constexpr int times(int a, int b) {
  return (a * b + kOne / 2) >> 15;
}

/// Noise of a plane by the level of its samples: a curve of
/// straight lines over kSegments equal parts of the range.
inline constexpr int kSegments = 16;
inline constexpr int kKnotShift = kSampleBits - 4;

/// A curve over levels by its values at 0, 2^kKnotShift, ..., each 0 to 2^15 - 1.
struct LevelCurve {
  std::int16_t knot[kSegments];
  std::int16_t rise[kSegments];  ///< to the next knot

  /// Its value at an estimate. Read in 256 steps a segment.
  EQUALUX_HD int at(int estimate) const {
    const int segment = estimate >> kKnotShift;
    const int part = (estimate >> (kKnotShift - 8)) & 255;
    return knot[segment] + times(rise[segment], part << 7);
  }
};

/// The largest standard deviation of noise, and of the option `noise`.
inline constexpr int kMostSigma = 64 * kLevel;

/// Standard deviation of a plane's noise in units of samples, and what makes deviations of
/// differences: 2^16 over it, at most 2^15 - 1.
struct NoiseCurves {
  LevelCurve sigma;
  LevelCurve inverse;
};

/// The frames that an estimate is the mean of, its weight, is a whole number below this.
inline constexpr int kWeights = 32;

/// What follows from a weight n, in units of 1 / 256.
struct WeightTables {
  std::uint8_t keep[kWeights];       ///< of the old estimate in the new one: n / (n + 1)
  std::uint8_t certainty[kWeights];  ///< 1 / sqrt(1 + 1 / n), 0 for 0: a difference has two noises
  std::uint8_t left[kWeights];       ///< 1 / sqrt(n): of the noise, in the estimate
};
[[nodiscard]] const WeightTables& weight_tables();

/// An entry of WeightTables as a fraction for times().
EQUALUX_HD constexpr int fraction(std::uint8_t entry) {
  return entry << 7;
}

/// Unit of deviations: a sixteenth of the noise's standard deviation.
inline constexpr int kSigma = 16;
inline constexpr int kMostDeviation = 127;

/// How far a sample is from its estimate, in units of the noise that both have together.
EQUALUX_HD int deviation(int sample, int estimate, int inverse, int certainty) {
  const int difference = clamp(sample - estimate, -4095, 4095);
  return clamp(times(8 * difference, times(inverse, certainty)), -kMostDeviation, kMostDeviation);
}

/// Change at a sample, 0 to 255, where 0 is none: by the mean and by the mean magnitude of the 25
/// deviations around it, and by its own. Of noise alone they are 0 +- 0.2, 0.8 +- 0.12 and 0 +- 1
/// standard deviations: change begins at 0.5, 1 and 2.5, and is whole at 1.14, 1.64 and 4.5.
EQUALUX_HD int change(int sum, int magnitudes, int own) {
  const int by_mean = (sum < 0 ? -sum : sum) - 25 * kSigma / 2;
  const int by_energy = magnitudes - 25 * kSigma;
  const int by_own = 8 * ((own < 0 ? -own : own) - 5 * kSigma / 2);
  int most = by_mean > by_energy ? by_mean : by_energy;
  most = by_own > most ? by_own : most;
  return clamp(most, 0, 255);
}

/// The weight that is left of an estimate where there is change.
EQUALUX_HD int weight_after(int weight, int change) {
  return (weight * (256 - change) + 128) >> 8;
}

/// The new estimate: the old one counts `keep`, the sample the rest.
EQUALUX_HD int estimate_of(int sample, int estimate, int keep) {
  return sample - times(sample - estimate, keep);
}

/// Neighbours that help a sample: those that two steps along rows and columns reach.
inline constexpr int kNeighbours = 12;
EQUALUX_HD constexpr bool is_neighbour(int x, int y) {
  const int steps = (x < 0 ? -x : x) + (y < 0 ? -y : y);
  return steps == 1 || steps == 2;
}
inline constexpr int kNeighbourShare = kOne / (kNeighbours + 1);
/// Most reach, so that the pulls of kNeighbours fit 16 bits.
inline constexpr int kMostReach = 3200;
/// The `spatial` of reach() where the option is 1: 7 times the noise that is left.
inline constexpr int kMostSpatial = 7 << 12;
/// Most noise of an estimate that reach() knows.
inline constexpr int kMostNoiseLeft = 4095;

/// The difference from which on a neighbour shows something else: `spatial` / 2^12 times the noise
/// that the estimate still has. `left` is that of its weight.
EQUALUX_HD int reach(int sigma, int left, int spatial) {
  const int noise = times(sigma, left);
  const int reach = times(8 * (noise > kMostNoiseLeft ? kMostNoiseLeft : noise), spatial);
  return reach > kMostReach ? kMostReach : reach;
}

/// What a neighbour's difference counts: itself up to half of `reach`, less beyond, nothing from
/// `reach` on.
EQUALUX_HD int pull(int difference, int reach) {
  const int size = difference < 0 ? -difference : difference;
  const int rest = reach > size ? reach - size : 0;
  const int least = size < rest ? size : rest;
  return difference < 0 ? -least : least;
}

}  // namespace equalux::denoise
