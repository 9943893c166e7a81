#pragma once

#include <cstdint>

#include <equalux/image.h>

/// Image operations of `lab scalers`, on packed RGB or gray8.
namespace equalux::cli::lab {

/// Adds `shift` to V of each pixel, clamped to 0 to 255, and keeps hue and saturation: a channel c
/// becomes c V' / V, rounded half up, in integers; black, which has no hue, becomes the grey of V'.
[[nodiscard]] Image shift_value(const ConstImageView& image, int shift);

struct Difference {
  std::uint64_t values = 0;  ///< number of samples
  std::uint64_t differ = 0;
  int most = 0;  ///< largest difference, levels
};
/// Compares two images of one desc.
[[nodiscard]] Difference compare(const ConstImageView& a, const ConstImageView& b);

}  // namespace equalux::cli::lab
