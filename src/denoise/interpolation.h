#pragma once

#include <array>
#include <cstdint>

#include "src/denoise/denoise_math.h"

/// Interpolation of estimates between samples, for motion by fractions of a sample.
namespace equalux::denoise {

/// Units of motion vectors: 1 / kParts of a luma sample.
inline constexpr int kParts = 8;
/// Phases between two samples, for luma and for chroma of half as many columns.
inline constexpr int kPhases = 2 * kParts;
inline constexpr int kPhaseBits = 4;
static_assert(kPhases == 1 << kPhaseBits);
/// Component of a vector in units of 1 / kPhases of a plane's samples.
EQUALUX_HD int phases_of(int parts, int shift) {
  return shift == 0 ? 2 * parts : parts;
}
/// Nearest sample.
EQUALUX_HD int nearest_sample(int phases) {
  return (phases + kPhases / 2) >> kPhaseBits;
}
/// Sample at or before the position, and the phase from there.
EQUALUX_HD int sample_before(int phases) {
  return phases >> kPhaseBits;
}
EQUALUX_HD int phase_of(int phases) {
  return phases & (kPhases - 1);
}

/// Taps: two samples before the left one to two after the right one.
inline constexpr int kTaps = 6;
using Taps = std::array<std::int16_t, kTaps>;

/// Taps of a phase, 1 to kPhases - 1, in units of 1 / kOne: Lanczos-3 (Lanczos 1956; Duchon 1979),
/// which keeps detail over many interpolations.
[[nodiscard]] const Taps& taps_of(int phase);
/// Taps of all phases; those of phase 0 are zeros.
[[nodiscard]] const std::array<Taps, kPhases>& all_taps();

/// Weighted sum of six samples, `step` apart, saturated.
EQUALUX_HD int interpolated(const std::int16_t* first, std::ptrdiff_t step, const Taps& taps) {
  int sum = 0;
  for (int i = 0; i < kTaps; ++i)
    sum += times(first[i * step], taps[static_cast<std::size_t>(i)]);
  return clamp(sum, 0, kSampleMost);
}

/// Weight of an interpolated estimate: what interpolation loses counts as noise.
EQUALUX_HD int weight_between(int weight) {
  return (7 * weight + 4) >> 3;
}

}  // namespace equalux::denoise
