#include "cpu/convolve_rows.h"

#include <algorithm>
#include <array>

#include "cpu/fused_rows.h"
#include "cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/convolve_rows.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // compiles this file once for each target
#include <hwy/highway.h>

#include "cpu/convolve_rows-inl.h"

#if HWY_ONCE
namespace equalux {
namespace convolution {

HWY_EXPORT(target_convolve_kernels);

std::vector<ConvolveKernels> all_targets() {
  std::vector<ConvolveKernels> list;
  for_each_simd_target(HWY_TARGETS, [&list] {
    const ConvolveKernels kernels = HWY_DYNAMIC_DISPATCH(target_convolve_kernels)();
    if (kernels.target != scalar_convolve_kernels().target) list.push_back(kernels);
  });
  list.push_back(scalar_convolve_kernels());
  return list;
}

}  // namespace convolution

std::vector<ConvolveKernels> all_convolve_kernels() {
  return convolution::all_targets();
}

const ConvolveKernels& convolve_kernels() {
  static const ConvolveKernels kernels = [] {
    const std::vector<ConvolveKernels> list = all_convolve_kernels();
    return *std::find_if(list.begin(), list.end() - 1, [](const ConvolveKernels& each) {
      return each.target == row_kernels().target;
    });
  }();
  return kernels;
}

}  // namespace equalux
#endif  // HWY_ONCE
