#pragma once

#include <cstdint>
#include <span>

#include "pipelines/files/still.h"

/// Stills through OpenCV's imgcodecs: PNG, JPEG, BMP, TIFF, WebP.
namespace equalux {

/// Adds these formats to read_still() and write_still(); call it at start-up, before any thread.
///
/// Reading gives gray8, bgr or bgra as the file is, or these of 16 bits (PNG, TIFF): palettes are
/// expanded, gray with alpha comes as bgra, a BMP's alpha is not read, and the picture is turned as
/// its EXIF orientation says. The file is recognised by its bytes. Other depths over 8 bits, an
/// incomplete file and anything else that would decode to half a picture are Error(bad_input).
/// Writing encodes in memory and then writes NAME.partial.EXT and renames it: JPEG at quality 95,
/// the others without loss, but for WebP's colour under alpha 0; JPEG drops alpha and says so in
/// the log.
void register_opencv_stills();

/// The codec that is added, without a change to what the program knows.
[[nodiscard]] StillCodec opencv_still_codec();

/// Decodes a camera's JPEG to `bgr`, without regard to an orientation in it. False where it is
/// none, or of another size.
[[nodiscard]] bool decode_jpeg(std::span<const std::uint8_t> jpeg, const ImageView& bgr);

}  // namespace equalux
