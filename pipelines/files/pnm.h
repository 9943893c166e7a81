#pragma once

#include <string>

#include <equalux/image.h>

/// Portable any-maps of 8 or 16 bits per sample: P5 (gray) and P6 (RGB).
namespace equalux {

/// Reads a file as gray8 or rgb, or as gray16_le or rgb48_le where its maximum exceeds 255. Samples
/// with another maximum than 255 or 65535 are scaled up. Throws Error(no_input) where it is missing
/// and Error(bad_input) where it is damaged or another kind of PNM.
[[nodiscard]] Image read_pnm(const std::string& path);

/// Writes through NAME.partial.EXT: gray as P5, packed RGB formats as P6 without their fourth
/// sample, 16-bit ones with 16 bits; a name in .ppm always gives P6. Throws Error(usage) for RGB
/// with a name in .pgm and for other formats, Error(cannot_create), Error(write_failed).
void write_pnm(const std::string& path, const ConstImageView& image);

}  // namespace equalux
