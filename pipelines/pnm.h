#pragma once

#include <string>

#include <equalux/image.h>

/// Portable any-maps, 8 bits a sample: P5 (gray) and P6 (RGB).
namespace equalux {

/// gray8 or rgb, as the file is. Throws Error(no_input) where it is missing and Error(bad_input)
/// where it is damaged, has more than 8 bits or is another kind of PNM.
[[nodiscard]] Image read_pnm(const std::string& path);

/// Writes through NAME.partial.EXT: gray8 as P5, packed RGB forms as P6 without their fourth byte;
/// a name in .ppm is always P6. Throws Error(usage) for RGB into a name in .pgm
/// and for other formats, Error(cannot_create), Error(write_failed).
void write_pnm(const std::string& path, const ConstImageView& image);

}  // namespace equalux
