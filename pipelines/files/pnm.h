#pragma once

#include <string>

#include <equalux/image.h>

/// Portable any-maps of 8 or 16 bits a sample: P5 (gray) and P6 (RGB).
namespace equalux {

/// gray8 or rgb, as the file is; gray16_le or rgb48_le where its maximum is over 255. A maximum in
/// between is scaled up. Throws Error(no_input) where it is missing and Error(bad_input) where it
/// is damaged or another kind of PNM.
[[nodiscard]] Image read_pnm(const std::string& path);

/// Writes through NAME.partial.EXT: gray as P5, packed RGB forms as P6 without their fourth sample,
/// 16-bit ones with 16 bits; a name in .ppm is always P6. Throws Error(usage) for RGB into a name
/// in .pgm and for other formats, Error(cannot_create), Error(write_failed).
void write_pnm(const std::string& path, const ConstImageView& image);

}  // namespace equalux
