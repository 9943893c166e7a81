#include "src/cpu/hessian/vessel_rows.h"

#include <cstring>

#include "src/cpu/common/simd_targets.h"
#include "src/hessian/vessel_math.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cpu/hessian/vessel_rows.cpp"
// clang-format off
#include <hwy/foreach_target.h>  // compiles this file once for each target
#include <hwy/cache_control.h>
#include "src/cpu/common/highway-inl.h"
// clang-format on

#include "src/cpu/hessian/vessel_rows-inl.h"

#if HWY_ONCE
namespace equalux {
namespace vessel_loops {

HWY_EXPORT(target_vessel_rows);

std::vector<VesselRows> all_targets() {
  return loops_of_targets([] { return HWY_DYNAMIC_DISPATCH(target_vessel_rows)(); },
                          scalar_vessel_rows());
}

}  // namespace vessel_loops

std::vector<VesselRows> all_vessel_rows() {
  return vessel_loops::all_targets();
}

const VesselRows& vessel_rows() {
  static const VesselRows loops = loops_in_use(all_vessel_rows());
  return loops;
}

}  // namespace equalux
#endif  // HWY_ONCE
