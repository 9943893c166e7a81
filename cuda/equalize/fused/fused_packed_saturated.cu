#include "cuda/equalize/fused/fused_families.cuh"
#include "cuda/equalize/fused/fused_kernels.h"

namespace equalux::cuda {

const void* fused_packed_saturated_kernel(PixelFormat format, Access access) {
  return kernel_of_packed<true>(format, access);
}

}  // namespace equalux::cuda
