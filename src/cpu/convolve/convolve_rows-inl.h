// SIMD bodies of convolve_rows.h; included once for each target. The namespace is separate, as
// fused_rows-inl.h has vectors of the same names.
#if defined(EQUALUX_CONVOLVE_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUALUX_CONVOLVE_ROWS_INL_H
#undef EQUALUX_CONVOLVE_ROWS_INL_H
#else
#define EQUALUX_CONVOLVE_ROWS_INL_H
#endif

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

HWY_BEFORE_NAMESPACE();
namespace equalux::convolution {
namespace HWY_NAMESPACE {

/// Plain C++ loops for targets without vectors.
ConvolveRows target_convolve_rows() {
  return scalar_convolve_rows();
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux::convolution
HWY_AFTER_NAMESPACE();

#else

// Order matters: each header uses those before it.
// clang-format off
#include "src/cpu/convolve/convolve_lanes-inl.h"
#include "src/cpu/convolve/convolve_taps-inl.h"
#include "src/cpu/convolve/convolve_gaussian-inl.h"
#include "src/cpu/convolve/convolve_box-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equalux::convolution {
namespace HWY_NAMESPACE {

void flush_stores() {
  hwy::FlushStream();
}

ConvolveRows target_convolve_rows() {
  return {hwy::TargetName(HWY_TARGET),
          short_taps,
          long_taps,
          weigh_row,
          weigh_columns,
          box_row,
          box_columns,
          flush_stores};
}

}  // namespace HWY_NAMESPACE
}  // namespace equalux::convolution
HWY_AFTER_NAMESPACE();

#endif  // vectors
#endif  // include guard
