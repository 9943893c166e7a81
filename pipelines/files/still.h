#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <equalux/image.h>

/// Reading and writing of stills. PNM is built in, and .npy and TIFF for floats; a library adds the
/// other formats.
namespace equalux {

/// Metadata of a still, without its orientation: read_still() turns the picture upright, and `exif`
/// is adapted to that.
struct StillNotes {
  std::string exif;  ///< a TIFF structure, as in a PNG's eXIf chunk; without a thumbnail
  std::string xmp;   ///< an XMP packet
  std::string iptc;
  std::string icc;             ///< a colour profile
  double dots_per_inch_x = 0;  ///< 0 = not given
  double dots_per_inch_y = 0;
  std::string unread;       ///< metadata that this build cannot read: "EXIF, ICC profile"
  std::uint32_t pages = 1;  ///< or frames of an animation; only the first is read
};

/// Carries the metadata of a sequence's stills from source to sink, past filters, which know
/// nothing of it. Any thread may call it.
class NotesInTransit {
 public:
  /// `first`: contents_of() the first still's metadata, without its density.
  explicit NotesInTransit(std::string first) : first_(std::move(first)) {}
  /// Returns what metadata the first still has, for outputs that keep none of it.
  [[nodiscard]] const std::string& contents_of_first() const { return first_; }
  /// Stores the metadata of the frame with that index. Only the latest are kept, as many as frames
  /// can be in flight, since sinks other than stills never take them out.
  void put(std::uint64_t index, StillNotes notes);
  /// Takes out the metadata of the frame with that index; empty where there is none.
  [[nodiscard]] StillNotes take(std::uint64_t index);

 private:
  const std::string first_;
  std::mutex mutex_;
  std::map<std::uint64_t, StillNotes> notes_;
};

/// Options for writing a still.
struct StillOptions {
  /// Quality of JPEG and WebP, 1 to 100; nothing = 95 for JPEG, and lossless WebP.
  std::optional<int> quality;
};

/// A codec for formats that the core does not know.
struct StillCodec {
  bool (*knows)(const std::string& extension) = nullptr;  ///< lower case, without the dot
  /// Reads gray8, bgr or bgra, or these with 16 bits, as the file has them. Throws
  /// Error(bad_input).
  Image (*read)(const std::string& path, StillNotes& notes) = nullptr;
  /// Writes gray8, bgr, bgra, and where holds_deep() also these with 16 bits. Returns what of
  /// `notes` is lost. Throws Error(cannot_create, write_failed).
  std::string (*write)(const std::string& path, const ConstImageView& image,
                       const StillNotes& notes, const StillOptions& options) = nullptr;
  /// Returns true where files of that extension can have 16 bits per sample; null where none can.
  bool (*holds_deep)(const std::string& extension) = nullptr;
  /// Returns true where files of that extension can have transparency; null where none can.
  bool (*holds_alpha)(const std::string& extension) = nullptr;
};
/// Adds a codec; to be called at start-up, before any thread runs.
void set_still_codec(const StillCodec& codec);

/// Returns true where a file of that name can be read and written.
[[nodiscard]] bool knows_still(const std::string& path);
/// Returns true where a file of that name can be written: those of knows_still(), and .npy, .tif
/// and .tiff for frames of floats.
[[nodiscard]] bool writes_still(const std::string& path);
/// Returns true where a still of that name can have transparency.
[[nodiscard]] bool still_holds_alpha(const std::string& path);
/// Throws Error(usage) where frames of floats go into a picture, other frames into .npy, or frames
/// of more than 8 bits into a format that cannot store them.
void check_still_format(const std::string& path, PixelFormat format);
/// Reads a still as gray8, rgb, bgr or bgra, or these with 16 bits, turned as its EXIF orientation
/// says. Throws Error(no_input) where it is missing, Error(bad_input) where it cannot be decoded.
[[nodiscard]] Image read_still(const std::string& path);
/// Reads a still and its metadata.
[[nodiscard]] Image read_still(const std::string& path, StillNotes& notes);
/// Writes a still of gray, packed RGB or floats in the format of the extension, through
/// NAME.partial.EXT. Throws Error(usage) for an unknown extension or a format that does not fit it,
/// Error(cannot_create), Error(write_failed).
void write_still(const std::string& path, const ConstImageView& image);
/// Writes a still with `notes`, as far as the format can store them. Returns what is lost of them,
/// "EXIF, density"; empty where nothing is. A colour profile is only written with pictures of its
/// kind, gray or RGB.
[[nodiscard]] std::string write_still(const std::string& path, const ConstImageView& image,
                                      const StillNotes& notes, const StillOptions& options);

/// Lists what `notes` has: "EXIF, XMP, ICC profile, density"; empty where it has nothing.
[[nodiscard]] std::string contents_of(const StillNotes& notes);

}  // namespace equalux
