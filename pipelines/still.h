#pragma once

#include <string>

#include <equalux/image.h>

/// Reading and writing stills. PNM is built in; a library adds the other formats.
namespace equalux {

/// A codec for the formats that the core does not know.
struct StillCodec {
  bool (*knows)(const std::string& extension) = nullptr;  ///< lower case, without the dot
  /// gray8, bgr or bgra, as the file is. Throws Error(bad_input).
  Image (*read)(const std::string& path) = nullptr;
  /// Takes gray8, bgr, bgra. Throws Error(cannot_create, write_failed).
  void (*write)(const std::string& path, const ConstImageView& image) = nullptr;
};
/// Adds a codec; called at start-up, before any thread runs.
void set_still_codec(const StillCodec& codec);

/// True where a file of that name can be read and written.
[[nodiscard]] bool knows_still(const std::string& path);
/// Reads a still of gray8, rgb, bgr or bgra. Throws Error(no_input) where it is missing,
/// Error(bad_input) where it cannot be decoded.
[[nodiscard]] Image read_still(const std::string& path);
/// Writes a still of gray8 or a packed RGB form, as the extension says, through NAME.partial.EXT.
/// Throws Error(usage) for an unknown extension, Error(cannot_create), Error(write_failed).
void write_still(const std::string& path, const ConstImageView& image);

}  // namespace equalux
