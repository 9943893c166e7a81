#include "pipelines/gstreamer/cuda_library.h"

#include <gst/cuda/cuda-gst.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>

#if !GST_CHECK_VERSION(1, 24, 0)
// A program built with older headers may run with a newer library. Null with an older one.
extern "C" [[gnu::weak]] void gst_cuda_memory_sync(GstCudaMemory* memory);
#endif

namespace equalux::gst {

namespace {

void settle(GstBuffer* buffer) {
#if !GST_CHECK_VERSION(1, 24, 0)
  if (gst_cuda_memory_sync == nullptr) return;
#endif
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i) {
    GstMemory* memory = gst_buffer_peek_memory(buffer, i);
    if (gst_is_cuda_memory(memory) != FALSE) gst_cuda_memory_sync(GST_CUDA_MEMORY_CAST(memory));
  }
}

}  // namespace

MapMode cuda_map_mode() {
  return {GST_MAP_CUDA, settle};
}

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
