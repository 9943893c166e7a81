#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <equalux/image.h>

/// Reading and writing stills. PNM is built in, and .npy and TIFF for floats; a library adds the
/// other formats.
namespace equalux {

/// What a still says beside its pixels. Its orientation is not among it: read_still() turns the
/// picture as it is to be seen, and `exif` says so.
struct StillNotes {
  std::string exif;  ///< a TIFF structure, as it lies in a PNG's eXIf chunk; without a thumbnail
  std::string xmp;   ///< a packet
  std::string iptc;
  std::string icc;             ///< a colour profile
  double dots_per_inch_x = 0;  ///< 0 = not said
  double dots_per_inch_y = 0;
  std::string unread;       ///< what is there and this build does not read: "EXIF, ICC profile"
  std::uint32_t pages = 1;  ///< or frames of an animation; the first is what was read
};

/// The notes of a sequence's stills on their way from source to sink, past filters that know
/// nothing of them. Any thread may call it.
class NotesInTransit {
 public:
  /// `first`: what the first still says, as contents_of() has it, but for its density.
  explicit NotesInTransit(std::string first) : first_(std::move(first)) {}
  /// What the first still says, for outputs that keep none of it.
  [[nodiscard]] const std::string& contents_of_first() const { return first_; }
  /// Keeps the notes of the frame with that index. Only the latest are kept: more frames than that
  /// are never under way, and other sinks than those of stills take none out.
  void put(std::uint64_t index, StillNotes notes);
  /// Takes out the notes of the frame with that index; empty where there are none.
  [[nodiscard]] StillNotes take(std::uint64_t index);

 private:
  const std::string first_;
  std::mutex mutex_;
  std::map<std::uint64_t, StillNotes> notes_;
};

/// How a still is written.
struct StillOptions {
  /// Quality of JPEG and WebP, 1 to 100; nothing = 95, and WebP without loss.
  std::optional<int> quality;
};

/// A codec for the formats that the core does not know.
struct StillCodec {
  bool (*knows)(const std::string& extension) = nullptr;  ///< lower case, without the dot
  /// gray8, bgr or bgra, or these of 16 bits, as the file is. Throws Error(bad_input).
  Image (*read)(const std::string& path, StillNotes& notes) = nullptr;
  /// Takes gray8, bgr, bgra, and where holds_deep() these of 16 bits. Returns what of `notes` is
  /// lost. Throws Error(cannot_create, write_failed).
  std::string (*write)(const std::string& path, const ConstImageView& image,
                       const StillNotes& notes, const StillOptions& options) = nullptr;
  /// True where files of that extension can have 16 bits a sample; null where none can.
  bool (*holds_deep)(const std::string& extension) = nullptr;
  /// True where files of that extension can be transparent; null where none can.
  bool (*holds_alpha)(const std::string& extension) = nullptr;
};
/// Adds a codec; called at start-up, before any thread runs.
void set_still_codec(const StillCodec& codec);

/// True where a file of that name can be read and written.
[[nodiscard]] bool knows_still(const std::string& path);
/// True where a file of that name can be written: those of knows_still(), and .npy, .tif and .tiff
/// for frames of floats.
[[nodiscard]] bool writes_still(const std::string& path);
/// True where a still of that name can be transparent.
[[nodiscard]] bool still_holds_alpha(const std::string& path);
/// Throws Error(usage) where frames of floats go into a picture or others into .npy, or frames of
/// more than 8 bits into a format that holds no more.
void check_still_format(const std::string& path, PixelFormat format);
/// Reads a still of gray8, rgb, bgr or bgra, or of these with 16 bits, turned as its EXIF
/// orientation says. Throws Error(no_input) where it is missing, Error(bad_input) where it cannot
/// be decoded.
[[nodiscard]] Image read_still(const std::string& path);
/// Reads a still, and what it says beside its pixels.
[[nodiscard]] Image read_still(const std::string& path, StillNotes& notes);
/// Writes a still of gray, a packed RGB form or floats, as the extension says, through
/// NAME.partial.EXT.
/// Throws Error(usage) for an unknown extension or a format that does not fit it,
/// Error(cannot_create), Error(write_failed).
void write_still(const std::string& path, const ConstImageView& image);
/// Writes a still with `notes`, as far as the format holds them. Returns what is lost of them,
/// "EXIF, density"; empty where all is there. A colour profile goes only with pictures of its kind,
/// gray or RGB.
[[nodiscard]] std::string write_still(const std::string& path, const ConstImageView& image,
                                      const StillNotes& notes, const StillOptions& options);

/// What there is in `notes`, in words: "EXIF, XMP, ICC profile, density"; empty where nothing is.
[[nodiscard]] std::string contents_of(const StillNotes& notes);

}  // namespace equalux
