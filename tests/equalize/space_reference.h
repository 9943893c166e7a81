#pragma once

#include <equalux/image.h>
#include <equalux/params.h>

/// Equalization of luma and lightness of packed RGB and gray, pixel by pixel.
namespace equalux::test {

/// Writes the frame, equalized in params.space, to `out`, whose alpha it copies. Luma straight from
/// its definition; lightness by the functions of space.h that the backends share.
void reference_in_space(const EqualizeParams& params, const ConstImageView& in,
                        const ImageView& out);

}  // namespace equalux::test
