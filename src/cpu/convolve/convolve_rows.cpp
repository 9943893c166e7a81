#include "src/cpu/convolve/convolve_rows.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "src/cpu/common/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cpu/convolve/convolve_rows.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // compiles this file once for each target

#include "src/cpu/common/highway-inl.h"
#include "src/cpu/convolve/convolve_rows-inl.h"

#if HWY_ONCE
EQUALUX_DEFINE_LOOPS(equalux, equalux::convolution, ConvolveRows, convolve_rows)
#endif
