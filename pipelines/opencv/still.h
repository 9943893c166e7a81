#pragma once

#include <cstdint>
#include <span>

#include "pipelines/files/still.h"

/// Stills through OpenCV's imgcodecs: PNG, JPEG, BMP, TIFF, WebP.
namespace equalux {

/// Adds these formats to read_still() and write_still(); to be called at start-up, before any
/// thread.
///
/// Reading gives gray8, bgr or bgra as the file has them, or these with 16 bits (PNG, TIFF):
/// palettes are expanded, gray with alpha becomes bgra, a BMP's alpha is ignored, and the picture
/// is turned as its EXIF orientation says. The file type is recognised by its bytes. Other depths
/// over 8 bits, incomplete files and anything else that would decode to half a picture throw
/// Error(bad_input). Writing encodes in memory, writes NAME.partial.EXT and renames it: JPEG at
/// quality 95, the others without loss, except WebP's colour under alpha 0; JPEG drops alpha and
/// says so in the log.
void register_opencv_stills();

/// Returns the codec, without registering it.
[[nodiscard]] StillCodec opencv_still_codec();

/// Decodes a camera's JPEG to `bgr` and ignores its orientation. Returns false where it is no JPEG,
/// or of another size.
[[nodiscard]] bool decode_jpeg(std::span<const std::uint8_t> jpeg, const ImageView& bgr);

}  // namespace equalux
