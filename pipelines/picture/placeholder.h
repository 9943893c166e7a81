#pragma once

#include <equalux/image.h>

/// The picture that stands in for frames which a live source does not give.
namespace equalux {

/// Fills a frame of any format: dark grey, with both diagonals lighter. It is meant to be told from
/// any camera's picture, and from a picture that only stands still.
void draw_placeholder(const ImageView& to);

}  // namespace equalux
