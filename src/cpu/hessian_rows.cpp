#include "cpu/hessian_rows.h"

#include <cstring>

#include "cpu/fused_rows.h"

// As in fused_rows.cpp, so that the two families know the same targets.
#define HWY_WANT_AVX3_DL 1
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/hessian_rows.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // compiles this file once for each target
#include <hwy/highway.h>

#include "cpu/hessian_rows-inl.h"

#if HWY_ONCE
namespace equalux {
namespace hessian_rows {

HWY_EXPORT(target_hessian_kernels);

std::vector<HessianKernels> all_kernels() {
  std::vector<HessianKernels> list;
  // Highway has one bit a target, the best lowest.
  const std::int64_t supported = hwy::SupportedTargets() & HWY_TARGETS;
  for (std::int64_t bits = supported; bits != 0; bits &= bits - 1) {
    hwy::SetSupportedTargetsForTest(bits & -bits);
    hwy::GetChosenTarget().DeInit();
    const HessianKernels kernels = HWY_DYNAMIC_DISPATCH(target_hessian_kernels)();
    if (kernels.target != scalar_hessian_kernels().target) list.push_back(kernels);
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
  list.push_back(scalar_hessian_kernels());
  return list;
}

}  // namespace hessian_rows

std::vector<HessianKernels> all_hessian_kernels() {
  return hessian_rows::all_kernels();
}

const HessianKernels& hessian_kernels() {
  static const HessianKernels kernels = [] {
    for (const HessianKernels& each : all_hessian_kernels()) {
      if (each.target == row_kernels().target) return each;
    }
    return scalar_hessian_kernels();
  }();
  return kernels;
}

}  // namespace equalux
#endif  // HWY_ONCE
