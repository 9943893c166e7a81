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
EQUALUX_DEFINE_LOOPS(equalux, equalux::deep_loops, DeepRows, deep_rows)
#endif
