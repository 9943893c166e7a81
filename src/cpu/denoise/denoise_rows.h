#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/denoise/denoise_math.h"
#include "src/denoise/motion_math.h"
#include "src/denoise/noise_estimate.h"

/// The inner loops of noise reduction over rows, compiled for every SIMD target and chosen once.
/// Formulas: denoise_math.h.
namespace equalux::denoise {

/// Samples that every row of a Plane has on each side, so that loops go on to whole vectors.
inline constexpr int kMargin = 64;
/// Those of them that repeat its first and last one, once it is padded: as far as windows and what
/// blocks come from may lie outside.
inline constexpr int kPadding = 32;

/// Samples of a row that are copied at once: a window, what lies beside it, and up to whole
/// vectors.
inline constexpr int kCopied = 32;

/// Rows of 5, from two above to two below the middle one.
template <typename Sample>
using Rows5 = std::array<const Sample*, 5>;

/// A square of samples that motion is measured by, with kAbove more above and left of it, and
/// kBelow below and right.
struct SampleWindow {
  static constexpr int kSide = 16;
  static constexpr int kAbove = 2;
  static constexpr int kBelow = 3;
  static constexpr int kAll = kAbove + kSide + kBelow;
  const std::int16_t* first;
  std::ptrdiff_t stride;  ///< samples from a row to the one below

  [[nodiscard]] EQUALUX_HD const std::int16_t* row(int y) const { return first + y * stride; }
};

/// What a window differs by from another: sums over its samples.
struct WindowDifference {
  int magnitudes;  ///< of the differences
  int drift;       ///< the differences themselves, each limited
};

/// One target's loops over n samples. Where it is rows of a Plane that they read and write, that is
/// in whole vectors, up to 64 samples more behind the last one, and neighbours in a row on both
/// sides. All targets give the same values.
struct DenoiseRows {
  std::string_view target;

  /// Samples of `depth` bits, bytes or words `step` bytes apart and `shift` bits up, to 14 bits and
  /// back, rounded half up.
  void (*load)(const std::uint8_t* in, int step, int depth, int shift, std::size_t n,
               std::int16_t* out);
  void (*store)(const std::int16_t* in, int step, int depth, int shift, std::size_t n,
                std::uint8_t* out);

  /// block_level() and block_texture(); two samples beside the block are read, too.
  NoiseBlock (*noise_block)(const std::int16_t* first, std::ptrdiff_t stride);
  /// Means of 2 x 2 samples, n of them, rounded half up.
  void (*halve)(const std::int16_t* above, const std::int16_t* below, std::size_t n,
                std::int16_t* out);
  /// Copies `rows` rows of a plane of `height` rows from row y on, each the nearest that there is:
  /// kCopied samples from `first` in its first row, to rows that lie kCopied apart.
  void (*copy_rows)(const std::int16_t* first, std::ptrdiff_t stride, int height, int y, int rows,
                    std::int16_t* out);
  /// The sum of the magnitudes of differences between two windows.
  int (*difference)(SampleWindow a, SampleWindow b);
  /// Both sums, with differences within +-`limit` in that of `drift`.
  WindowDifference (*differences)(SampleWindow a, SampleWindow b, int limit);
  /// differences() where b is interpolated() across, and then down: null where it lies at whole
  /// samples.
  WindowDifference (*moved_differences)(SampleWindow a, SampleWindow b, const Taps* across,
                                        const Taps* down, int limit);
  /// add_slopes() over a window of the picture, and one of the estimate.
  SlopeSums (*slopes)(SampleWindow now, SampleWindow then);

  /// Rows of n samples, interpolated() across, and then down from rows at - 2 to at + 3, which must
  /// be there: null where they lie at whole samples. Strides count samples.
  void (*interpolate)(const std::int16_t* in, std::ptrdiff_t stride, const Taps* across,
                      const Taps* down, std::size_t n, int rows, std::int16_t* out,
                      std::ptrdiff_t out_stride);
  /// Rows of n weights of what has moved: weight_between() where it was `between` samples.
  void (*move_weights)(const std::uint8_t* weight, std::ptrdiff_t stride, bool between,
                       std::size_t n, int rows, std::uint8_t* out, std::ptrdiff_t out_stride);

  /// lightened() of each sample, by as many drifts.
  void (*lighten)(const std::int16_t* estimate, const std::int16_t* drift, std::size_t n,
                  std::int16_t* out);
  /// deviation() of each sample.
  void (*deviations)(const std::int16_t* sample, const std::int16_t* estimate,
                     const std::uint8_t* weight, const LevelCurve& inverse, std::size_t n,
                     std::int8_t* deviation);
  /// change() of the middle row.
  void (*changes)(const Rows5<std::int8_t>& deviation, std::size_t n, std::uint8_t* change);
  /// change = max(change, the rounded mean of the luma's changes that a chroma sample covers).
  void (*join)(const std::uint8_t* above, const std::uint8_t* below, int shift_x, std::size_t n,
               std::uint8_t* change);
  /// estimate_of() by weight_after(); weights grow by one, up to `most`.
  void (*update)(const std::int16_t* sample, const std::int16_t* estimate,
                 const std::uint8_t* weight, const std::uint8_t* change, int most, std::size_t n,
                 std::int16_t* new_estimate, std::uint8_t* new_weight);
  /// Estimates with what their neighbours pull at them.
  void (*smooth)(const Rows5<std::int16_t>& estimate, const std::uint8_t* weight,
                 const LevelCurve& sigma, int spatial, std::size_t n, std::int16_t* out);
  /// out = sample + times(out - sample, strength), strength below kOne.
  void (*blend)(const std::int16_t* sample, int strength, std::size_t n, std::int16_t* out);
};

/// Plain C++, for machines without a SIMD target, and as the reference of the others.
[[nodiscard]] const DenoiseRows& scalar_denoise_rows();
/// The loops of the target that the CPU backend runs (cpu_simd_target()), or plain C++.
[[nodiscard]] const DenoiseRows& denoise_rows();
/// Every target that this build holds and this machine runs, best first, plain C++ last.
[[nodiscard]] std::vector<DenoiseRows> all_denoise_rows();

}  // namespace equalux::denoise
