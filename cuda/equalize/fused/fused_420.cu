#include "cuda/equalize/fused/fused_families.cuh"
#include "cuda/equalize/fused/fused_kernels.h"

namespace equalux::cuda {

const void* fused_420_kernel(PixelFormat format, Access access) {
  return kernel_of_420<false>(format, access);
}

}  // namespace equalux::cuda
