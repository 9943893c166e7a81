#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>
#include <equalux/params.h>

#include "cuda/device/plane_pair.h"
#include "cuda/runtime/launch_device.h"
#include "src/equalize/deep_curve.h"
#include "src/equalize/deep_line.h"
#include "src/equalize/tone_control.h"
#include "src/format/layout.h"
#include "src/format/rounding.h"

/// The stages of the deep chain, as its host code calls them. Each enqueues its kernels on `stream`
/// and throws Error(unavailable) where a launch is refused.
namespace equalux::cuda {

/// How fractions of levels are rounded, and where those go: components of a frame of
/// 8 bits, colours as they lie in a pixel.
struct DeepRounding {
  bool active;
  Dither dither;
  std::int32_t bits;  ///< of a value, below its level
  Samples<std::uint8_t> out[3];
  std::int32_t alpha;  ///< bytes from the first component to the copied sample
};

/// A frame as kernels see it. Planes 1 and 2 are Cb and Cr, also where they lie in pairs.
struct DeepFrame {
  PlanePair planes[3];
  DeepSamples form;
  Sampling sampling;
  bool aligned;  ///< every plane and stride is a multiple of 4
  bool interlaced;
  std::int32_t width;         ///< luma columns
  std::int32_t height;        ///< luma rows
  std::uint32_t columns;      ///< cells of a row
  std::uint32_t rows;         ///< rows of cells
  std::int32_t step;          ///< bytes from a chroma sample or a packed pixel to the next
  std::int32_t color_offset;  ///< packed RGB: bytes to the first colour
  std::int32_t alpha_offset;  ///< packed RGB: bytes to the copied sample, or -1
  DeepRounding rounding;      ///< of deep_apply()
};

[[nodiscard]] constexpr bool is_yuv(const DeepFrame& frame) {
  return frame.sampling != Sampling::gray && frame.sampling != Sampling::rgb;
}

/// What all frames of `desc` have in common,
[[nodiscard]] DeepFrame deep_frame_of(const ImageDesc& desc, const DeepSamples& form);
/// and where the samples of one lie.
void set_planes(DeepFrame& frame, const ConstImageView& in, const ImageView& out);

/// Whether saturation of such frames is changed by lines, where they lie in strips.
[[nodiscard]] bool has_lines(const DeepFrame& frame);
/// Whether the samples of a frame of YCbCr lie so that strips of them can be read, see
/// deep_strips.cuh, as most of 10 and 12 bits do; those of 16 take wider products than strips have.
[[nodiscard]] bool reads_yuv_strips(const DeepFrame& frame);
/// Whether strips that have been read can be written: to the frame or, without dither, as bytes.
[[nodiscard]] bool writes_yuv_strips(const DeepFrame& frame);

/// Whether strips of packed RGB or gray of 16 bits can be read, and written; see deep_pixels.cuh.
[[nodiscard]] bool reads_pixel_strips(const DeepFrame& frame);
[[nodiscard]] bool writes_pixel_strips(const DeepFrame& frame);

/// Whether deep_apply() reads and writes strips.
[[nodiscard]] inline bool lies_in_strips(const DeepFrame& frame) {
  return (reads_yuv_strips(frame) && writes_yuv_strips(frame)) ||
         (reads_pixel_strips(frame) && writes_pixel_strips(frame));
}

/// Values that one block scans.
inline constexpr std::uint32_t kDeepScanBlock = 1024;
/// Blocks of a scan over 2^16 values.
inline constexpr std::uint32_t kDeepScanBlocks = 65536 / kDeepScanBlock;
/// Values up to which a block counts in shared memory: 12 bits.
inline constexpr std::uint32_t kDeepSharedLevels = 4096;
/// Histograms in device memory that blocks take in turn where they count there.
inline constexpr std::uint32_t kDeepCopies = 8;

/// Memory of the stages, by v. All counts are 0 between frames.
struct DeepTables {
  std::uint32_t levels;  ///< M + 1
  std::uint32_t copies;  ///< histograms in `counts`, one behind the other
  bool wide_counters;    ///< allow_wide_counters()
  std::uint32_t* counts;
  std::uint32_t* coarse_counts;  ///< by coarse level
  // The counts that deep_apply() clears; others deep_curve() does.
  std::uint32_t* cleared;
  std::uint32_t cleared_words;
  std::uint32_t* bin_ends;       ///< last_of_bin()
  std::uint32_t* sums;           ///< cumulative within each kDeepScanBlock
  std::uint32_t* block_sums;     ///< of each kDeepScanBlock
  std::uint32_t* block_darkest;  ///< least v with a count in each, or `levels`
  std::uint32_t* curve;          ///< W
  std::uint64_t* gains;
  std::uint32_t* factors;           ///< k of saturation, of frames where it changes
  DeepLine* lines;                  ///< of W and k, of frames that strips can change
  const std::uint8_t* last_of_bin;  ///< by coarse level: the largest in its bin
  tone::History* history;           ///< of the frames so far
  tone::History* history_before;    ///< the same while it is written again
};

/// What is counted of a frame: v, or its coarse level where `shift` is not 0.
struct DeepCount {
  std::uint32_t* counts;
  std::uint32_t levels;
  std::uint32_t shift;   ///< bits of v below what is counted
  std::uint32_t copies;  ///< of counts of v that do not fit shared memory
  bool wide_counters;    ///< allow_wide_counters()
  // The history and where it is copied to for the curve, or null; with coarse levels only.
  const tone::History* history;
  tone::History* history_before;
};
/// What deep_curve() and deep_shaped_curve() are made of.
[[nodiscard]] DeepCount counted_values(const DeepTables& tables);
[[nodiscard]] DeepCount counted_coarse_levels(const DeepTables& tables, const DeepSamples& form,
                                              const tone::Frame& tone);

/// Whether a block of the current device has shared memory for a counter of each value of 16 bits;
/// lets the kernels have it. Throws Error(unavailable).
[[nodiscard]] bool allow_wide_counters();

/// Adds the frame's values to the counts.
void deep_histogram(const DeepFrame& frame, const DeepCount& count, const LaunchDevice& device,
                    cudaStream_t stream);

/// Makes W and the gains of the counts of v. Adds W of the coarse levels to `curve_sums`, unless
/// that is null. deep_apply() has to follow.
void deep_curve(const DeepTables& tables, Scaler scaler, const DeepSamples& form,
                unsigned long long* curve_sums, const LaunchDevice& device, cudaStream_t stream);

/// What k of saturation is looked up by.
enum class FactorsBy : std::uint8_t {
  values,   ///< of the frame
  results,  ///< by what the curve has made of them, where a pass behind it changes saturation
};

/// Makes the curve with limits or over time of the counts of coarse levels, and k and the lines
/// where saturation changes; takes the history on. deep_apply() has to follow.
void deep_shaped_curve(const DeepTables& tables, const DeepFrame& frame, const tone::Frame& tone,
                       FactorsBy by, unsigned long long* curve_sums, const LaunchDevice& device,
                       cudaStream_t stream);

/// Makes the lines of W and k of all values.
void deep_lines(const DeepTables& tables, const DeepFrame& frame, const LaunchDevice& device,
                cudaStream_t stream);

/// Writes the frame's result; `saturates` where k is not 1. Clears counts for the next frame.
void deep_apply(const DeepFrame& frame, const DeepTables& tables, bool saturates,
                const LaunchDevice& device, cudaStream_t stream);

/// deep_apply() of frames whose samples lie in strips; see deep_strips.cuh.
void deep_apply_strips(const DeepFrame& frame, const DeepTables& tables, bool saturates,
                       const LaunchDevice& device, cudaStream_t stream);

/// deep_apply() of packed RGB and gray that lie in strips; see deep_pixels.cuh.
void deep_apply_pixels(const DeepFrame& frame, const DeepTables& tables, bool saturates,
                       const LaunchDevice& device, cudaStream_t stream);

/// The launch facts of these kernels on the device that is current. Throws Error(unavailable).
[[nodiscard]] LaunchDevice deep_device();

}  // namespace equalux::cuda
