#pragma once

#include "src/common/with_constant.h"
#include "src/format/layout.h"

/// Template arguments of kernels, chosen at run time by with_constant().
namespace equalux::cuda {

/// Calls f with the number of pixels that a thread has in flight as a constant.
template <typename F>
auto with_pixels_in_flight(int pixels, F f) {
  return with_constant<1, 2, 4, 8>(pixels, f);
}

/// Calls f with the bytes of a packed pixel as a constant.
template <typename F>
auto with_step(int step, F f) {
  return with_constant<1, 3, 4>(step, f);
}

/// Calls f with the 8-bit format that has the sample layout of `format` as a constant; see
/// any_colour_order().
template <typename F>
auto with_byte_format(PixelFormat format, F f) {
  using enum PixelFormat;
  return with_constant<gray8, rgb, rgbx, xrgb, nv12, i420, yuy2, uyvy, y42b, y444>(
      any_colour_order(format), f);
}

}  // namespace equalux::cuda
