#include "cuda/equalize/fused/fused_kernel.cuh"
#include "cuda/equalize/fused/fused_kernels.h"

namespace equalux::cuda {

const void* fused_packed_kernel(PixelFormat format, Access access) {
  switch (format) {
    case PixelFormat::gray8:
      return kernel_of<GrayLayout>(access);
    case PixelFormat::rgb:
    case PixelFormat::bgr:
      return kernel_of<Rgb3Layout>(access);
    case PixelFormat::xrgb:
    case PixelFormat::xbgr:
    case PixelFormat::argb:
    case PixelFormat::abgr:
      return kernel_of<Rgb4Layout<0>>(access);
    case PixelFormat::rgbx:
    case PixelFormat::bgrx:
    case PixelFormat::rgba:
    case PixelFormat::bgra:
      return kernel_of<Rgb4Layout<3>>(access);
    default:
      return nullptr;
  }
}

}  // namespace equalux::cuda
