#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>
#include <equalux/filter.h>

#include "cuda/equalize/curve_chain.h"
#include "cuda/equalize/saturation_pass.h"
#include "cuda/equalize/space/space_stages.h"
#include "cuda/runtime/handles.h"

/// Equalization of luma or lightness of packed RGB and gray on a GPU, by a table that has the
/// result of each code at each v.
namespace equalux::cuda {

/// Equalizes frame by frame. Belongs to the device that was current when it was configured. One
/// thread at a time.
class SpaceChain final : public CurveChain {
 public:
  explicit SpaceChain(const EqualizeParams& params) : CurveChain(params) {}

  /// Allocates for frames of `desc`, for which space_needs_tables() holds. Throws
  /// Error(unavailable).
  void configure(const ImageDesc& desc) override;

  /// Enqueues one frame in device memory of any stride and alignment, four pixels at a time where
  /// both frames allow it. Frames of one chain must not overlap in time. Each stage is marked in
  /// `context`. Throws Error(unavailable) where a launch is refused.
  void process(const ConstImageView& in, const ImageView& out,
               const FrameContext& context) override;

  void update(const EqualizeParams& params) override;

 private:
  void upload_bins() override;
  void upload_curve() override;

  int multiprocessors_ = 0;
  DevicePointer<SpaceState> state_;
  SaturationPass colours_;
};

}  // namespace equalux::cuda
