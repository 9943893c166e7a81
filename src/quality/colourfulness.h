#pragma once

#include <cstdint>

#include <equalux/image.h>

/// Colourfulness, and the brightness of skin.
namespace equalux::quality {

/// Returns the colourfulness of a bgr picture (Hasler and Suesstrunk 2003): with rg = R - G and yb
/// = (R + G) / 2 - B of stored values, sqrt(var(rg) + var(yb)) + 0.3 sqrt(mean(rg)^2 + mean(yb)^2).
/// Grey is 0, a photograph about 30 to 80.
[[nodiscard]] double colourfulness(const ConstImageView& bgr);

/// Sums of V over the pixels that are skin in the original, there and in its result.
struct SkinValues {
  double original = 0;
  double result = 0;  ///< 0 without a result
  std::uint64_t pixels = 0;

  void add(const SkinValues& more);
};

/// Returns true for skin colours (Chai and Ngan 1999): Cb 77 to 127 and Cr 133 to 173 in 8-bit
/// YCbCr, BT.601 and limited range.
[[nodiscard]] bool is_skin(std::uint8_t red, std::uint8_t green, std::uint8_t blue);

/// Sums V = max(R, G, B) over the skin pixels of a bgr picture, and over the same pixels of a
/// result of its size; `result` may be null.
[[nodiscard]] SkinValues skin_values(const ConstImageView& bgr, const ConstImageView* result);

}  // namespace equalux::quality
