#pragma once

#include <cstdint>

#include <equalux/image.h>

#include "src/equalize/deep_curve.h"
#include "src/equalize/opencv_curve.h"
#include "src/equalize/tone/tone_limits.h"
#include "src/format/pixel_math.h"

/// Arithmetic of tiles of more than 8 bits, from curves to samples, written once for host and
/// device: whole numbers, then single precision rounded to nearest at each step, without fused
/// operations. docs/algorithm.md, "Tiles", has the formulas and what the steps preserve.
namespace equalux::deep_tiles {

/// Unit of a coarse level, and the full weight of two tiles together.
inline constexpr int kLevel = 256;
inline constexpr int kFullWeight = 256;
/// Entries of a tile's curve: coarse levels 0 to 255.
inline constexpr int kLevels = 256;

/// Constants of a stream.
struct Form {
  DeepSamples samples;
  float to_levels;  ///< coarse levels per value
  float to_codes;   ///< values per unit of a mix, 1 / (kLevel kFullWeight) of a coarse level
};

inline Form form_of(const ImageDesc& desc) {
  const DeepSamples samples = deep_samples(desc);
  const auto levels = static_cast<float>(coarse_max(samples));
  const auto values = static_cast<float>(samples.weights.luma_max);
  return {samples, levels / values, values / (levels * (kLevel * kFullWeight))};
}

/// Entry of a tile's curve at a coarse level: W in 256ths of a level, at most 255 kLevel. 0 at
/// black, which stays black.
EQUALUX_HD std::uint32_t curve_level(std::uint32_t level, std::uint32_t curve) {
  constexpr int kDropped = tone::kCurveBits - 8;
  return level == 0 ? 0 : (curve + (1U << (kDropped - 1))) >> kDropped;
}

/// Mean of the tiles above and below; the lower one has weight `below` of kFullWeight.
EQUALUX_HD std::uint32_t mix_rows(std::uint32_t above_level, std::uint32_t below_level,
                                  std::uint32_t below) {
  return (above_level * (kFullWeight - below) + below_level * below + kFullWeight / 2) /
         kFullWeight;
}

/// Position of a value between coarse levels: `level` plus `beyond`, 0 to below 1.
struct Place {
  std::int32_t level;
  float beyond;
};
EQUALUX_HD Place place_of(const Form& form, std::int32_t v) {
  const float place = static_cast<float>(v) * form.to_levels;
  const auto level = static_cast<std::int32_t>(place);
  return {level, place - static_cast<float>(level)};
}

/// mix_rows() of the tiles left and right, at the coarse level of a value and at the next one.
struct Corners {
  std::uint32_t left;
  std::uint32_t right;
  std::uint32_t left_next;
  std::uint32_t right_next;
};

/// Result for a value; the right tile has weight `of_right` of kFullWeight. Mixes and their
/// differences are below 2^24, exact in floats. Every step keeps the order of values.
EQUALUX_HD float value_of(const Form& form, const Corners& at, float beyond,
                          std::uint32_t of_right) {
  const auto mixed = [of_right](std::uint32_t left, std::uint32_t right) {
    return static_cast<std::int32_t>(left * (kFullWeight - of_right) + right * of_right);
  };
  const std::int32_t here = mixed(at.left, at.right);
  const std::int32_t more = mixed(at.left_next, at.right_next) - here;
  return (static_cast<float>(here) + beyond * static_cast<float>(more)) * form.to_codes;
}

/// Gain, the result over the value; 1 for black.
EQUALUX_HD float gain_of(float value, std::int32_t v) {
#if defined(__CUDA_ARCH__)
  return v == 0 ? 1.0F : value * __frcp_rn(static_cast<float>(v));
#else
  return v == 0 ? 1.0F : value * (1.0F / static_cast<float>(v));
#endif
}

/// New channel, or luma less black, of a pixel whose value v becomes `value`. Computed from the
/// difference to v, so that gray follows the curve exactly, however the gain is rounded.
EQUALUX_HD std::int32_t scaled(std::int32_t c, std::int32_t v, float value, float gain) {
  return opencv::round_even(value + static_cast<float>(c - v) * gain);
}

/// New chroma code by the mean gain of its luma; `u` is the code less the middle.
EQUALUX_HD std::int32_t scaled_chroma(const DeepSamples& form, std::int32_t u, float mean) {
  const std::int32_t code = form.chroma_middle + opencv::round_even(static_cast<float>(u) * mean);
  return code < 0 ? 0 : (code > form.most ? form.most : code);
}

}  // namespace equalux::deep_tiles
