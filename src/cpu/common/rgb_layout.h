#pragma once

#include <equalux/image.h>

/// Where the channels of a packed pixel lie.
namespace equalux {

/// Byte offsets within a pixel of `step` bytes; alpha is -1 where there is no fourth byte. In
/// gray8 all channels are the one byte.
struct RgbLayout {
  int r;
  int g;
  int b;
  int alpha;
  int step;
};

[[nodiscard]] constexpr RgbLayout rgb_layout(PixelFormat format) {
  const FormatTraits& t = traits(format);
  const int step = t.step[0];
  if (t.model == ColorModel::gray) return {0, 0, 0, -1, step};
  const int first = t.color_offset;
  switch (format) {
    case PixelFormat::bgr:
    case PixelFormat::bgrx:
    case PixelFormat::xbgr:
    case PixelFormat::bgra:
    case PixelFormat::abgr:
      return {first + 2, first + 1, first, t.alpha_offset, step};
    default:
      return {first, first + 1, first + 2, t.alpha_offset, step};
  }
}

}  // namespace equalux
