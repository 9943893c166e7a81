#pragma once

#include <cstdint>

#include <equalux/image.h>

/// How a stored picture has to be moved to stand upright: pictures that were taken with the camera
/// on its side, and mirrored ones.
namespace equalux {

/// How a stored picture is turned, in EXIF's order, whose numbers begin with 1.
enum class Orientation : std::uint8_t {
  upright,
  mirrored,           ///< left and right change places
  upside_down,        ///< half a turn
  flipped,            ///< top and bottom change places
  transposed,         ///< rows become columns
  clockwise,          ///< a quarter turn to the right
  transverse,         ///< rows become columns, both from their ends
  counter_clockwise,  ///< a quarter turn to the left
};

/// True where width and height change places.
[[nodiscard]] constexpr bool swaps_sides(Orientation orientation) {
  return orientation >= Orientation::transposed;
}

/// What a picture of `desc` becomes. Chroma samples stay what they are: 4:2:2 whose sides change
/// places becomes 4:4:4, where each stands twice, and packed 4:2:2 becomes three planes.
[[nodiscard]] ImageDesc turned(ImageDesc desc, Orientation orientation);
/// The fields of a turned picture: none where columns have become rows.
[[nodiscard]] FieldOrder turned(FieldOrder order, int height, Orientation orientation);
/// Writes the turned picture to `to`, which is of turned(from.desc). With odd sides, subsampled
/// chroma is mirrored by its own samples. Throws Error(usage) for another desc.
void turn_image(const ConstImageView& from, const ImageView& to, Orientation orientation);

}  // namespace equalux
