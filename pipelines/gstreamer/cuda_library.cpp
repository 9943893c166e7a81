#include "pipelines/gstreamer/cuda_library.h"

#include <gst/cuda/cuda-gst.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>

namespace equalux::gst {

bool cuda_library_starts() {
  static const bool started = [] {
    if (gst_cuda_load_library() == FALSE || CuInit(0) != CUDA_SUCCESS) return false;
    int devices = 0;
    if (CuDeviceGetCount(&devices) != CUDA_SUCCESS || devices == 0) return false;
    gst_cuda_memory_init_once();
    return true;
  }();
  return started;
}

}  // namespace equalux::gst
