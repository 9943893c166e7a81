#include "src/cpu/hessian/hessian_rows.h"

#include <cstring>

#include "src/cpu/common/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cpu/hessian/hessian_rows.cpp"
// clang-format off
#include <hwy/foreach_target.h>  // compiles this file once for each target
#include <hwy/cache_control.h>
#include "src/cpu/common/highway-inl.h"
// clang-format on

#include "src/cpu/hessian/hessian_rows-inl.h"

#if HWY_ONCE
EQUALUX_DEFINE_LOOPS(equalux, equalux::hessian_loops, HessianRows, hessian_rows)
#endif
