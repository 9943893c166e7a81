#include "src/cpu/hessian/vessel_rows.h"

#include <cstring>

#include "src/cpu/common/simd_targets.h"
#include "src/hessian/vessel_math.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cpu/hessian/vessel_rows.cpp"
// clang-format off
#include <hwy/foreach_target.h>  // compiles this file once for each target
#include <hwy/cache_control.h>
#include <hwy/highway.h>
// clang-format on

#include "src/cpu/hessian/vessel_rows-inl.h"

#if HWY_ONCE
namespace equalux {
namespace vessel_rows {

HWY_EXPORT(target_vessel_kernels);

std::vector<VesselKernels> all_kernels() {
  return kernels_of_targets([] { return HWY_DYNAMIC_DISPATCH(target_vessel_kernels)(); },
                            scalar_vessel_kernels());
}

}  // namespace vessel_rows

std::vector<VesselKernels> all_vessel_kernels() {
  return vessel_rows::all_kernels();
}

const VesselKernels& vessel_kernels() {
  static const VesselKernels kernels = kernels_in_use(all_vessel_kernels());
  return kernels;
}

}  // namespace equalux
#endif  // HWY_ONCE
