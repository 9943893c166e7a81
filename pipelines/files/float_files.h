#pragma once

#include <string>

#include <equalux/image.h>

/// Files of 32-bit floats, which need no library. Both are written through NAME.partial.EXT and
/// throw Error(usage) for frames that are not floats, Error(cannot_create), Error(write_failed).
namespace equalux {

/// Writes NumPy's array file, version 1.0: little-endian float32 in C order, grayf32 as an array of
/// H x W, grayf32x2 as one of 2 x H x W (for `eigenvalues`: lambda1, then lambda2).
void write_npy(const std::string& path, const ConstImageView& image);

/// Writes an uncompressed TIFF, one page for each plane (for `eigenvalues`: lambda1, then lambda2).
/// Throws Error(cannot_create) for frames over the format's 4 GiB.
void write_float_tiff(const std::string& path, const ConstImageView& image);

}  // namespace equalux
