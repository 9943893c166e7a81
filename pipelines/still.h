#pragma once

#include <string>

#include <equalux/image.h>

/// Reading and writing stills. PNM is built in, and .npy and TIFF for floats; a library adds the
/// other formats.
namespace equalux {

/// A codec for the formats that the core does not know.
struct StillCodec {
  bool (*knows)(const std::string& extension) = nullptr;  ///< lower case, without the dot
  /// gray8, bgr or bgra, or these of 16 bits, as the file is. Throws Error(bad_input).
  Image (*read)(const std::string& path) = nullptr;
  /// Takes gray8, bgr, bgra, and where holds_deep() these of 16 bits. Throws Error(cannot_create,
  /// write_failed).
  void (*write)(const std::string& path, const ConstImageView& image) = nullptr;
  /// True where files of that extension can have 16 bits a sample; null where none can.
  bool (*holds_deep)(const std::string& extension) = nullptr;
};
/// Adds a codec; called at start-up, before any thread runs.
void set_still_codec(const StillCodec& codec);

/// True where a file of that name can be read and written.
[[nodiscard]] bool knows_still(const std::string& path);
/// True where a file of that name can be written: those of knows_still(), and .npy, .tif and .tiff
/// for frames of floats.
[[nodiscard]] bool writes_still(const std::string& path);
/// Throws Error(usage) where frames of floats go into a picture or others into .npy, or frames of
/// more than 8 bits into a format that holds no more.
void check_still_format(const std::string& path, PixelFormat format);
/// Reads a still of gray8, rgb, bgr or bgra, or of these with 16 bits. Throws Error(no_input) where
/// it is missing, Error(bad_input) where it cannot be decoded.
[[nodiscard]] Image read_still(const std::string& path);
/// Writes a still of gray, a packed RGB form or floats, as the extension says, through
/// NAME.partial.EXT.
/// Throws Error(usage) for an unknown extension or a format that does not fit it,
/// Error(cannot_create), Error(write_failed).
void write_still(const std::string& path, const ConstImageView& image);

}  // namespace equalux
