#pragma once

#include "src/common/with_constant.h"
#include "src/format/layout.h"

/// with_constant() of what launches ask for.
namespace equalux::cuda {

/// Of the pixels that a thread has in flight.
template <typename F>
auto with_pixels_in_flight(int pixels, F f) {
  return with_constant<1, 2, 4, 8>(pixels, f);
}

/// Of the bytes of a packed pixel.
template <typename F>
auto with_step(int step, F f) {
  return with_constant<1, 3, 4>(step, f);
}

/// Of an 8-bit format whose samples lie as those of `format`; see any_colour_order().
template <typename F>
auto with_byte_format(PixelFormat format, F f) {
  using enum PixelFormat;
  return with_constant<gray8, rgb, rgbx, xrgb, nv12, i420, yuy2, uyvy, y42b, y444>(
      any_colour_order(format), f);
}

}  // namespace equalux::cuda
