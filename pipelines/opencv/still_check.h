#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Looks through the bytes of a still before a decoder gets them.
namespace equalux {

/// What the bytes of a still say beside its pixels, as far as no library is needed for it.
struct StillFacts {
  int orientation = 1;         ///< EXIF's, 1 to 8
  double dots_per_inch_x = 0;  ///< 0 = not said
  double dots_per_inch_y = 0;
  std::uint32_t pages = 1;  ///< pages of a TIFF, without its previews; frames of an animation
  bool exif = false;
  bool xmp = false;
  bool iptc = false;
  bool icc = false;
  std::string others;  ///< what no version of this program keeps: "extended XMP, motion photo"
};

/// Looks through a PNG, JPEG, WebP, TIFF or BMP. What is damaged there is left out: check_still()
/// judges.
[[nodiscard]] StillFacts look_through(const std::vector<std::uint8_t>& bytes);

/// The checksum of a PNG's chunk: its name and its data.
[[nodiscard]] std::uint32_t png_crc(std::span<const std::uint8_t> bytes);

/// Takes out of a TIFF's first page what has decoders change its pixels: its orientation, since
/// some versions of OpenCV turn some kinds of TIFF by themselves, and that its colours are not
/// multiplied by its alpha, which libtiff would do with 8 bits. Other files stay as they are.
void leave_pixels_as_stored(std::vector<std::uint8_t>& bytes);

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
