#pragma once

#include <string>
#include <string_view>

#include <equalux/image.h>

/// Text in pictures.
namespace equalux {

/// Returns UTF-8 in the letters of OpenCV's font, which is ASCII: Latin letters lose their accents,
/// any other character becomes a question mark.
[[nodiscard]] std::string in_ascii(std::string_view text);

/// Writes light grey text, in_ascii(), into a picture of `bgr`, with its baseline at row
/// `baseline`. Text wider than `width` pixels loses its beginning.
void draw_caption(const ImageView& picture, int left, int baseline, int width, std::string text);

}  // namespace equalux
