#pragma once

#include <cstdint>
#include <memory>

#include <cuda_runtime_api.h>
#include <equalux/filter.h>

#include "cuda/runtime/handles.h"
#include "src/equalize/saturation.h"

/// Multiplies S of HSV by a factor in 8-bit pixels whose value is final: a separate pass over
/// results, with the bytes of src/cpu/equalize/saturation_pass.h. It is the fused chain with the
/// identity as its curve.
namespace equalux::cuda {

class FusedChain;

/// Changes saturation frame by frame. Belongs to the device that was current when it was
/// configured. One thread at a time.
class SaturationPass {
 public:
  SaturationPass();
  ~SaturationPass();

  /// Sets up for frames of `desc`, any 8-bit format. Device memory is allocated by prepare(), or
  /// with the first frame that needs it.
  void configure(const ImageDesc& desc);
  /// Allocates device memory. Throws Error(unavailable).
  void prepare();
  /// Returns true where a rule changes frames of this format; gray ones never change.
  [[nodiscard]] bool changes(const saturation::Rule& rule) const {
    return coloured_ && saturation::changes(rule);
  }

  /// Returns device memory for k of each of the 256 values, which kernels write before enqueue()
  /// where the rule follows a curve.
  [[nodiscard]] std::uint16_t* factors();

  /// Changes a frame in place, by the rule's factor, or by factors() where the rule follows a
  /// curve. The stage is marked in `context`.
  void enqueue(const ImageView& frame, const saturation::Rule& rule, const FrameContext& context);

 private:
  ImageDesc desc_;
  bool coloured_ = false;
  DevicePointer<std::uint16_t> factors_;
  std::unique_ptr<FusedChain> chain_;  // null until it is needed
};

}  // namespace equalux::cuda
