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

/// Belongs to the device that was current when it was configured. One thread at a time.
class StagedChain final : public EqualizeChain {
 public:
  explicit StagedChain(const EqualizeParams& params) : params_(params) {}

  /// Allocates for frames of `desc`, a packed RGB form or gray8, 12 bytes a pixel. Throws
  /// Error(usage) for another format, and for a grid, a block or pixels a thread that the device
  /// does not take; Error(unavailable).
  void configure(const ImageDesc& desc) override;

  /// Device memory of any stride and alignment, fastest where takes_groups() holds. Frames of one
  /// chain must not overlap in time. The marks are told of each stage. Throws Error(unavailable)
  /// where a launch is refused.
  void process(const ConstImageView& in, const ImageView& out,
               const FrameContext& context) override;

 private:
  EqualizeParams params_;
  int bins_ = 256;
  std::uint32_t pixels_ = 0;
  /// The variants, with what is taken where a knob is empty.
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
