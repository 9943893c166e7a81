// What the SIMD bodies of deep_rows.h share, and below it the bodies by pass; included once for
// each target.
//
// Words become numbers in double precision by shifting and masking 64-bit lanes, not by unpacking:
// vector k of four holds the words k, 4 + k, 8 + k ... of a vector. No step needs the lanes in
// another order, pixels that share a chroma sample meet in the same lane of neighbouring vectors,
// and so do Cb and Cr of a pair.
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

/// A target without vectors of double precision is served by the plain C++ loops.
DeepRows target_deep_rows() {
  return scalar_deep_rows();
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux::deep_loops
HWY_AFTER_NAMESPACE();

#else

// Each builds on those before.
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
