#pragma once

#include <cstdint>

#include <equalux/image.h>

#include "src/equalize/deep_curve.h"
#include "src/equalize/opencv_curve.h"
#include "src/equalize/tone_limits.h"
#include "src/format/pixel_math.h"

/// Arithmetic of tiles of more than 8 bits, from their curves to samples, written once for host and
/// device: whole numbers, then single precision rounded to nearest at each step, none fused.
/// docs/algorithm.md, "Tiles", has the formulas and what the steps keep.
namespace equalux::deep_tiles {

/// A coarse level of a tile's curve, and the whole of the weights of two tiles.
inline constexpr int kLevel = 256;
inline constexpr int kFullWeight = 256;
/// What a tile keeps of its curve: coarse levels 0 to 255.
inline constexpr int kLevels = 256;

/// What the arithmetic knows of a stream.
struct Form {
  DeepSamples samples;
  float to_levels;  ///< coarse levels a value
  float to_codes;   ///< values a unit of Reading's mix, 1 / (kLevel kFullWeight) coarse level
};

inline Form form_of(const ImageDesc& desc) {
  const DeepSamples samples = deep_samples(desc);
  const auto levels = static_cast<float>(coarse_max(samples));
  const auto values = static_cast<float>(samples.weights.luma_max);
  return {samples, levels / values, values / (levels * (kLevel * kFullWeight))};
}

/// What a tile keeps of its curve at a coarse level: W in 256ths of a level, 0 at black, which
/// stays black. At most 255 kLevel.
EQUALUX_HD std::uint32_t curve_level(std::uint32_t level, std::uint32_t curve) {
  constexpr int kDropped = tone::kCurveBits - 8;
  return level == 0 ? 0 : (curve + (1U << (kDropped - 1))) >> kDropped;
}

/// The mean of the tiles above and below, which has `below` of kFullWeight.
EQUALUX_HD std::uint32_t mix_rows(std::uint32_t above_level, std::uint32_t below_level,
                                  std::uint32_t below) {
  return (above_level * (kFullWeight - below) + below_level * below + kFullWeight / 2) /
         kFullWeight;
}

/// Where a value lies among the coarse levels: so far beyond `level`, 0 to below 1.
struct Place {
  std::int32_t level;
  float beyond;
};
EQUALUX_HD Place place_of(const Form& form, std::int32_t v) {
  const float place = static_cast<float>(v) * form.to_levels;
  const auto level = static_cast<std::int32_t>(place);
  return {level, place - static_cast<float>(level)};
}

/// mix_rows() of the tiles left and right, at the coarse level of a value and at the one behind it.
struct Corners {
  std::uint32_t left;
  std::uint32_t right;
  std::uint32_t left_next;
  std::uint32_t right_next;
};

/// What a value becomes, in values; the right tile has `of_right` of kFullWeight. Mixes are below
/// 2^24, and so are their differences: floats hold them. All steps keep the order of values.
EQUALUX_HD float value_of(const Form& form, const Corners& at, float beyond,
                          std::uint32_t of_right) {
  const auto mixed = [of_right](std::uint32_t left, std::uint32_t right) {
    return static_cast<std::int32_t>(left * (kFullWeight - of_right) + right * of_right);
  };
  const std::int32_t here = mixed(at.left, at.right);
  const std::int32_t more = mixed(at.left_next, at.right_next) - here;
  return (static_cast<float>(here) + beyond * static_cast<float>(more)) * form.to_codes;
}

/// What a value became over what it was; 1 for black.
EQUALUX_HD float gain_of(float value, std::int32_t v) {
#if defined(__CUDA_ARCH__)
  return v == 0 ? 1.0F : value * __frcp_rn(static_cast<float>(v));
#else
  return v == 0 ? 1.0F : value * (1.0F / static_cast<float>(v));
#endif
}

/// A channel, or luma less black, of a pixel whose value v becomes `value`. It is measured from v,
/// so that gray is what the curve says, whatever the gain was rounded to.
EQUALUX_HD std::int32_t scaled(std::int32_t c, std::int32_t v, float value, float gain) {
  return opencv::round_even(value + static_cast<float>(c - v) * gain);
}

/// A chroma code, `u` less the middle, by the mean of the gains of its luma.
EQUALUX_HD std::int32_t scaled_chroma(const DeepSamples& form, std::int32_t u, float mean) {
  const std::int32_t code = form.chroma_middle + opencv::round_even(static_cast<float>(u) * mean);
  return code < 0 ? 0 : (code > form.most ? form.most : code);
}

}  // namespace equalux::deep_tiles
