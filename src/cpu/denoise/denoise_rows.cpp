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
EQUALUX_DEFINE_LOOPS(equalux::denoise, equalux::denoise, DenoiseRows, denoise_rows)
#endif
