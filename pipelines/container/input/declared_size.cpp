#include "pipelines/container/input/declared_size.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "pipelines/container/input/ebml.h"
#include "src/common/formatting.h"

namespace equalux {
namespace {

template <std::size_t N>
std::uint64_t little_endian(const std::array<unsigned char, N>& bytes, std::size_t first,
                            std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i > 0; --i)
    value = value << 8 | bytes[first + i - 1];
  return value;
}

std::optional<MissingBytes> short_of(const FileBytes& file, std::uint64_t declared) {
  if (declared <= file.size()) return std::nullopt;
  return MissingBytes{file.size(), declared};
}

/// Upper bound for sizes, which are added up from a file's own claims: a larger sum is a wrong
/// claim.
constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 62;

std::optional<MissingBytes> riff(FileBytes& file) {
  std::uint64_t position = 0;
  std::array<unsigned char, 12> head{};
  while (file.read(position, head) && std::equal(head.begin(), head.begin() + 4, "RIFF")) {
    const std::uint64_t size = little_endian(head, 4, 4);
    // Sizes that a recorder leaves which was stopped before it wrote the end.
    if (size == 0 || size == 0xFFFFFFFF) return std::nullopt;
    if (const auto missing = short_of(file, position + 8 + size)) return missing;
    position += 8 + size + (size & 1);
  }
  return std::nullopt;
}

bool is_outer_box(std::string_view type) {
  static constexpr std::array<std::string_view, 18> kTypes{
      "ftyp", "moov", "mdat", "moof", "mfra", "free", "skip", "wide", "sidx",
      "styp", "uuid", "meta", "udta", "pnot", "PICT", "ssix", "prft", "emsg"};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

std::optional<MissingBytes> boxes(FileBytes& file) {
  std::uint64_t position = 0;
  std::array<unsigned char, 8> head{};
  while (file.read(position, head)) {
    if (!is_outer_box({reinterpret_cast<const char*>(head.data()) + 4, 4})) return std::nullopt;
    std::uint64_t size = big_endian(std::span(head).first<4>());
    std::uint64_t head_size = 8;
    if (size == 0) return std::nullopt;  // Extends to the end of the file, wherever that is.
    if (size == 1) {
      if (!file.read(position + 8, head)) return short_of(file, position + 16);
      size = big_endian(head);
      head_size = 16;
    }
    if (size < head_size || size > kLargestFile) return std::nullopt;
    position += size;
    if (const auto missing = short_of(file, position)) return missing;
  }
  return std::nullopt;
}

std::optional<MissingBytes> matroska(FileBytes& file) {
  const auto head = ebml::element_at(file, 0);
  if (!head || head->unknown_size || head->size > kLargestFile) return std::nullopt;
  const std::uint64_t position = head->whole();
  const auto segment = ebml::element_at(file, position);
  if (!segment) return short_of(file, position + 4);
  if (segment->id != ebml::kSegment || segment->unknown_size || segment->size > kLargestFile) {
    return std::nullopt;
  }
  return short_of(file, position + segment->whole());
}

using Guid = std::array<unsigned char, 16>;
constexpr Guid kAsfHeader{0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11,
                          0xA6, 0xD9, 0x00, 0xAA, 0x00, 0x62, 0xCE, 0x6C};
constexpr Guid kAsfProperties{0xA1, 0xDC, 0xAB, 0x8C, 0x47, 0xA9, 0xCF, 0x11,
                              0x8E, 0xE4, 0x00, 0xC0, 0x0C, 0x20, 0x53, 0x65};

/// Looks for the file properties among the objects of the header: the size of the file stands at
/// byte 40 of that object, and its flags at byte 88.
std::optional<MissingBytes> asf(FileBytes& file) {
  constexpr std::uint64_t kObjectHead = 24;  // a GUID and 8 bytes of size
  constexpr std::uint64_t kIsLive = 1;       // the size means nothing
  constexpr int kMostObjects = 1000;         // of a header, which has about ten
  std::array<unsigned char, 24> head{};
  if (!file.read(0, head)) return std::nullopt;
  const std::uint64_t end = little_endian(head, 16, 8);
  std::uint64_t position = kObjectHead + 6;
  for (int i = 0; i < kMostObjects && position < end && file.read(position, head); ++i) {
    const std::uint64_t size = little_endian(head, 16, 8);
    if (std::equal(kAsfProperties.begin(), kAsfProperties.end(), head.begin())) {
      std::array<unsigned char, 92> properties{};
      if (!file.read(position, properties)) return std::nullopt;
      const std::uint64_t declared = little_endian(properties, 40, 8);
      if ((little_endian(properties, 88, 4) & kIsLive) != 0 || declared > kLargestFile) {
        return std::nullopt;
      }
      return short_of(file, declared);
    }
    if (size < kObjectHead || size > kLargestFile) return std::nullopt;
    position += size;
  }
  return std::nullopt;
}

}  // namespace

std::optional<MissingBytes> missing_bytes(const std::string& path) {
  FileBytes file(path);
  Guid guid{};
  if (file.read(0, guid) && guid == kAsfHeader) return asf(file);
  std::array<unsigned char, 12> head{};
  if (!file.read(0, head)) return std::nullopt;
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (text.substr(0, 4) == "RIFF" && text.substr(8, 4) == "AVI ") return riff(file);
  if (big_endian(std::span(head).first<4>()) == ebml::kHead) return matroska(file);
  return boxes(file);
}

std::string describe(const MissingBytes& missing) {
  const bool large = missing.declared >= 1'000'000;
  const double unit = large ? 1e6 : 1e3;
  return fmt::format("holds {:.{}f} of {:.{}f} {}", static_cast<double>(missing.present) / unit,
                     large ? 2 : 1, static_cast<double>(missing.declared) / unit, large ? 2 : 1,
                     large ? "MB" : "kB");
}

}  // namespace equalux
