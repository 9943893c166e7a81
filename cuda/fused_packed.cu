#include "fused_kernel.cuh"
#include "fused_kernels.h"

namespace equalux::cuda {

const void* fused_packed_kernel(PixelFormat format, bool aligned) {
  switch (format) {
    case PixelFormat::gray8: return kernel_of<GrayLayout>(aligned);
    case PixelFormat::rgb:
    case PixelFormat::bgr: return kernel_of<Rgb3Layout>(aligned);
    case PixelFormat::xrgb:
    case PixelFormat::xbgr:
    case PixelFormat::argb:
    case PixelFormat::abgr: return kernel_of<Rgb4Layout<0>>(aligned);
    case PixelFormat::rgbx:
    case PixelFormat::bgrx:
    case PixelFormat::rgba:
    case PixelFormat::bgra: return kernel_of<Rgb4Layout<3>>(aligned);
    default: return nullptr;
  }
}

}  // namespace equalux::cuda
