#pragma once

#include <equalux/image.h>

/// The picture that replaces frames which a live source does not give.
namespace equalux {

/// Fills a frame of any format: dark grey, with both diagonals lighter, so that it differs from any
/// camera's picture, and from a frozen one.
void draw_placeholder(const ImageView& to);

}  // namespace equalux
