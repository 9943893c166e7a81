#pragma once

#include <string>
#include <string_view>

#include <equalux/image.h>

/// Text in pictures.
namespace equalux {

/// UTF-8 in the letters that OpenCV draws, which are ASCII: Latin letters lose their accents, any
/// other character becomes a question mark.
[[nodiscard]] std::string in_ascii(std::string_view text);

/// Writes light grey text into a picture of `bgr`, its baseline at row `baseline`, in_ascii(). Text
/// that is wider than `width` pixels loses its beginning.
void draw_caption(const ImageView& picture, int left, int baseline, int width, std::string text);

}  // namespace equalux
