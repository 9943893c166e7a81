#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/denoise/denoise_math.h"
#include "src/denoise/motion_math.h"
#include "src/denoise/noise_estimate.h"

/// Inner loops of noise reduction over rows, compiled for every SIMD target and chosen once.
/// denoise_math.h has the formulas.
namespace equalux::denoise {

/// Margin of samples on each side of every row of a Plane, so that loops may run on to whole
/// vectors.
inline constexpr int kMargin = 64;
/// Samples of the margin that pad() fills with the first and last sample: as far as windows and
/// vectors may reach out of the plane.
inline constexpr int kPadding = 32;

/// Samples of a row that copy_rows() copies: a window with its neighbours, rounded up to whole
/// vectors.
inline constexpr int kCopied = 32;

/// Five rows, from two above to two below the middle one.
template <typename Sample>
using Rows5 = std::array<const Sample*, 5>;

/// Square of samples for block matching, with kAbove more above and left of it, and kBelow below
/// and right.
struct SampleWindow {
  static constexpr int kSide = 16;
  static constexpr int kAbove = 2;
  static constexpr int kBelow = 3;
  static constexpr int kAll = kAbove + kSide + kBelow;
  const std::int16_t* first;
  std::ptrdiff_t stride;  ///< in samples

  [[nodiscard]] EQUALUX_HD const std::int16_t* row(int y) const { return first + y * stride; }
};

/// Sums of differences between two windows.
struct WindowDifference {
  int magnitudes;  ///< sum of magnitudes
  int drift;       ///< sum of the differences, each limited
};

/// How weights of a component grow.
struct WeightRule {
  int most;     ///< frames that an estimate averages at most
  bool chroma;  ///< samples whose change is kRepeated are repeated
};

/// Loops of one target over n samples. On rows of a Plane they read and write whole vectors, up to
/// 64 samples behind the last one, and read neighbours on both sides. All targets give the same
/// values.
struct DenoiseRows {
  std::string_view target;

  /// Converts samples of `depth` bits, bytes or words `step` bytes apart and `shift` bits up, to 14
  /// bits and back, rounded half up.
  void (*load)(const std::uint8_t* in, int step, int depth, int shift, std::size_t n,
               std::int16_t* out);
  void (*store)(const std::int16_t* in, int step, int depth, int shift, std::size_t n,
                std::uint8_t* out);

  /// Returns block_level() and block_texture(); reads two samples to the right of the block.
  NoiseBlock (*noise_block)(const std::int16_t* first, std::ptrdiff_t stride);
  /// Returns noise_sums() of a block; reads four samples to the right of it.
  NoiseSums (*noise_sums)(const std::int16_t* first, std::ptrdiff_t stride, int level,
                          const std::int16_t* then, std::ptrdiff_t then_stride, int gain);
  /// Halves a plane: n means of 2 x 2 samples, rounded half up.
  void (*halve)(const std::int16_t* above, const std::int16_t* below, std::size_t n,
                std::int16_t* out);
  /// Copies kCopied samples of `rows` rows of a plane from row y on, rows beyond the plane from the
  /// nearest one. `first` is in the plane's first row; rows of `out` lie kCopied apart.
  void (*copy_rows)(const std::int16_t* first, std::ptrdiff_t stride, int height, int y, int rows,
                    std::int16_t* out);
  /// Returns the sum of magnitudes of differences of two windows.
  int (*difference)(SampleWindow a, SampleWindow b);
  /// Returns both sums; `drift` limits differences to +-`limit`.
  WindowDifference (*differences)(SampleWindow a, SampleWindow b, int limit);
  /// differences() with b interpolated across, then down; null where it lies at whole samples.
  WindowDifference (*moved_differences)(SampleWindow a, SampleWindow b, const Taps* across,
                                        const Taps* down, int limit);
  /// Returns add_slopes() over a window of the picture and one of the estimate.
  SlopeSums (*slopes)(SampleWindow now, SampleWindow then);

  /// Interpolates rows of n samples across, then down, for which rows from 2 above to 3 below must
  /// exist; null where they lie at whole samples. Strides count samples.
  void (*interpolate)(const std::int16_t* in, std::ptrdiff_t stride, const Taps* across,
                      const Taps* down, std::size_t n, int rows, std::int16_t* out,
                      std::ptrdiff_t out_stride);
  /// Copies rows of n weights; through weight_between() if the motion was `between` samples.
  void (*move_weights)(const std::uint8_t* weight, std::ptrdiff_t stride, bool between,
                       std::size_t n, int rows, std::uint8_t* out, std::ptrdiff_t out_stride);

  /// lightened() of each sample, with a gain for each, at most kMostGain in magnitude.
  void (*lighten)(const std::int16_t* estimate, const std::int16_t* gain, std::size_t n,
                  std::int16_t* out);
  /// deviation() of each sample.
  void (*deviations)(const std::int16_t* sample, const std::int16_t* estimate,
                     const std::uint8_t* weight, const LevelCurve& inverse, std::size_t n,
                     std::int8_t* deviation);
  /// change_or_repeated() of the middle row.
  void (*changes)(const Rows5<std::int8_t>& deviation, bool chroma, std::size_t n,
                  std::uint8_t* change);
  /// Raises the change of chroma to the rounded mean change of the luma that a sample covers.
  void (*join)(const std::uint8_t* above, const std::uint8_t* below, int shift_x, std::size_t n,
               std::uint8_t* change);
  /// estimate_of() with weight_after(), and next_weight().
  void (*update)(const std::int16_t* sample, const std::int16_t* estimate,
                 const std::uint8_t* weight, const std::uint8_t* change, WeightRule rule,
                 std::size_t n, std::int16_t* new_estimate, std::uint8_t* new_weight);
  /// Smooths estimates by the pulls of their neighbours.
  void (*smooth)(const Rows5<std::int16_t>& estimate, const std::uint8_t* weight,
                 const LevelCurve& sigma, int spatial, std::size_t n, std::int16_t* out);
  /// out = sample + times(out - sample, strength), strength below kOne.
  void (*blend)(const std::int16_t* sample, int strength, std::size_t n, std::int16_t* out);
};

/// Returns the plain C++ loops, for machines without a SIMD target and as reference of the others.
[[nodiscard]] const DenoiseRows& scalar_denoise_rows();
/// Returns the loops of the target that the CPU backend runs (cpu_simd_target()), or plain C++.
[[nodiscard]] const DenoiseRows& denoise_rows();
/// Returns every target that this build has and this machine runs, best first, plain C++ last.
[[nodiscard]] std::vector<DenoiseRows> all_denoise_rows();

}  // namespace equalux::denoise
