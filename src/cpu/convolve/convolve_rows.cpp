#include "src/cpu/convolve/convolve_rows.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "src/cpu/common/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cpu/convolve/convolve_rows.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // compiles this file once for each target

#include "src/cpu/common/highway-inl.h"
#include "src/cpu/convolve/convolve_rows-inl.h"

#if HWY_ONCE
namespace equalux {
namespace convolution {

HWY_EXPORT(target_convolve_rows);

std::vector<ConvolveRows> all_targets() {
  return loops_of_targets([] { return HWY_DYNAMIC_DISPATCH(target_convolve_rows)(); },
                          scalar_convolve_rows());
}

}  // namespace convolution

std::vector<ConvolveRows> all_convolve_rows() {
  return convolution::all_targets();
}

const ConvolveRows& convolve_rows() {
  static const ConvolveRows loops = loops_in_use(all_convolve_rows());
  return loops;
}

}  // namespace equalux
#endif  // HWY_ONCE
