#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Looks through the bytes of a still before a decoder gets them.
namespace equalux {

/// Finds what OpenCV hides or answers with a grey half-picture: files cut short (PNG without IEND
/// or with a wrong checksum, JPEG without its end marker, BMP, TIFF and WebP shorter than they
/// declare), samples of other depths than 8 bits and below, and 16 in PNG and TIFF, sides that no
/// frame may have, and sizes that the file is too short to hold, so that a forged header allocates
/// nothing.
///
/// Returns the bytes to decode: a PNG comes back without its ancillary chunks but tRNS, whose
/// faults (colour profiles, text) would only be noise on stderr. Damage inside the compressed
/// data of a JPEG is not seen: that format carries no checksum.
/// Throws Error(bad_input) that names `path`.
[[nodiscard]] std::vector<std::uint8_t> check_still(const std::string& path,
                                                    std::vector<std::uint8_t> bytes);

}  // namespace equalux
