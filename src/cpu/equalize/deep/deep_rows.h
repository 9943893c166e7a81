#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/cpu/common/stores.h"
#include "src/cpu/equalize/deep/deep_gains.h"
#include "src/equalize/deep_curve.h"
#include "src/format/layout.h"

/// The deep chain's inner loops over one row (or one row of chroma with its one or two rows of
/// luma), compiled for every SIMD target and chosen once.
namespace equalux {

/// Two tables of counters by v, which a thread takes in turn for neighbours of equal value not to
/// wait on each other.
struct DeepCounters {
  std::uint32_t* tables[2];
};

/// How chroma lies beside luma.
enum class DeepChroma : std::uint8_t {
  pairs,   ///< Cb and Cr in turn, a pair for two columns of luma
  shared,  ///< in planes, a sample for two columns
  each     ///< in planes, a sample for each column
};

[[nodiscard]] constexpr DeepChroma deep_chroma_of(const FormatTraits& format) {
  if (format.planes == 2) return DeepChroma::pairs;
  return format.chroma_shift_x != 0 ? DeepChroma::shared : DeepChroma::each;
}

/// A row of YCbCr as the loops take it.
struct DeepYuvForm {
  DeepSamples samples;
  DeepChroma chroma;
  int rows;  ///< of luma, 1 or 2
};

/// One target's loops. `n` counts pixels; rows have no alignment; in and out rows are the same or
/// do not overlap; nothing outside them is read or written. All targets give the same bytes.
struct DeepRows {
  std::string_view target;

  void (*count_gray)(const DeepSamples& form, const std::uint8_t* in, std::size_t n,
                     const DeepCounters& counters);
  void (*count_rgb)(const DeepSamples& form, const RgbLayout& pixel, const std::uint8_t* in,
                    std::size_t n, const DeepCounters& counters);
  void (*count_yuv)(const DeepYuvForm& form, const YuvRowIn& in, std::size_t n,
                    const DeepCounters& counters);

  /// Makes W of every v, 0 to M, of the cumulative sums up to the ends of their bins.
  void (*curve_levels)(const CurveScale& scale, std::uint32_t max_value, std::uint32_t* levels);
  /// Of W of every v, where counts say that the frame has it, what apply_rgb and apply_yuv read.
  void (*make_gains)(const DeepSamples& form, const std::vector<std::uint32_t>& counts,
                     DeepGains& gains);

  void (*apply_gray)(const DeepSamples& form, const DeepGains& gains, Stores stores,
                     const std::uint8_t* in, std::size_t n, std::uint8_t* out);
  void (*apply_rgb)(const DeepSamples& form, const RgbLayout& pixel, const DeepGains& gains,
                    Stores stores, const std::uint8_t* in, std::size_t n, std::uint8_t* out);
  void (*apply_yuv)(const DeepYuvForm& form, const DeepGains& gains, Stores stores,
                    const YuvRowIn& in, std::size_t n, const YuvRowOut& out);
  /// The same with saturation changed; of `gains` they read `curve`.
  void (*saturate_rgb)(const DeepSamples& form, const RgbLayout& pixel, const DeepGains& gains,
                       const DeepSaturation& saturation, Stores stores, const std::uint8_t* in,
                       std::size_t n, std::uint8_t* out);
  void (*saturate_yuv)(const DeepYuvForm& form, const DeepGains& gains,
                       const DeepSaturation& saturation, Stores stores, const YuvRowIn& in,
                       std::size_t n, const YuvRowOut& out);
  /// Makes a thread's streaming stores visible; called once after its last row.
  void (*flush_stores)();
};

/// Plain C++, for machines without a known SIMD target and as the reference of the others.
[[nodiscard]] const DeepRows& scalar_deep_rows();
/// The best target of this machine. The environment variable EQUALUX_SIMD names another one.
[[nodiscard]] const DeepRows& deep_rows();
/// Every target that this build holds and this machine runs, best first, plain C++ last.
[[nodiscard]] std::vector<DeepRows> all_deep_rows();

}  // namespace equalux
