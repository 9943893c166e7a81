#pragma once

#include <vector>

#include <equalux/image.h>
#include <equalux/params.h>

/// What saturation is tested on, on either backend.
namespace equalux::test {

/// Every format of colour, of YCbCr in both ranges.
inline std::vector<ImageDesc> colour_forms(int width, int height) {
  std::vector<ImageDesc> descs;
  for (int f = 0; f < kPixelFormatCount; ++f) {
    const auto format = static_cast<PixelFormat>(f);
    const ColorModel model = traits(format).model;
    if (model == ColorModel::rgb) descs.push_back({format, width, height});
    if (model != ColorModel::yuv) continue;
    for (const ColorRange range : {ColorRange::limited, ColorRange::full})
      descs.push_back({format, width, height,
                       range == ColorRange::full ? ColorMatrix::bt601 : ColorMatrix::bt709, range});
  }
  return descs;
}

/// Shapes of the curve: nearly the identity, and one that gets steep.
inline EqualizeParams shaped(double saturation, bool steep) {
  EqualizeParams params;
  params.saturation = saturation;
  if (!steep) {
    params.strength = 0;
  } else {
    params.clip_limit = 4;
    params.floor = 1;
    params.max_gain = 6;
  }
  return params;
}

}  // namespace equalux::test
