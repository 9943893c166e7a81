#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <equalux/image.h>
#include <equalux/params.h>

#include "src/format/layout.h"
#include "tests/equalize/saturation/saturation_definition.h"
#include "tests/support/drawn_params.h"
#include "tests/support/media/moving_frames.h"

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
  EqualizeParams params = drawn_curve(random);
  params.temporal_ms = random() % 2 == 0 ? 0 : drawn_between(random, 20, 5000);
  params.saturation = random() % 2 == 0 ? kAutoSaturation : drawn_between(random, 0, 4);
  if (params.saturation == kAutoSaturation) params.saturation_max = drawn_between(random, 1, 4);
  return params;
}

/// A frame of any form of colour, of 300 x 90 at most.
inline ImageDesc drawn_form(std::mt19937& random) {
  const auto width = static_cast<int>(1 + random() % 300);
  const auto height = static_cast<int>(1 + random() % 90);
  const std::vector<ImageDesc> forms = colour_forms(width, height);
  return forms[random() % forms.size()];
}

/// Each component within a band of its own, luma about black often: so that there are frames of
/// which all or no pixels are black, pale or strong. Every third is fill_moving()'s.
inline void fill_bands(const ImageView& view, int number, std::uint32_t seed) {
  if (number % 3 == 0) return fill_moving(view, number, seed);
  std::mt19937 random(seed * 1000 + static_cast<std::uint32_t>(number));
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random()) % end; };
  const FormatTraits& t = traits(view.desc.format);
  const std::uint32_t unit = 1U << (t.depth - 8);
  for (int component = 0; component < 3; ++component) {
    const bool chroma = t.model == ColorModel::yuv && component > 0;
    std::uint32_t least = below(2) == 0 ? below(30) : below(256);
    if (chroma) least = 96 + below(50);
    const std::uint32_t spread = 1 + below(below(2) == 0 ? 8 : 60);
    const auto samples = samples_of(view, component);
    for (int y = 0; y < samples.rows; ++y) {
      for (int x = 0; x < samples.columns; ++x) {
        const std::uint32_t code = least * unit + below(spread * unit);
        put(view, component, x, y, std::min(code, 256 * unit - 1));
      }
    }
  }
}

}  // namespace equalux::test
