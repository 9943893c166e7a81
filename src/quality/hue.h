#pragma once

#include <array>
#include <cstdint>

#include <equalux/image.h>

/// Colours as CIE L*a*b* sees them.
namespace equalux::quality {

/// Pixels under this chroma C*ab, in either frame, have no hue worth a figure.
inline constexpr float kLeastChroma = 8;

struct Lab {
  float l = 0;
  float a = 0;
  float b = 0;
};
/// CIE L*a*b* of an sRGB colour, white point D65.
[[nodiscard]] Lab lab_of(std::uint8_t red, std::uint8_t green, std::uint8_t blue);

/// Differences of the hue angle h_ab between two frames, over the pixels with chroma in both.
struct HueDifference {
  double sum_deg = 0;  ///< of absolute differences, each 0 to 180
  std::uint64_t pixels = 0;
};
/// The difference of hue of two bgr pictures of one size.
[[nodiscard]] HueDifference hue_difference(const ConstImageView& a, const ConstImageView& b);

/// How far apart two colours are to see: CIEDE2000 (CIE 142-2001), with all its weights 1. 1 is
/// about what can just be seen; black and white are 100 apart.
[[nodiscard]] double ciede2000(const Lab& a, const Lab& b);

/// The mean of ciede2000() over the pixels of two bgr pictures of one size.
[[nodiscard]] double colour_difference(const ConstImageView& a, const ConstImageView& b);

}  // namespace equalux::quality
