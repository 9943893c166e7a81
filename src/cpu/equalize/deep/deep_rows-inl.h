// Common part of the SIMD bodies of deep_rows.h, and includes of the bodies by pass; included once
// for each target.
//
// Lane layout: double vector k of four holds words k, 4 + k, 8 + k ... of a word vector. Words
// become doubles by shifts and masks in 64-bit lanes instead of unpacking, so that no step permutes
// lanes; pixels that share a chroma sample, and Cb and Cr of a pair, are in the same lane of
// neighbouring vectors.
#if defined(EQUALUX_DEEP_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_DEEP_ROWS_INL_H
#undef EQUALUX_DEEP_ROWS_INL_H
#else
#define EQUALUX_DEEP_ROWS_INL_H
#endif

#if !HWY_HAVE_FLOAT64 || HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

HWY_BEFORE_NAMESPACE();
namespace equalux::deep_loops {
namespace HWY_NAMESPACE {

/// Plain C++ loops for targets without vectors of double precision.
DeepRows target_deep_rows() {
  return scalar_deep_rows();
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux::deep_loops
HWY_AFTER_NAMESPACE();

#else

// Order matters: each header uses those before it.
// clang-format off
#include "src/cpu/equalize/deep/deep_vectors-inl.h"
#include "src/cpu/equalize/deep/deep_values-inl.h"
#include "src/cpu/equalize/deep/deep_count-inl.h"
#include "src/cpu/equalize/deep/deep_curve-inl.h"
#include "src/cpu/equalize/deep/deep_apply-inl.h"
#include "src/cpu/equalize/deep/deep_saturate-inl.h"
#include "src/cpu/equalize/deep/deep_saturate_rgb-inl.h"
#include "src/cpu/equalize/deep/deep_saturate_yuv-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equalux::deep_loops {
namespace HWY_NAMESPACE {

DeepRows target_deep_rows() {
  return {hwy::TargetName(HWY_TARGET),
          count_gray,
          count_rgb,
          count_yuv,
          curve_levels,
          make_scaled_gains,
          apply_gray,
          apply_rgb,
          apply_yuv,
          saturate_rgb,
          saturate_yuv,
          flush_stores};
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux::deep_loops
HWY_AFTER_NAMESPACE();

#endif  // vectors
#endif  // include guard
