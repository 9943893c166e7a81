#pragma once

#include <cstdint>

#include <equalux/image.h>

/// Pictures with black around them.
namespace equalux::test {

enum class Opening : std::uint8_t {
  letterbox,    ///< bars of an eighth above and below
  pillar_box,   ///< bars of an eighth on either side
  window,       ///< bars all around
  disc,         ///< a fundus: a disc of nearly the frame's height
  cut_disc,     ///< a disc wider than the frame is high
  octagon,      ///< an endoscope: corners of a quarter of the height
  side_octagon  ///< the same, at the right of a panel
};

/// Whether a pixel shows the picture.
[[nodiscard]] bool is_open(Opening opening, int width, int height, int x, int y);

/// Paints black with noise over all that is not open, of a gray, packed RGB or YUV frame of 8 or
/// more bits; with a line of text in a corner if `text`.
void close(const ImageView& view, Opening opening, bool text, std::uint32_t seed = 1);

}  // namespace equalux::test
