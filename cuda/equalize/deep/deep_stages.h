#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>
#include <equalux/params.h>

#include "cuda/device/plane_pair.h"
#include "cuda/runtime/launch_device.h"
#include "src/equalize/deep_curve.h"
#include "src/equalize/deep_line.h"
#include "src/equalize/tone/tone_control.h"
#include "src/format/layout.h"
#include "src/format/rounding.h"

/// The stages of the chain for more than 8 bits, as host code calls them. Each enqueues its kernels
/// on `stream` and throws Error(unavailable) where a launch is refused.
namespace equalux::cuda {

/// Rounding of fractions of levels to an 8-bit frame, and the positions of its components; colours
/// are in the order of a pixel in memory.
struct DeepRounding {
  bool active;
  Dither dither;
  std::int32_t bits;  ///< of a value, below its level
  Samples<std::uint8_t> out[3];
  std::int32_t alpha;  ///< bytes from the first component to the copied sample
};

/// A frame as kernels see it. Planes 1 and 2 are Cb and Cr, even where they share a plane as pairs.
struct DeepFrame {
  PlanePair planes[3];
  DeepSamples form;
  Sampling sampling;
  bool aligned;  ///< every plane and stride is a multiple of 4
  bool interlaced;
  std::int32_t width;         ///< luma columns
  std::int32_t height;        ///< luma rows
  std::uint32_t columns;      ///< cells in a row
  std::uint32_t rows;         ///< rows of cells
  std::int32_t step;          ///< bytes between neighbouring chroma samples or packed pixels
  std::int32_t color_offset;  ///< packed RGB: bytes to the first colour
  std::int32_t alpha_offset;  ///< packed RGB: bytes to the copied sample, or -1
  DeepRounding rounding;      ///< for deep_apply()
};

[[nodiscard]] constexpr bool is_yuv(const DeepFrame& frame) {
  return frame.sampling != Sampling::gray && frame.sampling != Sampling::rgb;
}

/// Describes what is the same for all frames of `desc`; set_planes() adds the rest.
[[nodiscard]] DeepFrame deep_frame_of(const ImageDesc& desc, const DeepSamples& form);
/// Sets where the samples of one frame are.
void set_planes(DeepFrame& frame, const ConstImageView& in, const ImageView& out);

/// Returns true where a frame of YCbCr can be read in strips, as most can; see deep_strips.cuh.
[[nodiscard]] bool reads_yuv_strips(const DeepFrame& frame);
/// Returns true where strips that can be read can also be written: to the frame or, without dither,
/// as bytes.
[[nodiscard]] bool writes_yuv_strips(const DeepFrame& frame);

/// Returns true where packed RGB or gray of 16 bits can be read and written in strips; see
/// deep_pixels.cuh.
[[nodiscard]] bool reads_pixel_strips(const DeepFrame& frame);
[[nodiscard]] bool writes_pixel_strips(const DeepFrame& frame);

/// Returns true where deep_apply() reads and writes strips.
[[nodiscard]] inline bool lies_in_strips(const DeepFrame& frame) {
  return (reads_yuv_strips(frame) && writes_yuv_strips(frame)) ||
         (reads_pixel_strips(frame) && writes_pixel_strips(frame));
}

/// Number of values that one block scans.
inline constexpr std::uint32_t kDeepScanBlock = 1024;
/// Number of blocks in a scan over 2^16 values.
inline constexpr std::uint32_t kDeepScanBlocks = 65536 / kDeepScanBlock;
/// Number of values up to which a block counts in shared memory: 12 bits.
inline constexpr std::uint32_t kDeepSharedLevels = 4096;
/// Number of histograms in device memory that blocks take in turn where they count there.
inline constexpr std::uint32_t kDeepCopies = 8;

/// Device memory of the stages, indexed by v. All counts are 0 between frames.
struct DeepTables {
  std::uint32_t levels;  ///< M + 1
  std::uint32_t copies;  ///< histograms in `counts`, one after the other
  bool wide_counters;    ///< result of allow_wide_counters()
  std::uint32_t* counts;
  std::uint32_t* coarse_counts;  ///< one per coarse level
  // Counters that deep_apply() clears; deep_curve() clears the others.
  std::uint32_t* cleared;
  std::uint32_t cleared_words;
  std::uint32_t* bin_ends;       ///< last_of_bin()
  std::uint32_t* sums;           ///< prefix sums within each kDeepScanBlock values
  std::uint32_t* block_sums;     ///< of each kDeepScanBlock values
  std::uint32_t* block_darkest;  ///< least v with a count in each block, or `levels`
  std::uint32_t* curve;          ///< W
  std::uint64_t* gains;
  std::uint32_t* factors;           ///< k of saturation, if it changes
  DeepLine* lines;                  ///< of W and k, for frames that are changed in strips
  const std::uint8_t* last_of_bin;  ///< one per coarse level: the largest level in its bin
  tone::History* history;           ///< of the frames so far
  tone::History* history_before;    ///< copy that is read while `history` is written
};

/// Quantity that is counted in a frame: v, or its coarse level where `shift` is not 0.
struct DeepCount {
  std::uint32_t* counts;
  std::uint32_t levels;
  std::uint32_t shift;   ///< bits of v below what is counted
  std::uint32_t copies;  ///< of counters that do not fit shared memory
  bool wide_counters;    ///< result of allow_wide_counters()
  // The history, and where it is copied to for the curve; or null. Only with coarse levels.
  const tone::History* history;
  tone::History* history_before;
};
/// Describes what deep_histogram() has to count for deep_curve(), and for deep_shaped_curve().
[[nodiscard]] DeepCount counted_values(const DeepTables& tables);
[[nodiscard]] DeepCount counted_coarse_levels(const DeepTables& tables, const DeepSamples& form,
                                              const tone::Frame& tone);

/// Allows the kernels that count packed pixels to use as much shared memory as the current device
/// has. Returns true where that is enough for a counter of each 16-bit value. Throws
/// Error(unavailable).
[[nodiscard]] bool allow_wide_counters();

/// Adds the frame's values to the counts.
void deep_histogram(const DeepFrame& frame, const DeepCount& count, const LaunchDevice& device,
                    cudaStream_t stream);

/// Computes W and the gains from the counts of v. Adds W of the coarse levels to `curve_sums`,
/// unless that is null. deep_apply() has to follow.
void deep_curve(const DeepTables& tables, Scaler scaler, const DeepSamples& form,
                unsigned long long* curve_sums, const LaunchDevice& device, cudaStream_t stream);

/// Values that k of saturation is looked up by.
enum class FactorsBy : std::uint8_t {
  values,   ///< by the frame's values
  results,  ///< by the curve's results, where a later pass changes saturation
};

/// Computes the curve from the counts of coarse levels, with limits or over time, and also k and
/// the lines if saturation changes. Updates the history. deep_apply() has to follow.
void deep_shaped_curve(const DeepTables& tables, const DeepFrame& frame, const tone::Frame& tone,
                       FactorsBy by, unsigned long long* curve_sums, const LaunchDevice& device,
                       cudaStream_t stream);

/// Computes the lines of all values from W and k.
void deep_lines(const DeepTables& tables, const DeepFrame& frame, const LaunchDevice& device,
                cudaStream_t stream);

/// Writes the frame's result; `saturates` where k is not 1. Clears counts for the next frame.
void deep_apply(const DeepFrame& frame, const DeepTables& tables, bool saturates,
                const LaunchDevice& device, cudaStream_t stream);

/// Does the work of deep_apply() for frames of YCbCr in strips; see deep_strips.cuh.
void deep_apply_strips(const DeepFrame& frame, const DeepTables& tables, bool saturates,
                       const LaunchDevice& device, cudaStream_t stream);

/// Does the work of deep_apply() for packed RGB and gray in strips; see deep_pixels.cuh.
void deep_apply_pixels(const DeepFrame& frame, const DeepTables& tables, bool saturates,
                       const LaunchDevice& device, cudaStream_t stream);

/// Asks for the launch facts of these kernels on the current device. Throws Error(unavailable).
[[nodiscard]] LaunchDevice deep_device();

}  // namespace equalux::cuda
