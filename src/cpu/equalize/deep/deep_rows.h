#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/cpu/common/stores.h"
#include "src/cpu/equalize/deep/deep_gains.h"
#include "src/equalize/deep_curve.h"
#include "src/format/layout.h"

/// Inner loops of the deep chain over one row, or over one row of chroma with its one or two rows
/// of luma. They are compiled for every SIMD target and chosen once.
namespace equalux {

/// Two histograms of v that a thread increments in turn, so that equal neighbours do not wait for
/// each other.
struct DeepCounters {
  std::uint32_t* tables[2];
};

/// Layout of chroma relative to luma.
enum class DeepChroma : std::uint8_t {
  pairs,   ///< interleaved Cb and Cr, one pair for two luma columns
  shared,  ///< planes, one sample for two luma columns
  each     ///< planes, one sample for each luma column
};

[[nodiscard]] constexpr DeepChroma deep_chroma_of(const FormatTraits& format) {
  if (format.planes == 2) return DeepChroma::pairs;
  return format.chroma_shift_x != 0 ? DeepChroma::shared : DeepChroma::each;
}

/// Bytes from one chroma sample to the next.
[[nodiscard]] constexpr std::size_t chroma_step(DeepChroma chroma) {
  return chroma == DeepChroma::pairs ? 4 : 2;
}

/// Form of a row of YCbCr.
struct DeepYuvForm {
  DeepSamples samples;
  DeepChroma chroma;
  int rows;  ///< rows of luma, 1 or 2
};

/// Loops of one target. `n` counts pixels; rows may have any alignment; input and output rows are
/// the same memory or do not overlap; nothing outside them is read or written. All targets give the
/// same bytes.
struct DeepRows {
  std::string_view target;

  void (*count_gray)(const DeepSamples& form, const std::uint8_t* in, std::size_t n,
                     const DeepCounters& counters);
  void (*count_rgb)(const DeepSamples& form, const RgbLayout& pixel, const std::uint8_t* in,
                    std::size_t n, const DeepCounters& counters);
  void (*count_yuv)(const DeepYuvForm& form, const YuvRowIn& in, std::size_t n,
                    const DeepCounters& counters);

  /// Makes W of every v, 0 to M, from the cumulative sums up to the ends of their bins, in place.
  void (*curve_levels)(const CurveScale& scale, std::uint32_t max_value, std::uint32_t* levels);
  /// Makes what apply_rgb and apply_yuv read from W, for every v that `counts` has.
  void (*make_gains)(const DeepSamples& form, const std::vector<std::uint32_t>& counts,
                     DeepGains& gains);

  void (*apply_gray)(const DeepSamples& form, const DeepGains& gains, Stores stores,
                     const std::uint8_t* in, std::size_t n, std::uint8_t* out);
  void (*apply_rgb)(const DeepSamples& form, const RgbLayout& pixel, const DeepGains& gains,
                    Stores stores, const std::uint8_t* in, std::size_t n, std::uint8_t* out);
  void (*apply_yuv)(const DeepYuvForm& form, const DeepGains& gains, Stores stores,
                    const YuvRowIn& in, std::size_t n, const YuvRowOut& out);
  /// Scale and change saturation; of `gains` they read `curve`.
  void (*saturate_rgb)(const DeepSamples& form, const RgbLayout& pixel, const DeepGains& gains,
                       const DeepSaturation& saturation, Stores stores, const std::uint8_t* in,
                       std::size_t n, std::uint8_t* out);
  void (*saturate_yuv)(const DeepYuvForm& form, const DeepGains& gains,
                       const DeepSaturation& saturation, Stores stores, const YuvRowIn& in,
                       std::size_t n, const YuvRowOut& out);
  /// Fences a thread's streaming stores. Call it once after the thread's last row.
  void (*flush_stores)();
};

/// Returns the plain C++ loops, for machines without a known SIMD target and as reference of the
/// others.
[[nodiscard]] const DeepRows& scalar_deep_rows();
/// Returns the best target of this machine. The environment variable EQUALUX_SIMD names another
/// one.
[[nodiscard]] const DeepRows& deep_rows();
/// Returns every target that this build has and this machine runs, best first, plain C++ last.
[[nodiscard]] std::vector<DeepRows> all_deep_rows();

}  // namespace equalux
