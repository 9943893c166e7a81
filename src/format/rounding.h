#pragma once

#include <optional>

#include <equalux/filter.h>

#include "src/format/pixel_math.h"

/// Fractions of levels between two filters, and their final rounding to a frame's levels, for host
/// and device. docs/algorithm.md, "Fractions of levels", has the formulas.
namespace equalux {

/// Format with fractions for the levels of `format`: 12 bits; for packed RGB and gray 16-bit words
/// with the value in the high bits. Sampling, components and order of samples stay, except for
/// packed 4:2:2, which becomes planar. Nothing where there is no such format.
[[nodiscard]] constexpr std::optional<PixelFormat> format_with_fractions(PixelFormat format) {
  switch (format) {
    case PixelFormat::gray8:
      return PixelFormat::gray16_le;
    case PixelFormat::rgb:
      return PixelFormat::rgb48_le;
    case PixelFormat::bgr:
      return PixelFormat::bgr48_le;
    case PixelFormat::rgbx:
    case PixelFormat::rgba:
      return PixelFormat::rgba64_le;
    case PixelFormat::bgrx:
    case PixelFormat::bgra:
      return PixelFormat::bgra64_le;
    case PixelFormat::xrgb:
    case PixelFormat::argb:
      return PixelFormat::argb64_le;
    case PixelFormat::xbgr:
    case PixelFormat::abgr:
      return PixelFormat::abgr64_le;
    case PixelFormat::nv12:
      return PixelFormat::p012_le;
    case PixelFormat::i420:
      return PixelFormat::i420_12le;
    case PixelFormat::yuy2:
    case PixelFormat::uyvy:
    case PixelFormat::y42b:
      return PixelFormat::i422_12le;
    case PixelFormat::y444:
      return PixelFormat::y444_12le;
    default:
      return std::nullopt;
  }
}

/// Desc of a stream's frames with fractions, for formats that have them.
[[nodiscard]] constexpr ImageDesc desc_with_fractions(ImageDesc desc) {
  desc.format = *format_with_fractions(desc.format);
  return desc;
}

/// Entry, 0 to 63, for column x and row y of the 8 x 8 Bayer matrix.
EQUALUX_HD constexpr int dither_number(int x, int y) {
  int number = 0;
  for (int bit = 0; bit < 3; ++bit)
    number = 4 * number + 2 * (((x ^ y) >> bit) & 1) + ((y >> bit) & 1);
  return number;
}

/// Threshold that is added to a value with `bits` fractional bits before these are cut off.
EQUALUX_HD constexpr int rounding_threshold(Dither dither, int x, int y, int bits) {
  if (dither == Dither::none) return (1 << bits) >> 1;
  return ((2 * dither_number(x, y) + 1) << bits) >> 7;
}

/// Value rounded to its level, saturating at 255: white has no fractions above it.
EQUALUX_HD constexpr int rounded_level(int value, int threshold, int bits) {
  const int level = (value + threshold) >> bits;
  return level < 255 ? level : 255;
}

}  // namespace equalux
