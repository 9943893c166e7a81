#include "src/cpu/equalize/deep/deep_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "src/common/with_constant.h"
#include "src/cpu/common/simd_targets.h"
#include "src/cpu/equalize/saturated_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cpu/equalize/deep/deep_rows.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // compiles this file once for each target

#include "src/cpu/common/highway-inl.h"
#include "src/cpu/equalize/deep/deep_rows-inl.h"

#if HWY_ONCE
namespace equalux {

namespace deep_loops {

HWY_EXPORT(target_deep_rows);

std::vector<DeepRows> all_targets() {
  return loops_of_targets([] { return HWY_DYNAMIC_DISPATCH(target_deep_rows)(); },
                          scalar_deep_rows());
}

}  // namespace deep_loops

std::vector<DeepRows> all_deep_rows() {
  return deep_loops::all_targets();
}

const DeepRows& deep_rows() {
  static const DeepRows loops = loops_in_use(all_deep_rows());
  return loops;
}

}  // namespace equalux
#endif  // HWY_ONCE
