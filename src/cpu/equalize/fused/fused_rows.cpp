#define EQUALUX_USES_VBMI
#include "src/cpu/equalize/fused/fused_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "src/clahe/tile_curves.h"
#include "src/cpu/common/simd_targets.h"
#include "src/cpu/equalize/fused/saturate/fused_saturate.h"
#include "src/equalize/space.h"
#include "src/equalize/tone/tone_curve.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cpu/equalize/fused/fused_rows.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // compiles this file once for each target

#include "src/cpu/common/highway-inl.h"

// Order matters: each header uses those before it.
// clang-format off
#include "src/cpu/equalize/fused/fused_rows-inl.h"
#if EQUALUX_HAS_VECTORS
#include "src/cpu/equalize/fused/fused_yuv-inl.h"
#include "src/cpu/equalize/fused/fused_count-inl.h"
#include "src/cpu/equalize/fused/fused_apply-inl.h"
#include "src/cpu/equalize/fused/fused_fixed-inl.h"
#include "src/cpu/equalize/fused/fused_luma-inl.h"
#include "src/cpu/equalize/fused/fused_yuv_apply-inl.h"
#include "src/cpu/clahe/tile_apply-inl.h"
#endif
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equalux {
namespace HWY_NAMESPACE {

#if EQUALUX_HAS_VECTORS
SaturatingRgbRows saturating_rgb_rows();            // of fused_saturate_rgb.cpp
SaturateYuvRow saturate_420_row;                    // of fused_saturate_420.cpp
SaturateYuvRow saturate_422_row, saturate_444_row;  // of fused_saturate_422_444.cpp

void saturate_yuv_row(const SaturatedGains& gains, const std::uint64_t* gain48, Sampling sampling,
                      const YuvWeights& k, Stores stores, const YuvRowIn& in, std::size_t n,
                      const YuvRowOut& out) {
  switch (sampling) {
    case Sampling::s420:
      return saturate_420_row(gains, gain48, k, stores, in, n, out);
    case Sampling::s422:
      return saturate_422_row(gains, gain48, k, stores, in, n, out);
    default:
      return saturate_444_row(gains, gain48, k, stores, in, n, out);
  }
}

FusedRows target_fused_rows() {
  const SaturatingRgbRows saturate = saturating_rgb_rows();
  return {hwy::TargetName(HWY_TARGET),
          count_gray,
          count_rgb3,
          count_rgb4,
          count_luma,
          count_yuv,
          fold,
          apply_gray,
          apply_rgb3,
          apply_rgb4,
          apply_luma,
          apply_yuv,
          saturate.row,
          saturate_yuv_row,
          flush_stores,
          first_parted,
          saturate.exactly,
          saturate.word_range,
          saturate.word_lines,
          saturate.word_gains_step,
          split,
          merge,
          tile_rows()};
}
#else
FusedRows target_fused_rows() {
  return scalar_fused_rows();
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace equalux
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
EQUALUX_DEFINE_LOOPS(equalux, equalux, FusedRows, fused_rows)
#endif
