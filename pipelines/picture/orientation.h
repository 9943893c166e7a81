#pragma once

#include <cstdint>

#include <equalux/image.h>

/// Turns that make a stored picture upright: for pictures taken with the camera on its side, and
/// mirrored ones.
namespace equalux {

/// Turns of a stored picture, in EXIF's order, whose numbers begin with 1.
enum class Orientation : std::uint8_t {
  upright,
  mirrored,           ///< left and right exchanged
  upside_down,        ///< half a turn
  flipped,            ///< top and bottom exchanged
  transposed,         ///< rows become columns
  clockwise,          ///< a quarter turn to the right
  transverse,         ///< rows become columns, both from their ends
  counter_clockwise,  ///< a quarter turn to the left
};

/// Returns true where width and height are exchanged.
[[nodiscard]] constexpr bool swaps_sides(Orientation orientation) {
  return orientation >= Orientation::transposed;
}

/// Returns the format of a turned picture of `desc`. Chroma samples keep their values: 4:2:2 with
/// exchanged sides becomes 4:4:4, with each sample twice, and packed 4:2:2 becomes three planes.
[[nodiscard]] ImageDesc turned(ImageDesc desc, Orientation orientation);
/// Returns the field order of a turned picture: progressive where columns have become rows.
[[nodiscard]] FieldOrder turned(FieldOrder order, int height, Orientation orientation);
/// Writes the turned picture to `to`, which has turned(from.desc). With odd sides, subsampled
/// chroma is mirrored by its own samples. Throws Error(usage) for another desc.
void turn_image(const ConstImageView& from, const ImageView& to, Orientation orientation);

}  // namespace equalux
