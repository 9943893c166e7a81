#include "cuda/equalize/fused/fused_kernel.cuh"
#include "cuda/equalize/fused/fused_kernels.h"
#include "cuda/equalize/fused/yuv_layouts.cuh"

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
