// Loops of fused_rows.h for the saturation of packed RGB. A file of its own, to compile beside the
// others.
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
#define HWY_TARGET_INCLUDE "src/cpu/equalize/fused/saturate/fused_saturate_rgb.cpp"
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
#include "src/cpu/equalize/fused/saturate/fused_saturate-inl.h"
#include "src/cpu/equalize/fused/saturate/fused_saturate_lines-inl.h"
#include "src/cpu/equalize/fused/saturate/fused_saturate_words-inl.h"
#include "src/cpu/equalize/fused/saturate/fused_saturate_rgb-inl.h"
#include "src/cpu/equalize/fused/saturate/fused_saturate_levels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace equalux {
namespace HWY_NAMESPACE {

SaturatingRgbRows saturating_rgb_rows() {
  constexpr WordLines kLines = EQUALUX_VBMI               ? WordLines::of_levels
                               : EQUALUX_SATURATED_LINES ? WordLines::always
                                                         : WordLines::never;
  return {saturate_rgb_row, saturates_exactly, word_range, kLines,
          EQUALUX_SATURATED_WORDS != 0 ? 3 : 0};
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();
#endif
// clang-format on
