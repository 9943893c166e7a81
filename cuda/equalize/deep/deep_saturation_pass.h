#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>
#include <equalux/filter.h>

#include "cuda/equalize/deep/deep_stages.h"
#include "cuda/runtime/handles.h"
#include "src/equalize/saturation.h"

/// saturation_pass.h of more than 8 bits, with the bytes of
/// src/cpu/equalize/deep/deep_saturation_pass.h. It is deep_apply() with the identity as its curve.
namespace equalux::cuda {

/// Belongs to the device that was current when it was configured. One thread at a time.
class DeepSaturationPass {
 public:
  /// For frames of `desc`, any format of more than 8 bits. Device memory is allocated by prepare(),
  /// or with the first frame that needs it. Throws Error(unavailable).
  void configure(const ImageDesc& desc);
  /// Throws Error(unavailable).
  void prepare();
  /// Whether frames change by a rule. Gray ones do not.
  [[nodiscard]] bool changes(const saturation::Rule& rule) const {
    return coloured_ && saturation::changes(rule);
  }

  /// k by value in device memory, of values 0 to M, which kernels write before enqueue().
  [[nodiscard]] std::uint32_t* factors();

  /// Changes a frame in place by factors(), or writes it where `rounding` says. The marks are told
  /// of the stage.
  void enqueue(const ImageView& frame, const FrameContext& context,
               const DeepRounding& rounding = {});

 private:
  bool coloured_ = false;
  LaunchDevice device_;
  DeepFrame frame_{};  // what all frames have in common
  // Null until they are needed.
  DevicePointer<std::uint32_t> curve_;  // the identity
  DevicePointer<std::uint64_t> gains_;
  DevicePointer<std::uint32_t> factors_;
  DevicePointer<DeepLine> lines_;  // null where frames have none
};

}  // namespace equalux::cuda
