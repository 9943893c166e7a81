#include "src/cpu/equalize/space/hue_rows.h"

#include <algorithm>

#include "src/cpu/common/simd_targets.h"
#include "src/equalize/space.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cpu/equalize/space/hue_rows.cpp"
// clang-format off
#include <hwy/foreach_target.h>  // compiles this file once for each target
#include <hwy/highway.h>
// clang-format on

#include "src/cpu/equalize/space/hue_rows-inl.h"

#if HWY_ONCE
namespace equalux {
namespace hue_rows {

HWY_EXPORT(target_hue_kernels);

void map(float* red, float* green, float* blue, const float* gain, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const LinearRgb mapped = at_same_hue({red[i], green[i], blue[i]}, gain[i]);
    red[i] = static_cast<float>(rounded_light(mapped.red));
    green[i] = static_cast<float>(rounded_light(mapped.green));
    blue[i] = static_cast<float>(rounded_light(mapped.blue));
  }
}

std::vector<HueKernels> all_kernels() {
  return kernels_of_targets([] { return HWY_DYNAMIC_DISPATCH(target_hue_kernels)(); },
                            scalar_hue_kernels());
}

}  // namespace hue_rows

const HueKernels& scalar_hue_kernels() {
  static constexpr HueKernels kKernels{"scalar", hue_rows::map};
  return kKernels;
}

std::vector<HueKernels> all_hue_kernels() {
  return hue_rows::all_kernels();
}

const HueKernels& hue_kernels() {
  static const HueKernels kernels = kernels_in_use(all_hue_kernels());
  return kernels;
}

}  // namespace equalux
#endif  // HWY_ONCE
