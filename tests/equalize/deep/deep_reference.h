#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <equalux/image.h>
#include <equalux/params.h>

/// Equalization of more than 8 bits from its definition, in 128-bit integers and with no shared
/// code.
namespace equalux::test {

/// Tells which pixels are counted, by position and v; all are where it is empty.
using DeepCounted = std::function<bool(int x, int y, int v)>;

/// Writes the equalized frame to `out`. Any format of 9 to 16 bits. Follows docs/algorithm.md line
/// by line and is slow.
void reference_equalize_deep(const EqualizeParams& params, const ConstImageView& in,
                             const ImageView& out, bool interlaced = false,
                             const DeepCounted& counted = {});

/// W of every v, 0 to M, of a frame with these pixels of each v.
using DeepCurveOf =
    std::function<std::vector<std::int64_t>(const std::vector<std::int64_t>& counts)>;

/// Writes to `out` the frame that curves of `curve_of` make, as reference_equalize_deep() does with
/// curves of parameters.
void reference_scale_deep(const DeepCurveOf& curve_of, const ConstImageView& in,
                          const ImageView& out, bool interlaced = false,
                          const DeepCounted& counted = {});

/// Formats of 9 to 16 bits a sample.
[[nodiscard]] std::vector<PixelFormat> deep_formats();

}  // namespace equalux::test
