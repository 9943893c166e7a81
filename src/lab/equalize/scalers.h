#pragma once

#include <cstdint>

#include <equalux/image.h>

/// What `lab scalers` does to images and says of them. Packed RGB or gray8.
namespace equalux::cli::lab {

/// V of every pixel shifted and clamped to 0 to 255, hue and saturation kept: a channel c becomes
/// c V' / V, rounded half up, in integers; black, which has no hue, becomes the grey of V'.
[[nodiscard]] Image shift_value(const ConstImageView& image, int shift);

struct Difference {
  std::uint64_t values = 0;  ///< samples in all
  std::uint64_t differ = 0;
  int most = 0;  ///< levels
};
/// How two images of one desc differ.
[[nodiscard]] Difference compare(const ConstImageView& a, const ConstImageView& b);

}  // namespace equalux::cli::lab
