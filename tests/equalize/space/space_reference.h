#pragma once

#include <random>

#include <equalux/curve.h>
#include <equalux/image.h>
#include <equalux/params.h>

/// Equalization of luma and lightness of packed RGB and gray, pixel by pixel.
namespace equalux::test {

/// Writes the frame, equalized in params.space, to `out`, whose alpha it copies. Luma straight from
/// its definition; lightness by the functions of space.h that the backends share.
void reference_in_space(const EqualizeParams& params, const ConstImageView& in,
                        const ImageView& out);

/// A curve that never falls, by steps of any size, steep or flat as a whole.
[[nodiscard]] ToneCurve random_curve(Space space, std::mt19937& random);

}  // namespace equalux::test
