#pragma once

#include <string>

#include <equalux/image.h>

/// Text in pictures.
namespace equalux {

/// Writes light grey text into a picture of `bgr`, with its baseline at row `baseline`. Text wider
/// than `width` pixels loses its beginning. OpenCV's font is ASCII; any other character becomes a
/// question mark.
void draw_caption(const ImageView& picture, int left, int baseline, int width, std::string text);

}  // namespace equalux
