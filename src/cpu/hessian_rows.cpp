#include "cpu/hessian_rows.h"

#include <cstring>

#include "cpu/fused_rows.h"

// As in fused_rows.cpp, so that all families know the same targets.
#define HWY_WANT_AVX3_DL 1
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/hessian_rows.cpp"
// clang-format off
#include <hwy/foreach_target.h>  // compiles this file once for each target
#include <hwy/cache_control.h>
#include <hwy/highway.h>
// clang-format on

#include "cpu/hessian_rows-inl.h"

#if HWY_ONCE
#include "cpu/simd_targets.h"  // after foreach_target.h, as all of Highway

namespace equalux {
namespace hessian_rows {

HWY_EXPORT(target_hessian_kernels);

std::vector<HessianKernels> all_kernels() {
  std::vector<HessianKernels> list;
  for_each_simd_target(HWY_TARGETS, [&] {
    const HessianKernels kernels = HWY_DYNAMIC_DISPATCH(target_hessian_kernels)();
    // Targets without fma are served by plain C++, which comes last.
    if (kernels.target != scalar_hessian_kernels().target) list.push_back(kernels);
  });
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
