#pragma once

#include <string_view>

#include <equalux/image.h>

/// Checks that filters make of each frame.
namespace equalux {

/// Throws Error(usage) where a frame or the memory for its result is not what a filter of this name
/// was configured for: `in_desc` and `out_desc`, 0x0 before configure(). Matrix and range matter
/// for YCbCr only. Throws it, too, for a plane without memory, and for rows of a result that
/// overlap.
void check_frames(std::string_view filter, const ConstImageView& in, const ImageDesc& in_desc,
                  const ImageView& out, const ImageDesc& out_desc);

}  // namespace equalux
