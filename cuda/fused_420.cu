#include "cuda/fused_kernel.cuh"
#include "cuda/fused_kernels.h"
#include "cuda/yuv_layouts.cuh"

namespace equalux::cuda {

const void* fused_420_kernel(PixelFormat format, Access access) {
  switch (format) {
    case PixelFormat::nv12:
      return kernel_of<Nv12Layout>(access);
    case PixelFormat::i420:
      return kernel_of<I420Layout>(access);
    default:
      return nullptr;
  }
}

}  // namespace equalux::cuda
