#pragma once

#include <cstdint>
#include <random>
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

/// Any curve that changes saturation, calm over time or not.
inline EqualizeParams drawn_params(std::mt19937& random) {
  const auto uniform = [&](double least, double most) {
    return std::uniform_real_distribution<>(least, most)(random);
  };
  EqualizeParams params;
  params.scaler = static_cast<Scaler>(random() % 3);
  params.strength = random() % 3 == 0 ? 1 : uniform(0, 1);
  params.clip_limit = random() % 3 == 0 ? 0 : uniform(1, 12);
  params.floor = random() % 2 == 0 ? 0 : uniform(0, 40);
  params.max_gain = random() % 2 == 0 ? 0 : uniform(1, 20);
  params.min_gain = random() % 2 == 0 ? 0 : uniform(0, 1);
  params.temporal_ms = random() % 2 == 0 ? 0 : uniform(20, 5000);
  params.saturation = random() % 2 == 0 ? kAutoSaturation : uniform(0, 4);
  if (params.saturation == kAutoSaturation) params.saturation_max = uniform(1, 4);
  return params;
}

/// A frame of any form of colour, of 300 x 90 at most.
inline ImageDesc drawn_form(std::mt19937& random) {
  const auto width = static_cast<int>(1 + random() % 300);
  const auto height = static_cast<int>(1 + random() % 90);
  const std::vector<ImageDesc> forms = colour_forms(width, height);
  return forms[random() % forms.size()];
}

}  // namespace equalux::test
