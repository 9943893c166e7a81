#pragma once

#include <cstdint>

#include <equalux/params.h>

#include "src/equalize/hue_math.h"
#include "src/equalize/tone/tone_limits.h"
#include "src/format/pixel_math.h"

/// Levels v of the spaces luma and lightness, and the effect of a curve over them on a channel, in
/// integers (hue_math.h aside), written once for host and device. docs/algorithm.md, "What is
/// equalized".
///
/// Luma of YUV runs in the chains of value, with weights of chroma that are 0. The tables here are
/// for packed RGB and gray of 8 bits.
namespace equalux {

/// Returns true where frames of a format can be equalized in a space.
constexpr bool space_takes(Space space, PixelFormat format) {
  const ColorModel model = traits(format).model;
  if (model == ColorModel::real) return false;
  if (space == Space::value) return true;
  if (space == Space::luma && model != ColorModel::rgb) return true;
  return has_byte_samples(format) && model != ColorModel::yuv;
}

/// Returns true where a space needs SpaceTables; else the chains of value do it with
/// space_weights().
constexpr bool space_needs_tables(Space space, PixelFormat format) {
  return space == Space::lightness ||
         (space == Space::luma && traits(format).model == ColorModel::rgb);
}

/// Weights by which v is computed from a YCbCr sample.
constexpr YuvWeights space_weights(Space space, const ImageDesc& desc) {
  YuvWeights k = yuv_weights(desc.matrix, desc.range);
  if (space == Space::luma) k.red_w = k.green_u = k.green_w = k.blue_u = 0;
  return k;
}

/// Weights of red, green and blue in luminance, ITU-R BT.709, times 2^16; they add up to 2^16.
struct LumaWeights {
  std::uint32_t red, green, blue;
};
inline constexpr LumaWeights kLumaWeights{13933, 46871, 4732};

/// Luma of an 8-bit RGB pixel.
EQUALUX_HD std::uint32_t rgb_luma(std::uint32_t red, std::uint32_t green, std::uint32_t blue) {
  return (kLumaWeights.red * red + kLumaWeights.green * green + kLumaWeights.blue * blue + 32768) >>
         16;
}

/// Step function from 16 to 8 bits, rising. `base` is the result at multiples of 16, between which
/// there is one step at most, so that a look-up and a comparison give any result.
struct SpaceSteps {
  std::uint32_t from[257];  ///< first argument of each result
  std::uint8_t base[4096];

  EQUALUX_HD std::uint32_t at(std::uint32_t x) const {
    const std::uint32_t low = base[x >> 4];
    return low + (x >= from[low + 1] ? 1U : 0U);
  }
};

/// Tables of luma or lightness; too large for a device's stack.
struct SpaceTables {
  std::uint32_t part[3][256];  ///< code times weight: contribution to luminance, times 2^16
  std::uint16_t light[256];    ///< linear light of each code, 0 to 2^16 - 1
  SpaceSteps levels;           ///< luminance to lightness
  SpaceSteps codes;            ///< linear light to sRGB code
};

/// Makes the tables of `space`, luma or lightness.
[[nodiscard]] SpaceTables make_space_tables(Space space);

/// v of a pixel, 0 to 255.
EQUALUX_HD std::uint32_t space_level(Space space, const SpaceTables& tables, std::uint32_t red,
                                     std::uint32_t green, std::uint32_t blue) {
  const std::uint32_t luminance =
      (tables.part[0][red] + tables.part[1][green] + tables.part[2][blue] + 32768) >> 16;
  return space == Space::luma ? luminance : tables.levels.at(luminance);
}

/// Luminance of L* = 100 W / (255 2^22), times 2^30: t^3 with t = (L* + 16) / 116, and linear with
/// slope 27 / 24389 below L* = 8.
EQUALUX_HD std::uint64_t luminance_of(std::uint64_t curve) {
  constexpr std::uint64_t kOneLevel = std::uint64_t{1} << tone::kCurveBits;
  if (100 * curve <= 8 * 255 * kOneLevel) return curve * 2700 * 256 / (255 * 24389);
  const std::uint64_t t = ((100 * curve + 16 * 255 * kOneLevel) << 8) / (116 * 255);
  return ((t * t >> 30) * t) >> 30;
}

/// Fractional bits of a gain of linear light.
inline constexpr int kLightBits = 20;

/// Gain of the channels of a pixel of level v, where the curve is W there; 1 for black. Luma:
/// gain_48(); lightness: a gain of linear light.
EQUALUX_HD std::uint64_t space_gain(Space space, std::uint32_t v, std::uint32_t curve) {
  if (space == Space::luma) return gain_48(tone::gain_fraction(v, curve));
  if (v == 0) return std::uint64_t{1} << kLightBits;
  const std::uint64_t before = luminance_of(tone::unchanged(v));
  return ((luminance_of(curve) << kLightBits) + before / 2) / before;
}

/// Linear light times a gain, not yet saturated; below 2^28.
EQUALUX_HD std::uint32_t scaled_light(std::uint32_t light, std::uint64_t gain) {
  constexpr std::uint64_t kHalf = std::uint64_t{1} << (kLightBits - 1);
  return static_cast<std::uint32_t>((light * gain + kHalf) >> kLightBits);
}

/// Code times a gain, saturated at 255. The product is at most 255 times 255 2^48 and fits in 64
/// bits.
EQUALUX_HD std::uint8_t space_scaled(Space space, const SpaceTables& tables, std::uint32_t code,
                                     std::uint64_t gain) {
  if (space == Space::luma) {
    const auto scaled = scale_exact(static_cast<std::int32_t>(code), gain);
    return static_cast<std::uint8_t>(scaled < 255 ? scaled : 255);
  }
  const std::uint32_t light = scaled_light(tables.light[code], gain);
  return static_cast<std::uint8_t>(tables.codes.at(light < 65535 ? light : 65535));
}

/// Codes of a pixel's channels.
struct SpacePixel {
  std::uint32_t red, green, blue;
};

/// Range of codes in which the channels of a pixel can be scaled independently.
struct SpaceCodes {
  std::uint8_t least, most;
};

/// Luma: all codes, saturating at 255. Lightness: up to white, and from where CIE's cube roots
/// begin, as scaled light keeps its hue there; in the linear part below, L*a*b* gives another hue.
EQUALUX_HD SpaceCodes space_codes(Space space, const SpaceTables& tables, std::uint64_t gain) {
  constexpr auto kRoots = static_cast<std::uint32_t>(65535 * kRootFrom) + 1;
  SpaceCodes codes{0, 255};
  if (space == Space::luma || gain == std::uint64_t{1} << kLightBits) return codes;
  while (codes.least < 255 && (tables.light[codes.least] < kRoots ||
                               scaled_light(tables.light[codes.least], gain) < kRoots)) {
    ++codes.least;
  }
  while (codes.most > 0 && scaled_light(tables.light[codes.most], gain) > 65535)
    --codes.most;
  return codes;
}

EQUALUX_HD bool space_scales(const SpaceCodes& codes, const SpacePixel& pixel) {
  const std::uint32_t high = pixel.red > pixel.green ? pixel.red : pixel.green;
  const std::uint32_t low = pixel.red < pixel.green ? pixel.red : pixel.green;
  return (low < pixel.blue ? low : pixel.blue) >= codes.least &&
         (high > pixel.blue ? high : pixel.blue) <= codes.most;
}

/// Linear light of a code, 0 to 1.
EQUALUX_HD float light_of_code(const SpaceTables& tables, std::uint32_t code) {
  return static_cast<float>(tables.light[code]) * (1.0F / 65535.0F);
}

/// Gain of linear light as a float.
EQUALUX_HD float light_gain(std::uint64_t gain) {
  return static_cast<float>(gain) * (1.0F / (1 << kLightBits));
}

/// Linear light, saturated to 0 to 1, in 16 bits.
EQUALUX_HD std::uint32_t rounded_light(float light) {
  const float within = light > 0.0F ? (light < 1.0F ? light : 1.0F) : 0.0F;
  return static_cast<std::uint32_t>(within * 65535.0F + 0.5F);
}

/// sRGB code of linear light, saturated.
EQUALUX_HD std::uint32_t code_of_light(const SpaceTables& tables, float light) {
  return tables.codes.at(rounded_light(light));
}

/// Pixel outside space_codes(), changed in lightness at constant hue. Gray stays gray.
EQUALUX_HD SpacePixel space_at_same_hue(const SpaceTables& tables, const SpacePixel& pixel,
                                        std::uint64_t gain) {
  if (pixel.red == pixel.green && pixel.green == pixel.blue) {
    const std::uint32_t gray = space_scaled(Space::lightness, tables, pixel.red, gain);
    return {gray, gray, gray};
  }
  const LinearRgb light{light_of_code(tables, pixel.red), light_of_code(tables, pixel.green),
                        light_of_code(tables, pixel.blue)};
  const LinearRgb result = at_same_hue(light, light_gain(gain));
  return {code_of_light(tables, result.red), code_of_light(tables, result.green),
          code_of_light(tables, result.blue)};
}

}  // namespace equalux
