#pragma once

#include <cuda_runtime_api.h>
#include <equalux/filter.h>

#include "deep_stages.h"
#include "handles.h"

/// Equalization of frames of more than 8 bits on a GPU: the same stages as src/cpu/deep_chain.h.
namespace equalux::cuda {

/// Belongs to the device that was current when it was configured. One thread at a time.
class DeepChain {
 public:
  explicit DeepChain(const EqualizeParams& params) : params_(params) {}

  /// Allocates for frames of `desc`, any format with has_deep_samples(). Throws Error(unavailable).
  void configure(const ImageDesc& desc);

  /// Enqueues one frame; device memory of any stride and alignment, 32-bit accesses where all
  /// planes allow them. `in` and `out` may be the same memory with the same strides. Frames of one
  /// chain must not overlap in time. `marks` is told of each stage, or null. Throws
  /// Error(unavailable) where a launch is refused.
  void enqueue(const ConstImageView& in, const ImageView& out, FieldOrder field_order,
               cudaStream_t stream, StageMarks* marks = nullptr) const;

 private:
  EqualizeParams params_;
  ImageDesc desc_;
  int multiprocessors_ = 0;
  DeepFrame frame_{};  ///< what all frames have in common
  DeepTables tables_{};
  DevicePointer<std::uint32_t> words_;  ///< of all tables but the gains
  DevicePointer<std::uint64_t> gains_;
};

}  // namespace equalux::cuda
