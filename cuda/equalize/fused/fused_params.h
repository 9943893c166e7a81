#pragma once

#include <array>
#include <cstdint>

#include <equalux/params.h>

#include "cuda/device/fast_divisor.h"
#include "cuda/device/gain_scale.h"
#include "src/equalize/tone/tone_control.h"
#include "src/format/pixel_math.h"

/// Parameters of the fused kernel for one frame, and its state in device memory.
namespace equalux::cuda {

/// Factor of chroma sums in single precision.
inline constexpr float kChromaScale = 0x1p-31f;

/// YuvWeights as floats, times `scale`, with the signs that they have in sums.
struct YuvFloats {
  float red_w = 0;
  float minus_green_u = 0;
  float minus_green_w = 0;
  float blue_u = 0;

  static YuvFloats of(const YuvWeights& w, float scale) {
    return {static_cast<float>(w.red_w) * scale, -static_cast<float>(w.green_u) * scale,
            -static_cast<float>(w.green_w) * scale, static_cast<float>(w.blue_u) * scale};
  }
};

/// Base of YCbCr results in single precision, where saturation changes: 256 + 1/2 and a little.
/// Results lie in [256, 512), where the last place of a float is 2^-15, so that the bits from
/// kCodeShift on are the code, rounded to nearest. The little is four last places, more than any
/// error: where the bits below the code are less than kLeastSure, twice that, the code may be one
/// too high.
inline constexpr int kCodeShift = 15;
inline constexpr float kCodeBase = 256.5f + 0x1p-13f;
inline constexpr std::uint32_t kLeastSure = 8;

/// Factors with which value_above_luma() needs no subtraction: for chroma codes read as floats
/// where they are, in the second byte of a word, which makes code c the denormal number 2^-141 c.
/// The weights times kChromaScale and 2^141 are just below the largest float.
struct YuvCodeFloats {
  float red_w = 0, red = 0;
  float green_u = 0, green_w = 0, green = 0;
  float blue_u = 0, blue = 0;

  static YuvCodeFloats of(const YuvWeights& w) {
    constexpr float kOfCodes = 0x1p141 * kChromaScale;
    const auto base = [](std::int32_t at_128) {
      return static_cast<float>(32768 - 128 * at_128) * kChromaScale;
    };
    YuvCodeFloats f;
    f.red_w = static_cast<float>(w.red_w) * kOfCodes;
    f.red = base(w.red_w);
    f.green_u = -static_cast<float>(w.green_u) * kOfCodes;
    f.green_w = -static_cast<float>(w.green_w) * kOfCodes;
    f.green = base(-w.green_u - w.green_w);
    f.blue_u = static_cast<float>(w.blue_u) * kOfCodes;
    f.blue = base(w.blue_u);
    return f;
  }
};

/// Counts of two values, kGridCountBits each, and in the bits above how many blocks have added
/// theirs; see grid_histogram.cuh.
using GridCell = unsigned long long;
inline constexpr int kGridCountBits = 29;
inline constexpr std::uint32_t kMostGridCount = (1U << kGridCountBits) - 1;
inline constexpr int kGridCopies = 8;
/// Most blocks of a grid, as many as the arrivals of all copies can count.
inline constexpr unsigned kMostBlocks = kGridCopies * ((1U << (64 - 2 * kGridCountBits)) - 1);
using GridHistogram = GridCell[kGridCopies][128];

/// Histogram of a frame's excluded pixels.
struct alignas(8) ExcludedCounts {
  std::uint32_t counts[256];
  std::uint32_t total;
};

/// Numbers that the next frame's curve needs of the frames so far, made while the last of them is
/// written; see limited_curve.cuh.
struct alignas(16) CurveAhead {
  tone::History history;                 ///< includes the last frame
  std::uint32_t curve[256];              ///< curve at the mean exposure
  std::uint32_t base[tone::kQuantiles];  ///< quantiles of the history
  std::uint32_t min_gain;                ///< least gain that goes with the curve
};

/// Device memory that outlives a launch. Counts are 0 before the first one.
struct FusedState {
  GridHistogram counts[2];             ///< of even and of odd frames
  ExcludedCounts excluded[2];          ///< of even and of odd frames; see excluded_pixels.cu
  double inverse[256];                 ///< 1 / v; unused at 0
  std::uint8_t last_of_bin[256];       ///< by v: largest value in its bin
  std::uint32_t frames;                ///< launches so far; the lowest bit selects the histogram
  tone::History history;               ///< without the last frame
  CurveAhead ahead;                    ///< for the next frame's curve
  std::uint32_t fixed_curve[256];      ///< W of the given curve, if any
  unsigned long long curve_sums[256];  ///< sums of the frames' W, where they are collected
};

/// Distance between chunks: lines down and columns right.
struct ChunkStep {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// Parameters of one launch. Strides are in bytes and may be negative. A line is a row of chroma in
/// 4:2:0, else a row of pixels, or all of a packed frame without padding.
struct FusedParams {
  std::array<const std::uint8_t*, 3> in{};
  std::array<std::uint8_t*, 3> out{};
  std::array<std::int32_t, 3> in_stride{};
  std::array<std::int32_t, 3> out_stride{};
  std::uint32_t width = 0;    ///< pixels of a line
  std::uint32_t height = 0;   ///< rows of pixels; for 4:2:0 only
  std::uint32_t parts = 0;    ///< parts of the frame with Access::flat, else chunks
  std::uint32_t columns = 0;  ///< parts or chunks of a line
  std::uint32_t workers = 0;  ///< blocks that have chunks; over time one more keeps the history
  std::uint32_t chunks_of_warp = 0;  ///< chunks of each of their warps
  std::uint32_t longer_warps = 0;    ///< number of warps that have one chunk more
  ChunkStep step;                    ///< from a warp's chunk to its next one, in chunks or parts
  std::uint32_t samples = 0;         ///< counted samples of the frame
  double per_sample = 0;             ///< 1 / samples
  std::uint32_t padding = 0;         ///< counted samples of chunks that the frame does not have
  int padding_value = 0;             ///< value of those samples
  bool excludes = false;  ///< the state has excluded samples, which are not part of the curve
  bool interlaced = false;
  bool has_partial_cells = false;  ///< some chroma samples cover less luma than others
  bool lacks_rows = false;         ///< some cells lack a row
  Scaler scaler = Scaler::max_abs;
  YuvWeights weights{};
  std::uint32_t luma_offsets = 0;  ///< luma offset in each byte
  YuvFloats yuv;  ///< for chroma divided by the samples of a cell and, without a change of
                  ///< saturation, by kGainScale
  YuvCodeFloats yuv_codes;
  bool shapes_curve = false;  ///< the curve is not plain, but that of `tone` or as below
  tone::Frame tone;
  bool opencv_curve = false;    ///< the curve is that of cv::equalizeHist; shapes_curve is true
  bool fixed_curve = false;     ///< the curve is the state's; shapes_curve is true
  bool collects_curve = false;  ///< the curve is added to the state's sums
  /// Factors k by v, where saturation changes; null where they follow from the curve.
  const std::uint16_t* factors = nullptr;
  /// Factors k by the value of a result, written for a pass behind this one; null without such a
  /// pass.
  std::uint16_t* factors_of_results = nullptr;
  FusedState* state = nullptr;
  FastDivisor by_columns;  ///< division by `columns`, where saturation changes
  float code_base = 0;     ///< kCodeBase plus the luma offset
};

}  // namespace equalux::cuda
