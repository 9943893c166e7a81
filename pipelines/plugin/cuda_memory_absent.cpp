#include "pipelines/plugin/cuda_memory.h"

/// Replacement for cuda_memory.cpp in a build without gstreamer-cuda or the CUDA toolkit.
namespace equalux::gst {

bool cuda_memory_starts() {
  return false;
}

const char* cuda_memory_feature() {
  return nullptr;
}

std::unique_ptr<CudaMemory> make_cuda_memory(GstElement*) {
  return nullptr;
}

}  // namespace equalux::gst
