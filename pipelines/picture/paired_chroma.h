#pragma once

#include <equalux/image.h>

/// P010 and P012 as planes. The values are the same; their position in a word differs.
namespace equalux {

/// Returns i420_10le for p010_10le, i420_12le for p012_le, any other format as it is.
[[nodiscard]] PixelFormat planar_form(PixelFormat format);

/// Fills `to`, of the planar form of `from`, with its picture: same size. Throws Error(usage) where
/// they do not fit.
void copy_as_planes(const ConstImageView& from, const ImageView& to);

}  // namespace equalux
