#include "src/cpu/clahe/deep_tile_rows.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "src/common/with_constant.h"
#include "src/cpu/common/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cpu/clahe/deep_tile_rows.cpp"
// clang-format off
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // compiles this file once for each target
#include "src/cpu/common/highway-inl.h"
// clang-format on

#include "src/cpu/clahe/deep_tile_rows-inl.h"

#if HWY_ONCE
namespace equalux {

namespace deep_tile_loops {

HWY_EXPORT(target_deep_tile_rows);

std::vector<DeepTileRows> all_targets() {
  return loops_of_targets([] { return HWY_DYNAMIC_DISPATCH(target_deep_tile_rows)(); },
                          scalar_deep_tile_rows());
}

}  // namespace deep_tile_loops

std::vector<DeepTileRows> all_deep_tile_rows() {
  return deep_tile_loops::all_targets();
}

const DeepTileRows& deep_tile_rows() {
  static const DeepTileRows loops = loops_in_use(all_deep_tile_rows());
  return loops;
}

}  // namespace equalux
#endif  // HWY_ONCE
