#include "cuda/equalize/fused/fused_kernel.cuh"
#include "cuda/equalize/fused/fused_kernels.h"
#include "cuda/equalize/fused/yuv_layouts.cuh"

namespace equalux::cuda {

const void* fused_422_444_kernel(PixelFormat format, Access access) {
  switch (format) {
    case PixelFormat::yuy2:
      return kernel_of<Packed422Layout<0>>(access);
    case PixelFormat::uyvy:
      return kernel_of<Packed422Layout<1>>(access);
    case PixelFormat::y42b:
      return kernel_of<Y42bLayout>(access);
    case PixelFormat::y444:
      return kernel_of<Y444Layout>(access);
    default:
      return nullptr;
  }
}

}  // namespace equalux::cuda
