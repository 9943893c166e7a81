#pragma once

#include <equalux/image.h>

/// Conversions to formats that programs expect of a camera: 8-bit YCbCr or RGB.
namespace equalux {

/// Returns true where convert_picture() can make `to`, YCbCr or packed RGB of 8 bits, from `from`,
/// any format but the float planes.
[[nodiscard]] bool converts_to(PixelFormat from, PixelFormat to);

/// Returns the description of a picture of `from` converted to `format`, as programs assume it that
/// are told nothing else: YCbCr keeps its matrix and range; RGB and gray become limited range with
/// the matrix of BT.709 or, up to 576 rows, of BT.601.
[[nodiscard]] ImageDesc converted_desc(const ImageDesc& from, PixelFormat format);

/// Fills `to`, whose description is converted_desc() of `from`'s, with the picture. Chroma is the
/// mean over the pixels that a sample covers (within its field where interlaced), and the nearest
/// sample where `from` has less chroma; rounded to nearest. The same format is copied. Allocates
/// only for RGB and gray of more than 8 bits. Throws Error(usage) where the descriptions do not
/// fit.
void convert_picture(const ConstImageView& from, const ImageView& to,
                     FieldOrder field_order = FieldOrder::progressive);

}  // namespace equalux
