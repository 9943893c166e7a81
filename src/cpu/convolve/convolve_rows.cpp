#include "src/cpu/convolve/convolve_rows.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "src/cpu/common/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cpu/convolve/convolve_rows.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // compiles this file once for each target
#include <hwy/highway.h>

#include "src/cpu/convolve/convolve_rows-inl.h"

#if HWY_ONCE
namespace equalux {
namespace convolution {

HWY_EXPORT(target_convolve_kernels);

std::vector<ConvolveKernels> all_kernels() {
  return kernels_of_targets([] { return HWY_DYNAMIC_DISPATCH(target_convolve_kernels)(); },
                            scalar_convolve_kernels());
}

}  // namespace convolution

std::vector<ConvolveKernels> all_convolve_kernels() {
  return convolution::all_kernels();
}

const ConvolveKernels& convolve_kernels() {
  static const ConvolveKernels kernels = kernels_in_use(all_convolve_kernels());
  return kernels;
}

}  // namespace equalux
#endif  // HWY_ONCE
