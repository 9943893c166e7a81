#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Checks of a still's bytes before a decoder gets them.
namespace equalux {

/// Facts that a still's bytes give beside its pixels, as far as no library is needed.
struct StillFacts {
  int orientation = 1;         ///< EXIF's, 1 to 8
  double dots_per_inch_x = 0;  ///< 0 = not given
  double dots_per_inch_y = 0;
  std::uint32_t pages = 1;  ///< pages of a TIFF, without its previews; frames of an animation
  bool exif = false;
  bool xmp = false;
  bool iptc = false;
  bool icc = false;
  std::string others;  ///< what no version of this program keeps: "extended XMP, motion photo"
};

/// Reads the facts of a PNG, JPEG, WebP, TIFF or BMP. Damaged parts are ignored: check_still()
/// reports them.
[[nodiscard]] StillFacts look_through(const std::vector<std::uint8_t>& bytes);

/// Returns the checksum of a PNG chunk: of its name and its data.
[[nodiscard]] std::uint32_t png_crc(std::span<const std::uint8_t> bytes);

/// Removes from a TIFF's first page what makes decoders change its pixels: its orientation, because
/// some versions of OpenCV turn some kinds of TIFF themselves, and the mark that its colours are
/// not multiplied by its alpha, for which libtiff would multiply 8-bit ones. Other files stay as
/// they are.
void leave_pixels_as_stored(std::vector<std::uint8_t>& bytes);

/// Finds what OpenCV hides, or answers with a half-grey picture: truncated files (PNG without IEND
/// or with a wrong checksum, JPEG without its end marker, BMP, TIFF and WebP shorter than they
/// declare), sample depths other than up to 8 bits, and 16 in PNG and TIFF, sides that no frame may
/// have, and sizes for which the file is too short, so that a forged header allocates nothing.
///
/// Returns the bytes to decode: a PNG without its ancillary chunks except tRNS, whose faults
/// (colour profiles, text) would only be noise on stderr. Damage inside the compressed data of a
/// JPEG is not found, since that format has no checksum. Throws Error(bad_input) that names `path`.
[[nodiscard]] std::vector<std::uint8_t> check_still(const std::string& path,
                                                    std::vector<std::uint8_t> bytes);

}  // namespace equalux
