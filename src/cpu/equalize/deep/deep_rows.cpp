#include "src/cpu/equalize/deep/deep_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "src/common/with_constant.h"
#include "src/cpu/common/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cpu/equalize/deep/deep_rows.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // compiles this file once for each target
#include <hwy/highway.h>

#include "src/cpu/equalize/deep/deep_rows-inl.h"

#if HWY_ONCE
namespace equalux {

namespace deep_rows {

HWY_EXPORT(target_deep_kernels);

std::vector<DeepRowKernels> all_kernels() {
  return kernels_of_targets([] { return HWY_DYNAMIC_DISPATCH(target_deep_kernels)(); },
                            scalar_deep_kernels());
}

}  // namespace deep_rows

std::vector<DeepRowKernels> all_deep_kernels() {
  return deep_rows::all_kernels();
}

const DeepRowKernels& deep_kernels() {
  static const DeepRowKernels kernels = kernels_in_use(all_deep_kernels());
  return kernels;
}

}  // namespace equalux
#endif  // HWY_ONCE
