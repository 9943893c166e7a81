#pragma once

#include <equalux/clahe.h>

/// Adaptive equalization straight from its definition, pixel by pixel.
namespace equalux::test {

/// Writes the filtered frame to `out`. Any 8-bit format; without a time constant. Follows
/// docs/algorithm.md, "Tiles", line by line and is slow; of the product's code it takes the curve
/// of a histogram where it has limits.
void reference_clahe(const ClaheParams& params, const ConstImageView& in, const ImageView& out,
                     bool interlaced = false);

/// Does as reference_clahe(), progressive, without any rounding but the last: what the
/// definition's steps stand for.
void exact_clahe(const ClaheParams& params, const ConstImageView& in, const ImageView& out);

}  // namespace equalux::test
