#define EQUALUX_USES_VBMI
#include "src/cpu/denoise/denoise_rows.h"

#include <cstring>
#include <type_traits>

#include "src/cpu/common/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cpu/denoise/denoise_rows.cpp"
// clang-format off
#include <hwy/foreach_target.h>  // compiles this file once for each target
#include <hwy/cache_control.h>
#include "src/cpu/common/highway-inl.h"
// clang-format on

#include "src/cpu/denoise/denoise_rows-inl.h"

#if HWY_ONCE
namespace equalux::denoise {

HWY_EXPORT(target_denoise_rows);

std::vector<DenoiseRows> all_denoise_rows() {
  return loops_of_targets([] { return HWY_DYNAMIC_DISPATCH(target_denoise_rows)(); },
                          scalar_denoise_rows());
}

const DenoiseRows& denoise_rows() {
  static const DenoiseRows rows = loops_in_use(all_denoise_rows());
  return rows;
}

}  // namespace equalux::denoise
#endif  // HWY_ONCE
