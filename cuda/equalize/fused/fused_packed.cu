#include "cuda/equalize/fused/fused_kernel.cuh"
#include "cuda/equalize/fused/fused_kernels.h"
#include "src/format/layout.h"

namespace equalux::cuda {

const void* fused_packed_kernel(PixelFormat format, Access access) {
  switch (any_colour_order(format)) {
    case PixelFormat::gray8:
      return kernel_of<GrayLayout>(access);
    case PixelFormat::rgb:
      return kernel_of<Rgb3Layout>(access);
    case PixelFormat::xrgb:
      return kernel_of<Rgb4Layout<0>>(access);
    case PixelFormat::rgbx:
      return kernel_of<Rgb4Layout<3>>(access);
    default:
      return nullptr;
  }
}

}  // namespace equalux::cuda
