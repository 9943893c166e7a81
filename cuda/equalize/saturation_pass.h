#pragma once

#include <cstdint>
#include <memory>

#include <cuda_runtime_api.h>
#include <equalux/filter.h>

#include "cuda/runtime/handles.h"
#include "src/equalize/saturation.h"

/// S of HSV times a factor in pixels of 8 bits that have got their value already: a pass of its own
/// over the results, with the bytes of src/cpu/equalize/saturation_pass.h. It is the fused chain
/// with the identity as its curve.
namespace equalux::cuda {

class FusedChain;

/// Belongs to the device that was current when it was configured. One thread at a time.
class SaturationPass {
 public:
  SaturationPass();
  ~SaturationPass();

  /// For frames of `desc`, any format of 8 bits. Device memory is allocated by prepare(), or with
  /// the first frame that needs it.
  void configure(const ImageDesc& desc);
  /// Throws Error(unavailable).
  void prepare();
  /// Whether frames change by a rule. Gray ones do not.
  [[nodiscard]] bool changes(const saturation::Rule& rule) const {
    return coloured_ && saturation::changes(rule);
  }

  /// k by value in device memory, 256 of them, which kernels write before enqueue() where the rule
  /// follows a curve.
  [[nodiscard]] std::uint16_t* factors();

  /// Changes a frame in place, by the rule's factor, or by factors() where the rule follows a
  /// curve. The marks are told of the stage.
  void enqueue(const ImageView& frame, const saturation::Rule& rule, const FrameContext& context);

 private:
  ImageDesc desc_;
  bool coloured_ = false;
  DevicePointer<std::uint16_t> factors_;
  std::unique_ptr<FusedChain> chain_;  // null until it is needed
};

}  // namespace equalux::cuda
