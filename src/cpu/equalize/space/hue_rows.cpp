#include "src/cpu/equalize/space/hue_rows.h"

#include <algorithm>

#include "src/cpu/common/simd_targets.h"
#include "src/equalize/space.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cpu/equalize/space/hue_rows.cpp"
// clang-format off
#include <hwy/foreach_target.h>  // compiles this file once for each target
#include "src/cpu/common/highway-inl.h"
// clang-format on

#include "src/cpu/equalize/space/hue_rows-inl.h"

#if HWY_ONCE
namespace equalux {
namespace hue_loops {

void map(float* red, float* green, float* blue, const float* gain, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const LinearRgb mapped = at_same_hue({red[i], green[i], blue[i]}, gain[i]);
    red[i] = static_cast<float>(rounded_light(mapped.red));
    green[i] = static_cast<float>(rounded_light(mapped.green));
    blue[i] = static_cast<float>(rounded_light(mapped.blue));
  }
}

}  // namespace hue_loops

const HueRows& scalar_hue_rows() {
  static constexpr HueRows kLoops{"scalar", hue_loops::map};
  return kLoops;
}

}  // namespace equalux

EQUALUX_DEFINE_LOOPS(equalux, equalux::hue_loops, HueRows, hue_rows)
#endif  // HWY_ONCE
