#include "pipelines/container/declared_size.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

#include "src/common/formatting.h"

namespace equalux {
namespace {

constexpr std::uint32_t kEbmlHead = 0x1A45DFA3;
constexpr std::uint32_t kSegment = 0x18538067;

/// Random access to a file's bytes; false wherever the file ends too early.
class Bytes {
 public:
  explicit Bytes(const std::string& path) : file_(path, std::ios::binary | std::ios::ate) {
    if (file_) size_ = static_cast<std::uint64_t>(std::max<std::streamoff>(0, file_.tellg()));
  }
  [[nodiscard]] std::uint64_t size() const { return size_; }

  template <std::size_t N>
  bool read(std::uint64_t position, std::array<unsigned char, N>& out) {
    if (position > size_ || size_ - position < N) return false;
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(position));
    file_.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(N));
    return static_cast<bool>(file_);
  }

 private:
  std::ifstream file_;
  std::uint64_t size_ = 0;
};

template <std::size_t N>
std::uint64_t big_endian(const std::array<unsigned char, N>& bytes, std::size_t first,
                         std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i)
    value = value << 8 | bytes[first + i];
  return value;
}

std::optional<MissingBytes> short_of(const Bytes& file, std::uint64_t declared) {
  if (declared <= file.size()) return std::nullopt;
  return MissingBytes{file.size(), declared};
}

/// Sizes are added up from a file's own claims: a sum beyond any file is a wrong claim.
constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 62;

std::optional<MissingBytes> riff(Bytes& file) {
  std::uint64_t position = 0;
  std::array<unsigned char, 12> head{};
  while (file.read(position, head) && std::equal(head.begin(), head.begin() + 4, "RIFF")) {
    std::uint64_t size = 0;
    for (std::size_t i = 0; i < 4; ++i)
      size |= std::uint64_t{head[4 + i]} << (8 * i);
    // A recorder that never came to its end leaves these.
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

std::optional<MissingBytes> boxes(Bytes& file) {
  std::uint64_t position = 0;
  std::array<unsigned char, 8> head{};
  while (file.read(position, head)) {
    if (!is_outer_box({reinterpret_cast<const char*>(head.data()) + 4, 4})) return std::nullopt;
    std::uint64_t size = big_endian(head, 0, 4);
    std::uint64_t head_size = 8;
    if (size == 0) return std::nullopt;  // Up to the end of the file, wherever that is.
    if (size == 1) {
      if (!file.read(position + 8, head)) return short_of(file, position + 16);
      size = big_endian(head, 0, 8);
      head_size = 16;
    }
    if (size < head_size || size > kLargestFile) return std::nullopt;
    position += size;
    if (const auto missing = short_of(file, position)) return missing;
  }
  return std::nullopt;
}

/// An element's size field. `unknown` is what a live writer leaves.
struct EbmlSize {
  std::uint64_t value = 0;
  std::uint64_t bytes = 0;
  bool unknown = false;
};

std::optional<EbmlSize> ebml_size(Bytes& file, std::uint64_t position) {
  std::array<unsigned char, 1> first{};
  if (!file.read(position, first) || first[0] == 0) return std::nullopt;
  EbmlSize size;
  size.bytes = 1;
  while ((first[0] & (0x80U >> (size.bytes - 1))) == 0)
    ++size.bytes;
  size.value = first[0] & (0xFFU >> size.bytes);
  for (std::uint64_t i = 1; i < size.bytes; ++i) {
    std::array<unsigned char, 1> next{};
    if (!file.read(position + i, next)) return std::nullopt;
    size.value = size.value << 8 | next[0];
  }
  size.unknown = size.value == (std::uint64_t{1} << (7 * size.bytes)) - 1;
  return size;
}

std::optional<MissingBytes> matroska(Bytes& file) {
  const auto head = ebml_size(file, 4);
  if (!head || head->unknown || head->value > kLargestFile) return std::nullopt;
  const std::uint64_t segment = 4 + head->bytes + head->value;
  std::array<unsigned char, 4> id{};
  if (!file.read(segment, id)) return short_of(file, segment + 4);
  if (big_endian(id, 0, 4) != kSegment) return std::nullopt;
  const auto size = ebml_size(file, segment + 4);
  if (!size || size->unknown || size->value > kLargestFile) return std::nullopt;
  return short_of(file, segment + 4 + size->bytes + size->value);
}

}  // namespace

std::optional<MissingBytes> missing_bytes(const std::string& path) {
  Bytes file(path);
  std::array<unsigned char, 12> head{};
  if (!file.read(0, head)) return std::nullopt;
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (text.substr(0, 4) == "RIFF" && text.substr(8, 4) == "AVI ") return riff(file);
  if (big_endian(head, 0, 4) == kEbmlHead) return matroska(file);
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
