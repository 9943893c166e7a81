#pragma once

#include <equalux/image.h>

#include "pipelines/core/frame.h"

/// Transparency: a sample of packed RGB pixels, which filters copy, or a plane beside YCbCr, which
/// they do not see.
namespace equalux {

/// Returns true for packed RGB whose fourth sample is transparency and not padding.
[[nodiscard]] bool has_alpha(PixelFormat format);

/// Returns true where every pixel is opaque, as in screenshots, whose fourth sample says nothing.
[[nodiscard]] bool is_opaque(const ConstImageView& image);

/// Returns the format of the plane beside a picture: one sample per pixel, in full range and of the
/// picture's depth. gray8, or gray16_le, whose low bits have the value if the picture has less than
/// 16 bits.
[[nodiscard]] ImageDesc alpha_desc(const ImageDesc& picture);

/// Copies the plane beside a picture, if there is one and `to` has memory for it.
void copy_alpha(const Frame& from, Frame& to);

/// Scales the plane beside a picture of `depth` bits into the alpha samples of `to`, packed RGB
/// with 8 bits where `depth` is 8, with 16 otherwise.
void put_alpha(const ConstImageView& plane, int depth, const ImageView& to);

/// Fills `plane` with the alpha samples of packed RGB of 8 bits.
void take_alpha(const ConstImageView& from, const ImageView& plane);

}  // namespace equalux
