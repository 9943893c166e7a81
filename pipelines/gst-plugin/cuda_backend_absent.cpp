#include <equalux/device.h>

#include "cuda_backend.h"

/// What stands in for cuda_backend.cpp in a build without CUDA.
namespace equalux::gst {

AreaProcessor make_device_processor(const RecipePtr&, int device, std::size_t) {
  require_device(device);
  return {};
}

void require_device(int device) {
  static_cast<void>(choose_cuda_device(device));  // throws, with the reason
}

}  // namespace equalux::gst
