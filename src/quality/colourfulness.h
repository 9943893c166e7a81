#pragma once

#include <cstdint>

#include <equalux/image.h>

/// How colourful pictures are, and how bright skin is in them.
namespace equalux::quality {

/// Colourfulness of a bgr picture after Hasler and Suesstrunk (2003): with rg = R - G and
/// yb = (R + G) / 2 - B of stored values, the root of the sum of their variances and 0.3 times the
/// root of the sum of their squared means. Gray is 0, a photograph about 30 to 80.
[[nodiscard]] double colourfulness(const ConstImageView& bgr);

/// V of the pixels that are skin in one picture, summed there and in its result.
struct SkinValues {
  double original = 0;
  double result = 0;  ///< 0 without a result
  std::uint64_t pixels = 0;

  void add(const SkinValues& more);
};

/// True for colours of skin after Chai and Ngan (1999): Cb 77 to 127 and Cr 133 to 173, in 8-bit
/// YCbCr of BT.601 and limited range.
[[nodiscard]] bool is_skin(std::uint8_t red, std::uint8_t green, std::uint8_t blue);

/// V = max(R, G, B) of the pixels of a bgr picture that are skin, and of the same pixels in a
/// result of its size; null where there is none.
[[nodiscard]] SkinValues skin_values(const ConstImageView& bgr, const ConstImageView* result);

}  // namespace equalux::quality
