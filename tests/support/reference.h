#pragma once

#include <equalux/image.h>
#include <equalux/params.h>

/// Equalization straight from its definition, in 128-bit integers and with no shared code.
namespace equalux::test {

/// Writes the equalized frame to `out`. Any 8-bit format. Follows docs/algorithm.md line by line
/// and is slow.
void reference_equalize(const EqualizeParams& params, const ConstImageView& in,
                        const ImageView& out, bool interlaced = false);

}  // namespace equalux::test
