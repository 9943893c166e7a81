#pragma once

#include <equalux/image.h>

/// Conversions to what programs expect of a camera: 8-bit YCbCr or RGB.
namespace equalux {

/// True where convert_picture() makes `to`, YCbCr or packed RGB of 8 bits, of `from`, any format
/// but the float planes.
[[nodiscard]] bool converts_to(PixelFormat from, PixelFormat to);

/// The format of a picture of `from` in `format`, as programs take it that are told nothing else:
/// YCbCr keeps its matrix and range; what was RGB or gray gets the limited range, and the matrix of
/// BT.709 or, with 576 rows or fewer, of BT.601.
[[nodiscard]] ImageDesc converted_desc(const ImageDesc& from, PixelFormat format);

/// Fills `to`, whose description is converted_desc() of that of `from`, with its picture. Chroma is
/// the mean over the pixels that a sample covers (within its field where interlaced), and the
/// nearest sample where there is less of it in `from`; rounded to nearest. The same format is
/// copied. Allocates only for RGB and gray of more than 8 bits. Throws Error(usage) where the
/// descriptions do not fit.
void convert_picture(const ConstImageView& from, const ImageView& to,
                     FieldOrder field_order = FieldOrder::progressive);

}  // namespace equalux
