#include "src/cpu/hessian/hessian_rows.h"

#include <cstring>

#include "src/cpu/common/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cpu/hessian/hessian_rows.cpp"
// clang-format off
#include <hwy/foreach_target.h>  // compiles this file once for each target
#include <hwy/cache_control.h>
#include "src/cpu/common/highway-inl.h"
// clang-format on

#include "src/cpu/hessian/hessian_rows-inl.h"

#if HWY_ONCE
namespace equalux {
namespace hessian_loops {

HWY_EXPORT(target_hessian_rows);

std::vector<HessianRows> all_targets() {
  return loops_of_targets([] { return HWY_DYNAMIC_DISPATCH(target_hessian_rows)(); },
                          scalar_hessian_rows());
}

}  // namespace hessian_loops

std::vector<HessianRows> all_hessian_rows() {
  return hessian_loops::all_targets();
}

const HessianRows& hessian_rows() {
  static const HessianRows loops = loops_in_use(all_hessian_rows());
  return loops;
}

}  // namespace equalux
#endif  // HWY_ONCE
