#pragma once

#include <equalux/image.h>

/// Conversions between pixel formats, for stills and for filters that take RGB only. Not used on
/// the fast path of video, where filters work in the stream's own format.
namespace equalux {

/// Returns true for the formats that convert_to_rgb() reads: all but the float planes.
[[nodiscard]] bool converts_to_rgb(PixelFormat format);

/// Fills `to`, any packed RGB format, with the picture of `from`: same size, any format but the
/// float planes. A fourth sample is copied if both have one; otherwise it becomes the largest
/// value. YCbCr uses its matrix and range and the nearest chroma sample (within its field where
/// interlaced), rounded. Depths may differ; only screens need an 8-bit target for more bits. Throws
/// Error(usage) where sizes differ or a format does not fit.
void convert_to_rgb(const ConstImageView& from, const ImageView& to,
                    FieldOrder field_order = FieldOrder::progressive);

/// Returns the packed RGB format, b first and without a fourth sample, that keeps the depth of
/// `format`.
[[nodiscard]] PixelFormat bgr_of_depth(PixelFormat format);

}  // namespace equalux
