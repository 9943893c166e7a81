#include <equalux/device.h>

#include "pipelines/plugin/cuda_backend.h"

/// Replacement for cuda_backend.cpp in a build without CUDA.
namespace equalux::gst {

AreaProcessor make_device_processor(const RecipePtr&, int device, std::size_t) {
  require_cuda_device(device);  // throws, with the reason
  return {};
}

}  // namespace equalux::gst
