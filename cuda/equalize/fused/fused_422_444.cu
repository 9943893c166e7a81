#include "cuda/equalize/fused/fused_families.cuh"
#include "cuda/equalize/fused/fused_kernels.h"

namespace equalux::cuda {

const void* fused_422_444_kernel(PixelFormat format, Access access) {
  return kernel_of_422_444<false>(format, access);
}

}  // namespace equalux::cuda
