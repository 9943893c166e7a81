#pragma once

#include <array>
#include <cstdint>

#include <equalux/image.h>

/// Colour differences in CIE L*a*b*.
namespace equalux::quality {

/// Chroma C*ab below which, in either frame, a pixel's hue is not measured.
inline constexpr float kLeastChroma = 8;

struct Lab {
  float l = 0;
  float a = 0;
  float b = 0;
};
/// Returns CIE L*a*b* of an sRGB colour, white point D65.
[[nodiscard]] Lab lab_of(std::uint8_t red, std::uint8_t green, std::uint8_t blue);

/// Differences of the hue angle h_ab, over the pixels with chroma in both frames.
struct HueDifference {
  double sum_deg = 0;  ///< sum of absolute differences, each 0 to 180
  std::uint64_t pixels = 0;
};
/// Returns the hue difference of two bgr pictures of one size.
[[nodiscard]] HueDifference hue_difference(const ConstImageView& a, const ConstImageView& b);

/// Returns CIEDE2000 (CIE 142-2001) of two colours, all parametric factors 1. About 1 is just
/// noticeable; black and white are 100 apart.
[[nodiscard]] double ciede2000(const Lab& a, const Lab& b);

/// Returns the mean CIEDE2000 over the pixels of two bgr pictures of one size.
[[nodiscard]] double colour_difference(const ConstImageView& a, const ConstImageView& b);

}  // namespace equalux::quality
