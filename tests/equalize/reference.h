#pragma once

#include <functional>

#include <equalux/image.h>
#include <equalux/params.h>

/// Equalization straight from its definition, in 128-bit integers and with no shared code.
namespace equalux::test {

/// Writes the equalized frame to `out`. Any 8-bit format. Follows docs/algorithm.md line by line
/// and is slow. Only pixels of which `counts` is true are counted, or all where it is empty.
void reference_equalize(const EqualizeParams& params, const ConstImageView& in,
                        const ImageView& out, bool interlaced = false,
                        const std::function<bool(int x, int y, int v)>& counts = {});

}  // namespace equalux::test
