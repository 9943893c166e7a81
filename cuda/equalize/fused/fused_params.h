#pragma once

#include <array>
#include <cstdint>

#include <equalux/params.h>

#include "cuda/device/fast_divisor.h"
#include "cuda/device/gain_scale.h"
#include "src/equalize/tone_control.h"
#include "src/format/pixel_math.h"

/// What the host hands to the fused kernel for one frame.
namespace equalux::cuda {

/// What the sums of chroma in single precision are times.
inline constexpr float kChromaScale = 0x1p-31f;

/// YuvWeights as floats, with the signs of the sums they stand in, times `scale`.
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

/// Where saturation changes, results of YCbCr in single precision stand on a base, 256 + 1/2 and a
/// little more: they lie in [256, 512), where the last place of a float is 2^-15, and the bits from
/// kCodeShift on are the code, rounded to nearest. The little is four last places, and no result is
/// as far off: where the bits below leave less than eight, the code may be one too high.
inline constexpr int kCodeShift = 15;
inline constexpr float kCodeBase = 256.5f + 0x1p-13f;
inline constexpr std::uint32_t kLeastSure = 8;

/// Factors that spare value_above_luma() its subtraction: of chroma codes that are read as floats
/// where they stand, in the second byte of a word, which makes code c the denormal number 2^-141 c.
/// Times kChromaScale the weights, times 2^141, are just below the largest float.
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

/// Counts of two values, from the lowest bit, and above them how many blocks have added theirs; see
/// grid_histogram.cuh.
using GridCell = unsigned long long;
inline constexpr int kGridCountBits = 29;
inline constexpr std::uint32_t kMostGridCount = (1U << kGridCountBits) - 1;
inline constexpr int kGridCopies = 8;
/// Blocks that the arrivals of all copies can count.
inline constexpr unsigned kMostBlocks = kGridCopies * ((1U << (64 - 2 * kGridCountBits)) - 1);
using GridHistogram = GridCell[kGridCopies][128];

/// Counts of the pixels of a frame that do not count.
struct alignas(8) ExcludedCounts {
  std::uint32_t counts[256];
  std::uint32_t total;
};

/// What the frames so far tell of the next one's curve, made while the last of them is written; see
/// limited_curve.cuh.
struct alignas(16) CurveAhead {
  tone::History history;                 ///< with the last frame in it
  std::uint32_t curve[256];              ///< at the mean exposure
  std::uint32_t base[tone::kQuantiles];  ///< quantiles of the history
  std::uint32_t min_gain;                ///< the least that goes with the curve
};

/// Device memory that outlives a launch. The counts are 0 before the first one.
struct FusedState {
  GridHistogram counts[2];             ///< of even and odd frames
  ExcludedCounts excluded[2];          ///< the same; see excluded_pixels.cu
  double inverse[256];                 ///< 1 / v; unused at 0
  std::uint8_t last_of_bin[256];       ///< by v: the largest value in its bin
  std::uint32_t frames;                ///< launches so far, whose lowest bit names the histogram
  tone::History history;               ///< the last frame not yet in it
  CurveAhead ahead;                    ///< what the next frame needs of that history
  std::uint32_t fixed_curve[256];      ///< W of the curve of all frames, where one is given
  unsigned long long curve_sums[256];  ///< of the frames' W, where they are collected
};

/// So many lines down and so many columns right.
struct ChunkStep {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// Strides are in bytes and may be negative; a line is a row of chroma for 4:2:0, a row of pixels
/// otherwise, and all of a packed frame without padding.
struct FusedParams {
  std::array<const std::uint8_t*, 3> in{};
  std::array<std::uint8_t*, 3> out{};
  std::array<std::int32_t, 3> in_stride{};
  std::array<std::int32_t, 3> out_stride{};
  std::uint32_t width = 0;    ///< pixels of a line
  std::uint32_t height = 0;   ///< rows of pixels; read for 4:2:0 only
  std::uint32_t parts = 0;    ///< of the frame, where chunks are of parts
  std::uint32_t columns = 0;  ///< chunks of a line, or parts of chunks
  std::uint32_t workers = 0;  ///< blocks that have chunks; over time one more keeps the history
  std::uint32_t rounds = 0;   ///< chunks that each of their warps has,
  std::uint32_t rest = 0;     ///< and how many of the warps have one more
  ChunkStep step;             ///< from a chunk of a warp to its next, or a part to that of its next
  std::uint32_t samples = 0;  ///< that are counted, and
  double per_sample = 0;      ///< 1 / samples
  std::uint32_t zeros = 0;    ///< samples that chunks have beyond the frame, counted as
  int zeros_value = 0;        ///< this value
  bool excludes = false;      ///< some samples do not make the curve
  bool interlaced = false;
  bool has_partial_cells = false;  ///< chroma samples that cover fewer luma samples than others
  bool lacks_rows = false;         ///< some of them for want of a row
  Scaler scaler = Scaler::max_abs;
  YuvWeights weights{};
  std::uint32_t luma_offsets = 0;  ///< the luma offset in every byte
  YuvFloats yuv;  ///< for chroma that is divided by the samples of a cell and, but where saturation
                  ///< changes, by kGainScale
  YuvCodeFloats yuv_codes;
  bool shapes_curve = false;  ///< the curve is not the plain one but `tone` says
  tone::Frame tone;
  bool opencv_curve = false;    ///< it is that of cv::equalizeHist; then shapes_curve too
  bool fixed_curve = false;     ///< it is the state's; then shapes_curve too
  bool collects_curve = false;  ///< it is added to the state's sums
  /// Where saturation changes: k by v, or null where the curve tells.
  const std::uint16_t* factors = nullptr;
  /// Where it will change in a pass behind this one: k by the value of a result, to be written.
  std::uint16_t* factors_of_results = nullptr;
  FusedState* state = nullptr;
  FastDivisor by_columns;  ///< the division by `columns`, where saturation changes, and
  float code_base = 0;     ///< kCodeBase and the luma offset
};

}  // namespace equalux::cuda
