#pragma once

#include <equalux/device.h>
#include <equalux/filter.h>

#include "cuda/runtime/check.h"

namespace equalux::cuda {

/// The device that a filter's memory and launches belong to. Threads may share an object.
class FilterDevice {
 public:
  /// Chooses the device that the options ask for. Throws Error(unavailable).
  explicit FilterDevice(const CudaOptions& options)
      : number_(options.device == kCurrentContext ? kCurrentContext
                                                  : choose_cuda_device(options.device).number) {}

  /// Makes the device current in this thread; to be called before every call of the runtime. Leaves
  /// a caller's own context alone (kCurrentContext). Throws Error(unavailable).
  void use() const {
    if (number_ != kCurrentContext) use_device(number_);
  }
  /// Makes the device current before memory is freed; ignores errors.
  void use_to_free() const noexcept {
    if (number_ != kCurrentContext) ignore(cudaSetDevice(number_));
  }

 private:
  int number_;  ///< CUDA's number, or kCurrentContext
};

}  // namespace equalux::cuda
