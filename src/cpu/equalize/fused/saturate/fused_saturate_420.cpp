// Loops of fused_rows.h for the saturation of YCbCr of 4:2:0. A file of its own, to compile
// beside the others.
#define EQUALUX_USES_VBMI
#include <algorithm>
#include <cmath>
#include <cstring>

#include "src/cpu/common/simd_targets.h"
#include "src/cpu/equalize/fused/saturate/fused_saturate.h"
#include "src/cpu/equalize/saturated_rows.h"
#include "src/equalize/space.h"
#include "src/equalize/tone/tone_curve.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cpu/equalize/fused/saturate/fused_saturate_420.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // compiles this file once for each target

#include "src/cpu/common/highway-inl.h"

// Order matters: each header uses those before it.
// clang-format off
#include "src/cpu/equalize/fused/fused_rows-inl.h"
#if EQUALUX_HAS_VECTORS
#include "src/cpu/equalize/fused/fused_yuv-inl.h"
#include "src/cpu/equalize/fused/fused_apply-inl.h"
#include "src/cpu/equalize/fused/fused_fixed-inl.h"
#include "src/cpu/equalize/fused/fused_yuv_apply-inl.h"
#include "src/cpu/equalize/fused/saturate/fused_saturate-inl.h"
#include "src/cpu/equalize/fused/saturate/fused_saturate_yuv-inl.h"

HWY_BEFORE_NAMESPACE();
namespace equalux {
namespace HWY_NAMESPACE {

void saturate_420_row(const SaturatedGains& gains, const std::uint64_t* gain48,
                      const YuvWeights& k, Stores stores, const YuvRowIn& in, std::size_t n,
                      const YuvRowOut& out) {
  saturate_sampling<2, true>(gains, gain48, k, stores, in, n, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();
#endif
// clang-format on
