#pragma once

#include <equalux/device.h>
#include <equalux/filter.h>

#include "cuda/runtime/check.h"

namespace equalux::cuda {

/// The device that a filter's memory and launches belong to. Threads may share it.
class FilterDevice {
 public:
  /// The one that the options ask for. Throws Error(unavailable).
  explicit FilterDevice(const CudaOptions& options)
      : number_(options.device == kCurrentContext ? kCurrentContext
                                                  : choose_cuda_device(options.device).number) {}

  /// Makes it the thread's, before every call of the runtime; a caller's own context stays what it
  /// is. Throws Error(unavailable).
  void use() const {
    if (number_ != kCurrentContext) use_device(number_);
  }
  /// Makes it the thread's before memory is given back; errors are ignored.
  void use_to_free() const noexcept {
    if (number_ != kCurrentContext) ignore(cudaSetDevice(number_));
  }

 private:
  int number_;  ///< CUDA's, or kCurrentContext
};

}  // namespace equalux::cuda
