#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>
#include <equalux/filter.h>

#include "cuda/equalize/deep/deep_stages.h"
#include "cuda/runtime/handles.h"
#include "src/equalize/saturation.h"

/// The saturation pass for more than 8 bits, with the bytes of
/// src/cpu/equalize/deep/deep_saturation_pass.h; saturation_pass.h is its twin for 8 bits. It is
/// deep_apply() with the identity as its curve.
namespace equalux::cuda {

/// Changes saturation frame by frame. Belongs to the device that was current when it was
/// configured. One thread at a time.
class DeepSaturationPass {
 public:
  /// Sets up for frames of `desc`, any format of more than 8 bits. Device memory is allocated by
  /// prepare(), or with the first frame that needs it. Throws Error(unavailable).
  void configure(const ImageDesc& desc);
  /// Allocates device memory. Throws Error(unavailable).
  void prepare();
  /// Returns true where a rule changes frames of this format; gray ones never change.
  [[nodiscard]] bool changes(const saturation::Rule& rule) const {
    return coloured_ && saturation::changes(rule);
  }

  /// Returns device memory for k of each value, 0 to M, which kernels write before enqueue().
  [[nodiscard]] std::uint32_t* factors();

  /// Changes a frame in place by factors(), or writes the result where `rounding` says. The stage
  /// is marked in `context`.
  void enqueue(const ImageView& frame, const FrameContext& context,
               const DeepRounding& rounding = {});

 private:
  bool coloured_ = false;
  LaunchDevice device_;
  DeepFrame frame_{};  // what is the same for all frames
  // Null until they are needed.
  DevicePointer<std::uint32_t> curve_;  // the identity
  DevicePointer<std::uint64_t> gains_;
  DevicePointer<std::uint32_t> factors_;
  DevicePointer<DeepLine> lines_;  // null where frames have no lines
};

}  // namespace equalux::cuda
