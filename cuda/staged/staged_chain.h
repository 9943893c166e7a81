#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>
#include <equalux/filter.h>

#include "cuda/runtime/handles.h"
#include "cuda/runtime/launch_shape.h"
#include "cuda/staged/staged_stages.h"
#include "src/equalize/equalize_chain.h"

/// The report's chain on a GPU: five stages over a float HSV image in device memory.
namespace equalux::cuda {

/// Equalizes frames stage by stage. Belongs to the device that was current when it was configured.
/// One thread at a time.
class StagedChain final : public EqualizeChain {
 public:
  explicit StagedChain(const EqualizeParams& params) : params_(params) {}

  /// Allocates for frames of `desc`, packed RGB or gray8: 12 bytes per pixel. Throws Error(usage)
  /// for another format, and for a grid, block or pixels-per-thread that the device does not take;
  /// Error(unavailable) where memory or a device is missing.
  void configure(const ImageDesc& desc) override;

  /// Enqueues one frame, which is in device memory with any stride and alignment; fastest where
  /// takes_groups() holds. Frames of one chain must not overlap in time. Each stage is marked in
  /// `context`. Throws Error(unavailable) where a launch is refused.
  void process(const ConstImageView& in, const ImageView& out,
               const FrameContext& context) override;

 private:
  EqualizeParams params_;
  int bins_ = 256;
  std::uint32_t pixels_ = 0;
  /// Variants of the stages, with the default in place of each knob that the user left empty.
  RgbToHsvVariant rgb_to_hsv_ = RgbToHsvVariant::coalesced;
  HistogramVariant histogram_ = HistogramVariant::shared;
  ScanVariant scan_ = ScanVariant::kogge_stone_shared;
  EqualizeVariant equalize_ = EqualizeVariant::curve;

  LaunchShape to_hsv_shape_;
  LaunchShape value_shape_;
  LaunchShape scan_shape_;
  LaunchShape to_rgb_shape_;
  std::size_t histogram_shared_bytes_ = 0;
  std::size_t scan_shared_bytes_ = 0;

  DevicePointer<float> h_;
  DevicePointer<float> s_;
  DevicePointer<float> v_;
  DevicePointer<std::uint32_t> counts_;
  DevicePointer<std::uint32_t> cdf_;
  DevicePointer<std::uint8_t> scratch_;
  DevicePointer<float> curve_;
};

}  // namespace equalux::cuda
