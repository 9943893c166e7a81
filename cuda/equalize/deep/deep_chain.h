#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <cuda_runtime_api.h>
#include <equalux/filter.h>

#include "cuda/equalize/curve_chain.h"
#include "cuda/equalize/deep/deep_saturation_pass.h"
#include "cuda/equalize/deep/deep_stages.h"
#include "cuda/runtime/handles.h"

/// Equalization of frames of more than 8 bits on a GPU, in the stages of
/// src/cpu/equalize/deep_chain.h.
namespace equalux::cuda {

/// Equalizes frame by frame. Belongs to the device that was current when it was configured. One
/// thread at a time.
class DeepChain final : public CurveChain {
 public:
  explicit DeepChain(const EqualizeParams& params) : CurveChain(params) {
    excluded_ = std::make_unique<ExcludedPixels>(params);
  }

  void round_to(std::optional<PixelFormat> format) override { rounds_ = format.has_value(); }
  /// Allocates for frames of `desc`, any format with has_deep_samples(). Throws Error(unavailable).
  void configure(const ImageDesc& desc) override;

  /// Enqueues one frame in device memory of any stride and alignment; accesses are wide where all
  /// planes allow it. Frames of one chain must not overlap in time. Each stage is marked in
  /// `context`. Throws Error(unavailable) where a launch is refused.
  void process(const ConstImageView& in, const ImageView& out,
               const FrameContext& context) override;

 private:
  /// Describes a frame for kernels, with where it is read and written.
  [[nodiscard]] DeepFrame frame_of(const ConstImageView& in, const ImageView& out,
                                   const FrameContext& context) const;
  [[nodiscard]] DeepRounding rounding_to(const ImageView& out, Dither dither) const;
  /// Counts the frame and computes its curve.
  void make_curve(const ConstImageView& in, const DeepFrame& frame, const FrameContext& context,
                  cudaStream_t stream);
  /// Counts the frame, less its excluded pixels.
  void count_frame(const ConstImageView& in, const DeepFrame& frame, const DeepCount& count,
                   const FrameContext& context, cudaStream_t stream);
  void upload_bins() override;
  void upload_curve() override;

  ImageDesc desc_;
  bool rounds_ = false;
  LaunchDevice device_;
  DeepFrame frame_{};  ///< what is the same for all frames
  DeepTables tables_{};
  DevicePointer<std::uint32_t> words_;  ///< memory of all tables but the gains
  DevicePointer<std::uint64_t> gains_;
  DevicePointer<DeepLine> lines_;  ///< null where the tables have no lines
  DevicePointer<std::uint8_t> last_of_bin_;
  DevicePointer<tone::History> histories_;  ///< both histories of the tables
  DevicePointer<unsigned long long> curve_sums_;
  bool saturates_ = false;  ///< of the current frame
  // For frames whose curve is one of luma: a second pass changes S, by value.
  bool recolours_ = false;  ///< of the current frame
  DeepSaturationPass colours_;
  DevicePointer<std::uint8_t> fine_;  ///< first pass's results, if the second one rounds
};

}  // namespace equalux::cuda
