#include "src/cpu/hessian/hessian_rows.h"

#include <cstring>

#include "src/cpu/common/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cpu/hessian/hessian_rows.cpp"
// clang-format off
#include <hwy/foreach_target.h>  // compiles this file once for each target
#include <hwy/cache_control.h>
#include <hwy/highway.h>
// clang-format on

#include "src/cpu/hessian/hessian_rows-inl.h"

#if HWY_ONCE
namespace equalux {
namespace hessian_rows {

HWY_EXPORT(target_hessian_kernels);

std::vector<HessianKernels> all_kernels() {
  return kernels_of_targets([] { return HWY_DYNAMIC_DISPATCH(target_hessian_kernels)(); },
                            scalar_hessian_kernels());
}

}  // namespace hessian_rows

std::vector<HessianKernels> all_hessian_kernels() {
  return hessian_rows::all_kernels();
}

const HessianKernels& hessian_kernels() {
  static const HessianKernels kernels = kernels_in_use(all_hessian_kernels());
  return kernels;
}

}  // namespace equalux
#endif  // HWY_ONCE
