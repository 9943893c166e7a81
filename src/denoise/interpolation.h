#pragma once

#include <array>
#include <cstdint>

#include "src/denoise/denoise_math.h"

/// Estimates between samples, where what they show has moved by parts of one.
namespace equalux::denoise {

/// Vectors of motion count 1 / kParts of a luma sample.
inline constexpr int kParts = 8;
/// Phases between two samples: those of luma, and of chroma with half as many columns.
inline constexpr int kPhases = 2 * kParts;
/// A vector along one axis, in units of 1 / kPhases of a component's samples.
EQUALUX_HD int phases_of(int parts, int shift) {
  return shift == 0 ? 2 * parts : parts;
}
/// The sample that is nearest.
EQUALUX_HD int nearest_sample(int phases) {
  return (phases + kPhases / 2) >> 4;
}
/// The one before it, and the phase from there on.
EQUALUX_HD int sample_before(int phases) {
  return phases >> 4;
}
EQUALUX_HD int phase_of(int phases) {
  return phases & (kPhases - 1);
}

/// Samples that a value between two is made of: two before the left one, and two after the right.
inline constexpr int kTaps = 6;
using Taps = std::array<std::int16_t, kTaps>;

/// Weights of a phase, 1 to kPhases - 1, in units of 1 / kOne: a sinc in a window of the wider sinc
/// of three lobes (Lanczos 1956; Duchon 1979), which keeps detail that has moved many times.
[[nodiscard]] const Taps& taps_of(int phase);
/// Those of every phase; of phase 0, which has none, zeros.
[[nodiscard]] const std::array<Taps, kPhases>& all_taps();

/// The sum of six samples, `step` apart, by the taps.
EQUALUX_HD int interpolated(const std::int16_t* first, std::ptrdiff_t step, const Taps& taps) {
  int sum = 0;
  for (int i = 0; i < kTaps; ++i)
    sum += times(first[i * step], taps[static_cast<std::size_t>(i)]);
  return clamp(sum, 0, kSampleMost);
}

/// What an estimate counts that was made between samples: what interpolation loses counts as noise.
EQUALUX_HD int weight_between(int weight) {
  return (7 * weight + 4) >> 3;
}

}  // namespace equalux::denoise
