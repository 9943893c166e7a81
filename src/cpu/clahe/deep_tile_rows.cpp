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
EQUALUX_DEFINE_LOOPS(equalux, equalux::deep_tile_loops, DeepTileRows, deep_tile_rows)
#endif
