#include "cpu/hessian_rows.h"

namespace equalux {

const HessianKernels& hessian_kernels() {
  return scalar_hessian_kernels();
}

std::vector<HessianKernels> all_hessian_kernels() {
  return {scalar_hessian_kernels()};
}

}  // namespace equalux
