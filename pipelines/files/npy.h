#pragma once

#include <string>

#include <equalux/image.h>

/// NumPy's array files, version 1.0.
namespace equalux {

/// Writes a float frame through NAME.partial.EXT as little-endian float32, C order: grayf32 as an
/// array of H x W, grayf32x2 of 2 x H x W (of `eigenvalues`: lambda1, then lambda2). Throws
/// Error(usage) for other formats, Error(cannot_create), Error(write_failed).
void write_npy(const std::string& path, const ConstImageView& image);

}  // namespace equalux
