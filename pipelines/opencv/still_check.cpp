#include "pipelines/opencv/still_check.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <span>
#include <string_view>

#include <equalux/error.h>
#include <equalux/image.h>

namespace equalux {
namespace {

using Bytes = std::span<const std::uint8_t>;

[[noreturn]] void bad(const std::string& path, const std::string& what) {
  throw Error(ExitCode::bad_input, path + ": " + what);
}
[[noreturn]] void truncated(const std::string& path, std::string_view format) {
  bad(path, "is truncated, the end of the " + std::string(format) +
                " is missing; copy or download it again");
}

enum class Endian { little, big };

/// Reads an unsigned number of `size` bytes at `at`, which the caller has checked to be inside.
std::uint64_t number(Bytes bytes, std::size_t at, std::size_t size, Endian endian) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t shift = 8 * (endian == Endian::little ? i : size - 1 - i);
    value |= std::uint64_t{bytes[at + i]} << shift;
  }
  return value;
}

bool starts_with(Bytes bytes, std::string_view magic, std::size_t at = 0) {
  return bytes.size() >= at + magic.size() &&
         std::equal(magic.begin(), magic.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

/// Checks the size. `most_per_byte`: pixels that one byte of the file can represent at best.
void check_size(const std::string& path, std::uint64_t width, std::uint64_t height,
                std::uint64_t bytes, std::uint64_t most_per_byte) {
  const auto size = std::to_string(width) + "x" + std::to_string(height);
  if (width == 0 || height == 0 || width > kMaxSide || height > kMaxSide)
    bad(path, "declares " + size + " pixels; sides of 1 to " + std::to_string(kMaxSide) +
                  " are possible");
  if (width * height / most_per_byte > bytes)
    bad(path, "declares " + size + " pixels, more than its " + std::to_string(bytes) +
                  " bytes can hold; the file is damaged");
}

void check_depth(const std::string& path, std::uint64_t bits, bool may_be_deep) {
  if (bits <= 8 || (may_be_deep && bits == 16)) return;
  bad(path, "has " + std::to_string(bits) + " bits a sample; 8" + (may_be_deep ? " or 16" : "") +
                " are possible");
}

// ---- PNG ----------------------------------------------------------------------------------------

constexpr std::string_view kPngMagic = "\x89PNG\r\n\x1a\n";

std::vector<std::uint8_t> check_png(const std::string& path, Bytes bytes) {
  std::vector<std::uint8_t> plain(bytes.begin(), bytes.begin() + kPngMagic.size());
  plain.reserve(bytes.size());
  for (std::size_t at = kPngMagic.size();;) {
    if (bytes.size() - at < 12) truncated(path, "PNG");
    const std::uint64_t length = number(bytes, at, 4, Endian::big);
    if (length > bytes.size() - at - 12) truncated(path, "PNG");
    const Bytes chunk = bytes.subspan(at, static_cast<std::size_t>(length) + 12);
    if (png_crc(chunk.subspan(4, chunk.size() - 8)) !=
        number(chunk, chunk.size() - 4, 4, Endian::big))
      bad(path, "is damaged: the checksum of a PNG chunk at byte " + std::to_string(at) +
                    " does not match");
    const bool header = starts_with(chunk, "IHDR", 4);
    if (header != (at == kPngMagic.size())) bad(path, "is damaged: its PNG header is misplaced");
    if (header) {
      if (length != 13) bad(path, "is damaged: its PNG header has the wrong length");
      check_depth(path, chunk[16], true);
      // Deflate compresses at most 1032 to 1, and the smallest pixel has one bit.
      check_size(path, number(chunk, 8, 4, Endian::big), number(chunk, 12, 4, Endian::big),
                 bytes.size(), 1032 * 8);
    }
    const bool critical = (chunk[4] & 0x20) == 0;
    if (critical || starts_with(chunk, "tRNS", 4))
      plain.insert(plain.end(), chunk.begin(), chunk.end());
    if (starts_with(chunk, "IEND", 4)) return plain;
    at += chunk.size();
  }
}

// ---- JPEG ---------------------------------------------------------------------------------------

bool is_jpeg_frame_header(std::uint8_t marker) {
  return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

/// Walks the segments, so that an end marker inside a thumbnail, which is inside a segment, does
/// not count.
void check_jpeg(const std::string& path, Bytes bytes) {
  std::size_t at = 2;
  for (;;) {
    while (at + 1 < bytes.size() && (bytes[at] != 0xff || bytes[at + 1] == 0xff))
      ++at;
    if (at + 1 >= bytes.size()) truncated(path, "JPEG");
    const std::uint8_t marker = bytes[at + 1];
    at += 2;
    if (marker == 0xd9) return;
    const bool stands_alone =
        marker == 0x00 || marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8);
    if (stands_alone) continue;
    if (bytes.size() - at < 2) truncated(path, "JPEG");
    const std::uint64_t length = number(bytes, at, 2, Endian::big);
    if (length > bytes.size() - at) truncated(path, "JPEG");
    if (is_jpeg_frame_header(marker)) {
      if (length < 8) bad(path, "is damaged: its JPEG frame header is too short");
      check_depth(path, bytes[at + 2], false);
      // A block of 64 samples takes at least one bit; a chroma sample may cover 16 pixels.
      check_size(path, number(bytes, at + 5, 2, Endian::big), number(bytes, at + 3, 2, Endian::big),
                 bytes.size(), 8 * 64 * 16);
    }
    at += static_cast<std::size_t>(length);
  }
}

// ---- BMP and WebP -------------------------------------------------------------------------------

void check_bmp(const std::string& path, Bytes bytes) {
  constexpr auto kLittle = Endian::little;
  if (bytes.size() < 54) truncated(path, "BMP");
  const std::uint64_t header = number(bytes, 14, 4, kLittle);
  const std::uint64_t bits = number(bytes, 28, 2, kLittle);
  const std::uint64_t compression = number(bytes, 30, 4, kLittle);
  // OpenCV mixes up the colours of the OS/2 variant, whose header has 12 bytes.
  if (header < 40 || header > 124 || compression > 3)
    bad(path, "is a BMP of a kind that is not read; save it as PNG");
  const std::uint64_t width = number(bytes, 18, 4, kLittle);
  const auto signed_height = static_cast<std::int32_t>(number(bytes, 22, 4, kLittle));
  const auto height = static_cast<std::uint64_t>(std::abs(std::int64_t{signed_height}));
  // Run-length coding: a pair of bytes fills up to 255 pixels, and skips can leave rows out.
  const bool run_length = compression == 1 || compression == 2;
  check_size(path, width, height, bytes.size(), run_length ? 65536 : 8);
  const std::uint64_t row = (width * bits + 31) / 32 * 4;
  if (!run_length && number(bytes, 10, 4, kLittle) + row * height > bytes.size())
    truncated(path, "BMP");
}

void check_webp(const std::string& path, Bytes bytes) {
  if (bytes.size() < 30 || number(bytes, 4, 4, Endian::little) + 8 > bytes.size())
    truncated(path, "WebP");
  if (starts_with(bytes, "VP8X", 12))
    check_size(path, number(bytes, 24, 3, Endian::little) + 1,
               number(bytes, 27, 3, Endian::little) + 1, bytes.size(), 1U << 30);
}

// ---- TIFF ---------------------------------------------------------------------------------------

/// The first directory of a classic TIFF.
class TiffDirectory {
 public:
  /// `path` is for the message of a file that is truncated.
  explicit TiffDirectory(Bytes bytes, std::string path = {})
      : path_(std::move(path)),
        bytes_(bytes),
        endian_(bytes[0] == 'I' ? Endian::little : Endian::big) {
    at_ = get(4, 4);
    entries_ = get(at_, 2);
    need(at_ + 2, entries_ * 12);
  }

  /// Returns all numbers of a tag; empty where it is absent.
  [[nodiscard]] std::vector<std::uint64_t> numbers(std::uint64_t tag) const {
    const std::uint64_t entry = entry_of(tag);
    if (entry == 0) return {};
    const std::uint64_t size = number_size(entry);
    const std::uint64_t count = get(entry + 4, 4);
    const std::uint64_t first = size * count <= 4 ? entry + 8 : get(entry + 8, 4);
    need(first, size * count);
    std::vector<std::uint64_t> values;
    for (std::uint64_t k = 0; k < count; ++k)
      values.push_back(get(first + k * size, size));
    return values;
  }

  /// Returns the bytes of each number of an entry.
  [[nodiscard]] std::uint64_t number_size(std::uint64_t entry) const {
    const std::uint64_t type = get(entry + 2, 2);
    return type == 3 ? 2 : type == 4 ? 4 : 1;
  }
  [[nodiscard]] bool has(std::uint64_t tag) const { return entry_of(tag) != 0; }
  /// Returns the position of the tag's entry in the file; 0 where it is absent.
  [[nodiscard]] std::uint64_t entry_of(std::uint64_t tag) const {
    for (std::uint64_t i = 0; i < entries_; ++i) {
      const std::uint64_t entry = at_ + 2 + i * 12;
      if (get(entry, 2) == tag) return entry;
    }
    return 0;
  }
  /// Returns the value of a tag of type RATIONAL; 0 where it is absent or has none.
  [[nodiscard]] double ratio(std::uint64_t tag) const {
    const std::uint64_t entry = entry_of(tag);
    if (entry == 0 || get(entry + 2, 2) != 5) return 0;
    const std::uint64_t at = get(entry + 8, 4);
    const auto below = static_cast<double>(get(at + 4, 4));
    return below > 0 ? static_cast<double>(get(at, 4)) / below : 0;
  }
  /// Moves to the next directory of the file; returns false at the end of the chain.
  bool next() {
    const std::uint64_t link = at_ + 2 + entries_ * 12;
    if (link + 4 > bytes_.size()) return false;
    at_ = get(link, 4);
    entries_ = 0;
    if (at_ == 0) return false;
    entries_ = get(at_, 2);
    need(at_ + 2, entries_ * 12);
    return true;
  }
  [[nodiscard]] Endian endian() const { return endian_; }
  [[nodiscard]] std::uint64_t position() const { return at_; }

 private:
  void need(std::uint64_t at, std::uint64_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) truncated(path_, "TIFF");
  }
  [[nodiscard]] std::uint64_t get(std::uint64_t at, std::uint64_t size) const {
    need(at, size);
    return number(bytes_, static_cast<std::size_t>(at), static_cast<std::size_t>(size), endian_);
  }

  std::string path_;
  Bytes bytes_;
  Endian endian_;
  std::uint64_t at_ = 0;
  std::uint64_t entries_ = 0;
};

void check_tiff(const std::string& path, Bytes bytes) {
  enum Tag : std::uint64_t {
    kWidth = 256,
    kHeight = 257,
    kBits = 258,
    kStripOffsets = 273,
    kStripBytes = 279,
    kTileOffsets = 324,
    kTileBytes = 325
  };
  if (bytes.size() < 8) truncated(path, "TIFF");
  const TiffDirectory directory(bytes, path);
  const auto widths = directory.numbers(kWidth);
  const auto heights = directory.numbers(kHeight);
  if (widths.empty() || heights.empty()) bad(path, "is damaged: its TIFF declares no size");
  for (const std::uint64_t bits : directory.numbers(kBits))
    check_depth(path, bits, true);
  // Fax coding can spend one bit on a row.
  check_size(path, widths[0], heights[0], bytes.size(), 8 * std::uint64_t{kMaxSide});
  for (const auto& [offsets_tag, sizes_tag] :
       {std::pair{kStripOffsets, kStripBytes}, std::pair{kTileOffsets, kTileBytes}}) {
    const auto offsets = directory.numbers(offsets_tag);
    const auto sizes = directory.numbers(sizes_tag);
    for (std::size_t i = 0; i < std::min(offsets.size(), sizes.size()); ++i)
      if (offsets[i] + sizes[i] > bytes.size()) truncated(path, "TIFF");
  }
}

// ---- what there is beside the pixels ------------------------------------------------------------

enum NoteTag : std::uint64_t {
  kSubfile = 254,
  kDescription = 270,
  kMake = 271,
  kModel = 272,
  kOrientation = 274,
  kXResolution = 282,
  kYResolution = 283,
  kResolutionUnit = 296,
  kDate = 306,
  kArtist = 315,
  kExtraSamples = 338,
  kXmp = 700,
  kCopyright = 33432,
  kIptc = 33723,
  kExifPointer = 34665,
  kIcc = 34675,
  kGpsPointer = 34853
};
constexpr double kInch_m = 0.0254;
constexpr double kInch_cm = 2.54;

void add_name(std::string& list, std::string_view name) {
  if (list.find(name) != std::string::npos) return;
  list.append(list.empty() ? "" : ", ").append(name);
}

/// Reads EXIF data, which has the structure of a TIFF. Throws where it is damaged.
void read_exif(Bytes bytes, StillFacts& facts) {
  if (bytes.size() < 8) return;
  const TiffDirectory directory(bytes);
  const auto orientation = directory.numbers(kOrientation);
  if (orientation.size() == 1 && orientation[0] >= 1 && orientation[0] <= 8)
    facts.orientation = static_cast<int>(orientation[0]);
  const auto unit = directory.numbers(kResolutionUnit);
  const double scale = unit.empty() || unit[0] == 2 ? 1 : unit[0] == 3 ? kInch_cm : 0;
  if (facts.dots_per_inch_x > 0) return;  // the file's own header has it
  facts.dots_per_inch_x = scale * directory.ratio(kXResolution);
  facts.dots_per_inch_y = scale * directory.ratio(kYResolution);
}

/// Reads EXIF data; damage in it is ignored, since it does not affect the rest of the file.
void look_through_exif(Bytes bytes, StillFacts& facts) {
  try {
    read_exif(bytes, facts);
  } catch (const Error&) {
    return;
  }
}

/// Finds what JPEGs of phones contain beside the picture: more pictures after it, a film, long
/// descriptions.
void look_for_more(std::uint8_t marker, Bytes data, StillFacts& facts) {
  using std::string_view_literals::operator""sv;
  if (marker == 0xe2 && starts_with(data, "MPF\0"sv))
    add_name(facts.others, "further pictures (MPF)");
  if (marker != 0xe1) return;
  if (starts_with(data, "http://ns.adobe.com/xmp/extension/"))
    add_name(facts.others, "extended XMP");
  const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
  if (!text.starts_with("http://ns.adobe.com/xap/")) return;
  for (const char* name : {"MotionPhoto=\"1\"", "MotionPhoto>1<", "MicroVideo=\"1\""}) {
    if (text.find(name) != std::string_view::npos)
      add_name(facts.others, "the film of a motion photo");
  }
}

void look_through_png(Bytes bytes, StillFacts& facts) {
  using std::string_view_literals::operator""sv;
  for (std::size_t at = kPngMagic.size(); bytes.size() - at >= 12;) {
    const std::uint64_t length = number(bytes, at, 4, Endian::big);
    if (length > bytes.size() - at - 12) return;
    const Bytes chunk = bytes.subspan(at, static_cast<std::size_t>(length) + 12);
    const Bytes data = chunk.subspan(8, static_cast<std::size_t>(length));
    const auto is = [&](std::string_view name) { return starts_with(chunk, name, 4); };
    if (is("pHYs") && length == 9 && data[8] == 1) {
      facts.dots_per_inch_x = kInch_m * static_cast<double>(number(data, 0, 4, Endian::big));
      facts.dots_per_inch_y = kInch_m * static_cast<double>(number(data, 4, 4, Endian::big));
    }
    facts.icc = facts.icc || is("iCCP");
    facts.xmp = facts.xmp || (is("iTXt") && starts_with(data, "XML:com.adobe.xmp\0"sv));
    if (is("zTXt") || is("tEXt")) {
      facts.exif = facts.exif || starts_with(data, "Raw profile type exif\0"sv) ||
                   starts_with(data, "Raw profile type APP1\0"sv);
      facts.iptc = facts.iptc || starts_with(data, "Raw profile type iptc\0"sv);
    }
    if (is("acTL") && length == 8)
      facts.pages = static_cast<std::uint32_t>(number(data, 0, 4, Endian::big));
    if (is("eXIf")) {
      facts.exif = true;
      look_through_exif(data, facts);
    }
    at += chunk.size();
  }
}

void look_through_jpeg(Bytes bytes, StillFacts& facts) {
  using std::string_view_literals::operator""sv;
  for (std::size_t at = 2; bytes.size() - at >= 4 && bytes[at] == 0xff;) {
    const std::uint8_t marker = bytes[at + 1];
    const auto length = static_cast<std::size_t>(number(bytes, at + 2, 2, Endian::big));
    // The scan begins at 0xda; the segments of interest precede it.
    if (marker == 0xda || marker == 0xd9 || length < 2 || length > bytes.size() - at - 2) return;
    const Bytes data = bytes.subspan(at + 4, length - 2);
    if (marker == 0xe0 && starts_with(data, "JFIF\0"sv) && data.size() >= 12 && data[7] != 0) {
      const double scale = data[7] == 2 ? kInch_cm : 1;
      facts.dots_per_inch_x = scale * static_cast<double>(number(data, 8, 2, Endian::big));
      facts.dots_per_inch_y = scale * static_cast<double>(number(data, 10, 2, Endian::big));
    }
    if (marker == 0xe1 && starts_with(data, "Exif\0\0"sv) && !facts.exif) {
      facts.exif = true;
      look_through_exif(data.subspan(6), facts);
    }
    look_for_more(marker, data, facts);
    facts.xmp = facts.xmp || (marker == 0xe1 && starts_with(data, "http://ns.adobe.com/xap/"));
    facts.icc = facts.icc || (marker == 0xe2 && starts_with(data, "ICC_PROFILE\0"sv));
    facts.iptc = facts.iptc || (marker == 0xed && starts_with(data, "Photoshop 3.0\0"sv));
    at += length + 2;
  }
}

void look_through_webp(Bytes bytes, StillFacts& facts) {
  using std::string_view_literals::operator""sv;
  std::uint32_t frames = 0;
  for (std::size_t at = 12; bytes.size() - at >= 8;) {
    const std::uint64_t length = number(bytes, at + 4, 4, Endian::little);
    if (length > bytes.size() - at - 8) break;
    Bytes data = bytes.subspan(at + 8, static_cast<std::size_t>(length));
    const auto is = [&](std::string_view name) { return starts_with(bytes, name, at); };
    facts.icc = facts.icc || is("ICCP");
    facts.xmp = facts.xmp || is("XMP ");
    if (is("ANMF")) ++frames;
    if (is("EXIF")) {
      facts.exif = true;
      // Some writers leave JPEG's marker in front.
      if (starts_with(data, "Exif\0\0"sv)) data = data.subspan(6);
      look_through_exif(data, facts);
    }
    at += std::min(bytes.size() - at, static_cast<std::size_t>(length + (length & 1)) + 8);
  }
  if (frames > 0) facts.pages = frames;
}

bool is_tiff(Bytes bytes) {
  using std::string_view_literals::operator""sv;
  return bytes.size() >= 8 && (starts_with(bytes, "II*\0"sv) || starts_with(bytes, "MM\0*"sv));
}

void look_through_tiff(Bytes bytes, StillFacts& facts) {
  read_exif(bytes, facts);
  TiffDirectory directory(bytes);
  // Description, maker, model, date, artist and copyright are in the first directory.
  for (const std::uint64_t tag :
       {kExifPointer, kGpsPointer, kDescription, kMake, kModel, kDate, kArtist, kCopyright})
    facts.exif = facts.exif || directory.has(tag);
  facts.xmp = directory.has(kXmp);
  facts.icc = directory.has(kIcc);
  facts.iptc = directory.has(kIptc);
  std::uint32_t pages = 1;
  // Damaged files may link a directory to an earlier one.
  std::set<std::uint64_t> seen{directory.position()};
  while (directory.next() && seen.insert(directory.position()).second) {
    const auto kind = directory.numbers(kSubfile);
    // Bit 0 marks a reduced copy of another page, bit 2 a mask of it.
    if (kind.empty() || (kind[0] & 5) == 0) ++pages;
    facts.pages = pages;
  }
}

void look_through_bmp(Bytes bytes, StillFacts& facts) {
  if (bytes.size() < 54) return;
  facts.dots_per_inch_x = kInch_m * static_cast<double>(number(bytes, 38, 4, Endian::little));
  facts.dots_per_inch_y = kInch_m * static_cast<double>(number(bytes, 42, 4, Endian::little));
}

/// Sets a tag of a TIFF's first page that has one number.
void set_to_one(std::vector<std::uint8_t>& bytes, std::uint64_t tag) {
  const TiffDirectory directory(bytes);
  const std::uint64_t entry = directory.entry_of(tag);
  if (entry == 0 || directory.numbers(tag).size() != 1) return;
  const auto value = bytes.begin() + static_cast<std::ptrdiff_t>(entry) + 8;
  const auto size = static_cast<std::ptrdiff_t>(directory.number_size(entry));
  std::fill_n(value, size, std::uint8_t{0});
  value[directory.endian() == Endian::little ? 0 : size - 1] = 1;
}

}  // namespace

std::uint32_t png_crc(std::span<const std::uint8_t> bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      t[i] = i;
      for (int bit = 0; bit < 8; ++bit)
        t[i] = (t[i] >> 1) ^ ((t[i] & 1) != 0 ? 0xedb88320U : 0U);
    }
    return t;
  }();
  std::uint32_t crc = 0xffffffffU;
  for (const std::uint8_t b : bytes)
    crc = (crc >> 8) ^ table[(crc ^ b) & 0xff];
  return ~crc;
}

StillFacts look_through(const std::vector<std::uint8_t>& bytes) {
  StillFacts facts;
  const Bytes all(bytes);
  try {
    if (starts_with(all, kPngMagic))
      look_through_png(all, facts);
    else if (starts_with(all, "\xff\xd8\xff"))
      look_through_jpeg(all, facts);
    else if (starts_with(all, "BM"))
      look_through_bmp(all, facts);
    else if (starts_with(all, "RIFF") && starts_with(all, "WEBP", 8))
      look_through_webp(all, facts);
    else if (is_tiff(all))
      look_through_tiff(all, facts);
  } catch (const Error&) {
    return facts;
  }
  return facts;
}

void leave_pixels_as_stored(std::vector<std::uint8_t>& bytes) {
  if (!is_tiff(bytes)) return;
  try {
    set_to_one(bytes, kOrientation);
    const std::vector<std::uint64_t> extra = TiffDirectory(bytes).numbers(kExtraSamples);
    constexpr std::uint64_t kUnassociated = 2;
    if (extra.size() == 1 && extra[0] == kUnassociated) set_to_one(bytes, kExtraSamples);
  } catch (const Error&) {
    return;  // check_still() reports it.
  }
}

std::vector<std::uint8_t> check_still(const std::string& path, std::vector<std::uint8_t> bytes) {
  using std::string_view_literals::operator""sv;
  const Bytes all(bytes);
  if (starts_with(all, kPngMagic)) return check_png(path, all);
  if (starts_with(all, "\xff\xd8\xff"))
    check_jpeg(path, all);
  else if (starts_with(all, "BM"))
    check_bmp(path, all);
  else if (starts_with(all, "RIFF") && starts_with(all, "WEBP", 8))
    check_webp(path, all);
  else if (starts_with(all, "II*\0"sv) || starts_with(all, "MM\0*"sv))
    check_tiff(path, all);
  else
    bad(path, "holds no PNG, JPEG, BMP, TIFF or WebP image");
  return bytes;
}

}  // namespace equalux
