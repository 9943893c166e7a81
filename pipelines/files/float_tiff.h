#pragma once

#include <string>

#include <equalux/image.h>

/// TIFF of 32-bit floats, which needs no library.
namespace equalux {

/// Writes a float frame through NAME.partial.EXT, a page for each plane (of `eigenvalues`: lambda1,
/// then lambda2), uncompressed. Throws Error(usage) for other formats and Error(cannot_create) for
/// frames over the format's 4 GiB, Error(cannot_create), Error(write_failed).
void write_float_tiff(const std::string& path, const ConstImageView& image);

}  // namespace equalux
