#include "pipelines/opencv/still_notes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <mutex>
#include <utility>

#ifdef EQUALUX_HAVE_EXIV2
#include <exiv2/exiv2.hpp>
#endif

#include "src/common/log.h"

namespace equalux {
namespace {

using OwnBytes = std::vector<std::uint8_t>;

constexpr double kInches_in_m = 1 / 0.0254;

void list_name(std::string& list, const std::string& name) {
  list += (list.empty() ? "" : ", ") + name;
}

void put_number(OwnBytes& bytes, std::uint64_t value, int size, bool big_endian) {
  for (int i = 0; i < size; ++i) {
    const int shift = 8 * (big_endian ? size - 1 - i : i);
    bytes.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}

void put_text(OwnBytes& bytes, std::string_view text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
}

std::uint64_t per_metre(double per_inch) {
  return static_cast<std::uint64_t>(std::llround(per_inch * kInches_in_m));
}

void put_density(const StillNotes& notes, std::string_view format, OwnBytes& bytes) {
  const auto overwrite = [&](std::size_t at, std::uint64_t value, int size, bool big_endian) {
    OwnBytes number;
    put_number(number, value, size, big_endian);
    std::copy(number.begin(), number.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
  };
  // OpenCV's JPEGs begin with a JFIF header of 16 bytes, its BMPs have a header of at least 54.
  if (format == "JPEG" && bytes.size() > 20 && bytes[3] == 0xe0) {
    const auto dots = [](double per_inch) {
      return static_cast<std::uint64_t>(std::clamp<long long>(std::llround(per_inch), 1, 65535));
    };
    overwrite(13, 1, 1, true);
    overwrite(14, dots(notes.dots_per_inch_x), 2, true);
    overwrite(16, dots(notes.dots_per_inch_y), 2, true);
  }
  if (format == "BMP" && bytes.size() > 54) {
    overwrite(38, per_metre(notes.dots_per_inch_x), 4, false);
    overwrite(42, per_metre(notes.dots_per_inch_y), 4, false);
  }
}

// ---- PNG and WebP: chunks between those of the picture
// -------------------------------------------

std::uint32_t adler32(std::string_view data) {
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (const char c : data) {
    a = (a + static_cast<std::uint8_t>(c)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

/// Makes a zlib stream of stored blocks: profiles are small, and no library is needed.
OwnBytes stored(std::string_view data) {
  constexpr std::size_t kLongest = 65535;
  OwnBytes bytes{0x78, 0x01};
  std::size_t at = 0;
  do {
    const std::size_t length = std::min(kLongest, data.size() - at);
    const bool last = at + length == data.size();
    bytes.push_back(last ? 1 : 0);
    put_number(bytes, length, 2, false);
    put_number(bytes, ~length & 0xffff, 2, false);
    put_text(bytes, data.substr(at, length));
    at += length;
  } while (at < data.size());
  put_number(bytes, adler32(data), 4, true);
  return bytes;
}

void put_png_chunk(OwnBytes& bytes, std::string_view name, const OwnBytes& data) {
  put_number(bytes, data.size(), 4, true);
  OwnBytes checked;
  put_text(checked, name);
  checked.insert(checked.end(), data.begin(), data.end());
  bytes.insert(bytes.end(), checked.begin(), checked.end());
  put_number(bytes, png_crc(checked), 4, true);
}

void put_into_png(const StillNotes& notes, const std::string& exif, OwnBytes& bytes) {
  using std::string_view_literals::operator""sv;
  OwnBytes chunks;
  if (!notes.icc.empty()) {
    OwnBytes data;
    put_text(data, "ICC profile\0\0"sv);
    const OwnBytes packed = stored(notes.icc);
    data.insert(data.end(), packed.begin(), packed.end());
    put_png_chunk(chunks, "iCCP", data);
  }
  if (notes.dots_per_inch_x > 0) {
    OwnBytes data;
    put_number(data, per_metre(notes.dots_per_inch_x), 4, true);
    put_number(data, per_metre(notes.dots_per_inch_y), 4, true);
    data.push_back(1);
    put_png_chunk(chunks, "pHYs", data);
  }
  if (!exif.empty()) put_png_chunk(chunks, "eXIf", OwnBytes(exif.begin(), exif.end()));
  if (!notes.xmp.empty()) {
    OwnBytes data;
    put_text(data, "XML:com.adobe.xmp\0\0\0\0\0"sv);
    put_text(data, notes.xmp);
    put_png_chunk(chunks, "iTXt", data);
  }
  constexpr std::size_t kHeader = 8 + 12 + 13;  // signature and IHDR; metadata follow
  if (bytes.size() < kHeader) return;
  bytes.insert(bytes.begin() + kHeader, chunks.begin(), chunks.end());
}

void put_riff_chunk(OwnBytes& bytes, std::string_view name, std::string_view data) {
  put_text(bytes, name);
  put_number(bytes, data.size(), 4, false);
  put_text(bytes, data);
  if (data.size() % 2 == 1) bytes.push_back(0);
}

void put_into_webp(const ImageDesc& desc, const StillNotes& notes, const std::string& exif,
                   OwnBytes& bytes) {
  constexpr std::size_t kHead = 12;
  constexpr std::size_t kExtended = 8 + 10;
  if (bytes.size() < kHead + kExtended) return;
  const std::string_view first(reinterpret_cast<const char*>(bytes.data()) + kHead, 4);
  const bool extended = first == "VP8X";
  enum Flag : std::uint8_t { kXmp = 4, kExif = 8, kAlpha = 16, kIcc = 32 };
  unsigned flags = extended ? bytes[kHead + 8] : 0U;
  if (traits(desc.format).alpha_offset >= 0) flags |= kAlpha;
  if (!notes.icc.empty()) flags |= kIcc;
  if (!exif.empty()) flags |= kExif;
  if (!notes.xmp.empty()) flags |= kXmp;
  OwnBytes header;
  put_text(header, "VP8X");
  put_number(header, 10, 4, false);
  put_number(header, flags, 4, false);
  put_number(header, static_cast<std::uint64_t>(desc.width - 1), 3, false);
  put_number(header, static_cast<std::uint64_t>(desc.height - 1), 3, false);
  if (!notes.icc.empty()) put_riff_chunk(header, "ICCP", notes.icc);
  const auto picture = bytes.begin() + static_cast<std::ptrdiff_t>(kHead);
  if (extended) bytes.erase(picture, picture + static_cast<std::ptrdiff_t>(kExtended));
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(kHead), header.begin(), header.end());
  if (!exif.empty()) put_riff_chunk(bytes, "EXIF", exif);
  if (!notes.xmp.empty()) put_riff_chunk(bytes, "XMP ", notes.xmp);
  OwnBytes length;
  put_number(length, bytes.size() - 8, 4, false);
  std::copy(length.begin(), length.end(), bytes.begin() + 4);
}

// ---- Exiv2 --------------------------------------------------------------------------------------

#ifdef EQUALUX_HAVE_EXIV2

/// Locks Exiv2, whose XMP toolkit keeps a registry that threads share.
std::unique_lock<std::mutex> exiv2_lock() {
  static std::mutex mutex;
  std::unique_lock<std::mutex> lock(mutex);
  static const bool started = [] {
    // Silences Exiv2, which writes to stderr what is no error for us.
    Exiv2::LogMsg::setLevel(Exiv2::LogMsg::mute);
    return Exiv2::XmpParser::initialize();
  }();
  (void)started;
  return lock;
}

std::string_view text_of(const Exiv2::DataBuf& data) {
#if EXIV2_TEST_VERSION(0, 28, 0)
  return {reinterpret_cast<const char*>(data.c_data()), data.size()};
#else
  return {reinterpret_cast<const char*>(data.pData_), static_cast<std::size_t>(data.size_)};
#endif
}

const Exiv2::byte* bytes_of(std::string_view text) {
  return reinterpret_cast<const Exiv2::byte*>(text.data());
}

std::string_view profile_of(Exiv2::Image& image) {
#if EXIV2_TEST_VERSION(0, 28, 0)
  return text_of(image.iccProfile());
#else
  const Exiv2::DataBuf* profile = image.iccProfile();
  return profile == nullptr ? std::string_view() : text_of(*profile);
#endif
}

std::string blob_of(const Exiv2::ExifData& exif, Exiv2::ByteOrder order) {
  if (exif.empty()) return {};
  Exiv2::Blob blob;
  Exiv2::ExifParser::encode(blob, order == Exiv2::invalidByteOrder ? Exiv2::littleEndian : order,
                            exif);
  return {blob.begin(), blob.end()};
}

/// Returns true for tags that describe how the pixels of a TIFF are stored, and for what StillNotes
/// has elsewhere.
bool describes_storage(std::uint16_t tag) {
  constexpr std::array<std::uint16_t, 36> kTags{254, 255, 256, 257, 258, 259, 262,   263,   264,
                                                265, 266, 273, 277, 278, 279, 280,   281,   284,
                                                288, 289, 290, 291, 292, 293, 301,   317,   320,
                                                322, 323, 324, 325, 330, 700, 33723, 34377, 34675};
  return std::binary_search(kTags.begin(), kTags.end(), tag) || (tag >= 332 && tag <= 347) ||
         (tag >= 512 && tag <= 532);
}

/// Keeps only what describes the picture: no storage, no other pages, and no thumbnail, which would
/// show the unfiltered picture.
void keep_description(Exiv2::ExifData& exif) {
  for (auto at = exif.begin(); at != exif.end();) {
    const std::string group = at->groupName();
    const bool other_picture = group.starts_with("Thumbnail") || group.starts_with("SubImage") ||
                               group.starts_with("SubThumb") || group == "Image2" ||
                               group == "Image3" || group == "MpfInfo";
    const bool storage = group == "Image" && describes_storage(at->tag());
    at = other_picture || storage ? exif.erase(at) : std::next(at);
  }
}

void swap_values(Exiv2::ExifData& exif, const char* one, const char* other) {
  const auto a = exif.findKey(Exiv2::ExifKey(one));
  const auto b = exif.findKey(Exiv2::ExifKey(other));
  if (a == exif.end() || b == exif.end()) return;
  const std::string text = a->toString();
  a->setValue(b->toString());
  b->setValue(text);
}

void read_through_exiv2(const OwnBytes& bytes, StillFacts& facts, StillNotes& notes) {
  const auto lock = exiv2_lock();
  const auto image = Exiv2::ImageFactory::open(bytes.data(), static_cast<long>(bytes.size()));
  image->readMetadata();
  Exiv2::ExifData& exif = image->exifData();
  notes.icc = profile_of(*image);
  notes.xmp = image->xmpPacket();
  if (!image->iptcData().empty())
    notes.iptc = text_of(Exiv2::IptcParser::encode(image->iptcData()));
  keep_description(exif);

  const auto orientation = exif.findKey(Exiv2::ExifKey("Exif.Image.Orientation"));
  if (orientation != exif.end()) {
    const std::string text = orientation->toString();
    if (text.size() == 1 && text[0] >= '1' && text[0] <= '8') facts.orientation = text[0] - '0';
    orientation->setValue("1");
    if (facts.orientation != 1) {
      Exiv2::XmpData& xmp = image->xmpData();
      const auto said_again = xmp.findKey(Exiv2::XmpKey("Xmp.tiff.Orientation"));
      if (said_again != xmp.end()) {
        said_again->setValue("1");
        Exiv2::XmpParser::encode(notes.xmp, xmp);
      }
    }
    if (facts.orientation >= 5) {
      swap_values(exif, "Exif.Image.XResolution", "Exif.Image.YResolution");
      swap_values(exif, "Exif.Photo.FocalPlaneXResolution", "Exif.Photo.FocalPlaneYResolution");
    }
  }
  notes.exif = blob_of(exif, image->byteOrder());
}

void set_size(Exiv2::ExifData& exif, const ImageDesc& desc) {
  for (const auto& [key, size] : {std::pair("Exif.Photo.PixelXDimension", desc.width),
                                  std::pair("Exif.Photo.PixelYDimension", desc.height)}) {
    const auto found = exif.findKey(Exiv2::ExifKey(key));
    if (found != exif.end()) found->setValue(std::to_string(size));
  }
}

Exiv2::ExifData exif_of(const StillNotes& notes, const ImageDesc& desc,
                        Exiv2::ByteOrder& byte_order) {
  Exiv2::ExifData exif;
  if (notes.exif.empty()) return exif;
  byte_order = Exiv2::ExifParser::decode(exif, bytes_of(notes.exif),
                                         static_cast<std::uint32_t>(notes.exif.size()));
  set_size(exif, desc);
  return exif;
}

void put_through_exiv2(const Exiv2::ExifData& exif, const StillNotes& notes, OwnBytes& bytes) {
  const auto image = Exiv2::ImageFactory::open(bytes.data(), static_cast<long>(bytes.size()));
  image->readMetadata();
  Exiv2::ExifData& target = image->exifData();
  for (const Exiv2::Exifdatum& datum : exif)
    target[datum.key()] = datum.value();
  target.sortByTag();
  if (!notes.icc.empty()) {
    Exiv2::DataBuf profile(bytes_of(notes.icc), static_cast<long>(notes.icc.size()));
    image->setIccProfile(profile);
  }
  if (!notes.xmp.empty()) {
    image->setXmpPacket(notes.xmp);
    image->writeXmpFromPacket(true);
  }
  if (!notes.iptc.empty()) {
    Exiv2::IptcData iptc;
    Exiv2::IptcParser::decode(iptc, bytes_of(notes.iptc),
                              static_cast<std::uint32_t>(notes.iptc.size()));
    image->setIptcData(iptc);
  }
  image->writeMetadata();
  Exiv2::BasicIo& io = image->io();
  io.open();
  const Exiv2::DataBuf written = io.read(static_cast<long>(io.size()));
  const std::string_view text = text_of(written);
  bytes.assign(text.begin(), text.end());
}

#endif  // EQUALUX_HAVE_EXIV2

/// Returns true where a profile is of the picture's kind; another one is an error for readers.
bool fits(const std::string& icc, PixelFormat format) {
  const std::string_view space = std::string_view(icc).substr(0, 20);
  if (space.size() < 20) return false;
  return space.substr(16) == (traits(format).model == ColorModel::gray ? "GRAY" : "RGB ");
}

}  // namespace

StillNotes read_notes(const std::string& path, const std::vector<std::uint8_t>& bytes,
                      StillFacts& facts) {
  StillNotes notes;
  notes.pages = facts.pages;
#ifdef EQUALUX_HAVE_EXIV2
  try {
    if (facts.exif || facts.xmp || facts.iptc || facts.icc || facts.orientation != 1)
      read_through_exiv2(bytes, facts, notes);
  } catch (const std::exception& error) {
    logger().debug("{}: {}", path, error.what());
    notes = {};
    notes.pages = facts.pages;
  }
#else
  (void)path;
  (void)bytes;
#endif
  if (facts.exif && notes.exif.empty()) list_name(notes.unread, "EXIF");
  if (facts.xmp && notes.xmp.empty()) list_name(notes.unread, "XMP");
  if (facts.iptc && notes.iptc.empty()) list_name(notes.unread, "IPTC");
  if (facts.icc && notes.icc.empty()) list_name(notes.unread, "ICC profile");
  if (!facts.others.empty()) list_name(notes.unread, facts.others);
  if (facts.dots_per_inch_x > 0 && facts.dots_per_inch_y > 0) {
    notes.dots_per_inch_x = facts.dots_per_inch_x;
    notes.dots_per_inch_y = facts.dots_per_inch_y;
    if (facts.orientation >= 5) std::swap(notes.dots_per_inch_x, notes.dots_per_inch_y);
  }
  return notes;
}

void add_notes(const std::string& path, std::string_view format, const ImageDesc& desc,
               const StillNotes& notes, std::vector<std::uint8_t>& bytes, std::string& lost) {
  StillNotes kept = notes;
  const auto drop = [&](std::string& note, const std::string& name) {
    if (!std::exchange(note, {}).empty()) list_name(lost, name);
  };
  if (!notes.unread.empty()) list_name(lost, notes.unread);
  const bool holds_tags = format != "BMP";
  if (!holds_tags) {
    drop(kept.exif, "EXIF");
    drop(kept.xmp, "XMP");
    drop(kept.icc, "ICC profile");
  }
  if (format != "JPEG" && format != "TIFF") drop(kept.iptc, "IPTC");
  if (!kept.icc.empty() && !fits(kept.icc, desc.format)) {
    const bool gray = traits(desc.format).model == ColorModel::gray;
    drop(kept.icc, std::string("ICC profile (which is not for ") + (gray ? "gray" : "RGB") + ")");
  }
  const bool has_density = kept.dots_per_inch_x > 0 && kept.dots_per_inch_y > 0;
  if (has_density) put_density(kept, format, bytes);
  const bool has_tags =
      !kept.exif.empty() || !kept.xmp.empty() || !kept.iptc.empty() || !kept.icc.empty();
  std::string exif;
  try {
#ifdef EQUALUX_HAVE_EXIV2
    const auto lock = exiv2_lock();
    Exiv2::ByteOrder order = Exiv2::littleEndian;
    const Exiv2::ExifData data = exif_of(kept, desc, order);
    exif = blob_of(data, order);
    if (has_tags && (format == "JPEG" || format == "TIFF")) put_through_exiv2(data, kept, bytes);
#endif
    if (format == "PNG" && (has_tags || has_density)) put_into_png(kept, exif, bytes);
    if (format == "WebP" && has_tags) put_into_webp(desc, kept, exif, bytes);
  } catch (const std::exception& error) {
    logger().debug("{}: {}", path, error.what());
    for (const auto& [note, name] :
         {std::pair(&kept.exif, "EXIF"), std::pair(&kept.xmp, "XMP"), std::pair(&kept.iptc, "IPTC"),
          std::pair(&kept.icc, "ICC profile")})
      drop(*note, name);
  }
  if (has_density && format == "WebP" && kept.exif.empty()) list_name(lost, "density");
}

}  // namespace equalux
