#include "src/cpu/equalize/fused/fused_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "src/clahe/tile_curves.h"
#include "src/cpu/common/simd_targets.h"
#include "src/cpu/equalize/saturated_rows.h"
#include "src/equalize/space.h"
#include "src/equalize/tone_curve.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cpu/equalize/fused/fused_rows.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // compiles this file once for each target
#include <hwy/highway.h>

#include "src/cpu/equalize/fused/fused_rows-inl.h"

#if HWY_ONCE
namespace equalux {

HWY_EXPORT(target_fused_rows);

std::vector<FusedRows> all_fused_rows() {
  return loops_of_targets([] { return HWY_DYNAMIC_DISPATCH(target_fused_rows)(); },
                          scalar_fused_rows());
}

const FusedRows& fused_rows() {
  static const FusedRows loops = loops_in_use(all_fused_rows());
  return loops;
}

}  // namespace equalux
#endif  // HWY_ONCE
