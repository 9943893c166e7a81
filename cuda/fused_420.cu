#include "fused_kernel.cuh"
#include "fused_kernels.h"
#include "yuv_layouts.cuh"

namespace equalux::cuda {

const void* fused_420_kernel(PixelFormat format, bool aligned) {
  switch (format) {
    case PixelFormat::nv12: return kernel_of<Nv12Layout>(aligned);
    case PixelFormat::i420: return kernel_of<I420Layout>(aligned);
    default: return nullptr;
  }
}

}  // namespace equalux::cuda
