#include "cpu/vessel_rows.h"

#include <cstring>

#include "cpu/fused_rows.h"
#include "vessel_math.h"

// As in fused_rows.cpp, so that all families know the same targets.
#define HWY_WANT_AVX3_DL 1
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vessel_rows.cpp"
// clang-format off
#include <hwy/foreach_target.h>  // compiles this file once for each target
#include <hwy/cache_control.h>
#include <hwy/highway.h>
// clang-format on

#include "cpu/vessel_rows-inl.h"

#if HWY_ONCE
#include "cpu/simd_targets.h"  // after foreach_target.h, as all of Highway

namespace equalux {
namespace vessel_rows {

HWY_EXPORT(target_vessel_kernels);

std::vector<VesselKernels> all_kernels() {
  std::vector<VesselKernels> list;
  for_each_simd_target(HWY_TARGETS, [&] {
    const VesselKernels kernels = HWY_DYNAMIC_DISPATCH(target_vessel_kernels)();
    // Targets without fma are served by plain C++, which comes last.
    if (kernels.target != scalar_vessel_kernels().target) list.push_back(kernels);
  });
  list.push_back(scalar_vessel_kernels());
  return list;
}

}  // namespace vessel_rows

std::vector<VesselKernels> all_vessel_kernels() {
  return vessel_rows::all_kernels();
}

const VesselKernels& vessel_kernels() {
  static const VesselKernels kernels = [] {
    for (const VesselKernels& each : all_vessel_kernels()) {
      if (each.target == row_kernels().target) return each;
    }
    return scalar_vessel_kernels();
  }();
  return kernels;
}

}  // namespace equalux
#endif  // HWY_ONCE
