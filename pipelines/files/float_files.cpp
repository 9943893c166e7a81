#include "pipelines/files/float_files.h"

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include <equalux/error.h>

#include "pipelines/files/partial_file.h"

namespace equalux {
namespace {

static_assert(std::endian::native == std::endian::little, "samples are written as they lie");

/// Throws Error(usage) for frames that are not floats.
const FormatTraits& traits_of_floats(const std::string& path, PixelFormat format) {
  const FormatTraits& form = traits(format);
  if (form.model == ColorModel::real) return form;
  throw Error(ExitCode::usage, path + ": holds floats, not " + std::string(form.name));
}

void write_plane(PartialFile& file, const ConstImageView& image, int plane) {
  for (int y = 0; y < image.desc.height; ++y)
    file.write(image.row(plane, y), row_bytes(image.desc, plane));
}

/// Builds magic, version, length and a Python dictionary, together a multiple of 64 bytes.
std::string npy_header(const ImageDesc& desc) {
  constexpr std::size_t kAlignment = 64;
  constexpr std::size_t kBeforeText = 10;
  const std::string planes = traits(desc.format).planes == 1 ? "" : "2, ";
  std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + planes +
                     std::to_string(desc.height) + ", " + std::to_string(desc.width) + "), }";
  while ((kBeforeText + text.size() + 1) % kAlignment != 0)
    text += ' ';
  text += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(text.size() % 256);
  bytes += static_cast<char>(text.size() / 256);
  return bytes + text;
}

constexpr std::uint64_t kTiffHeaderBytes = 8;
constexpr std::uint16_t kEntries = 10;
constexpr std::uint64_t kDirectoryBytes = 2 + kEntries * 12 + 4;

void put16(std::string& bytes, std::uint16_t value) {
  bytes += static_cast<char>(value & 255);
  bytes += static_cast<char>(value >> 8);
}

void put32(std::string& bytes, std::uint32_t value) {
  put16(bytes, static_cast<std::uint16_t>(value & 0xffff));
  put16(bytes, static_cast<std::uint16_t>(value >> 16));
}

/// Builds a page's directory: its samples are in one strip at `samples`, the next page's directory
/// at `next`, or 0.
std::string tiff_directory(const ImageDesc& desc, std::uint32_t samples, std::uint32_t next) {
  // Tags of TIFF 6.0. Types: 3 = 16 bits, 4 = 32 bits.
  const auto width = static_cast<std::uint32_t>(desc.width);
  const auto height = static_cast<std::uint32_t>(desc.height);
  struct Entry {
    std::uint16_t tag, type;
    std::uint32_t value;
  };
  const std::array<Entry, kEntries> entries{{
      {256, 4, width},
      {257, 4, height},
      {258, 3, 32},                  // bits per sample
      {259, 3, 1},                   // no compression
      {262, 3, 1},                   // 0 is black
      {273, 4, samples},             // where the strip begins
      {277, 3, 1},                   // samples per pixel
      {278, 4, height},              // rows of the strip
      {279, 4, width * height * 4},  // its bytes
      {339, 3, 3},                   // samples are floats
  }};
  std::string bytes;
  put16(bytes, kEntries);
  for (const Entry& entry : entries) {
    put16(bytes, entry.tag);
    put16(bytes, entry.type);
    put32(bytes, 1);
    put32(bytes, entry.value);  // A 16-bit value is in the first half.
  }
  put32(bytes, next);
  return bytes;
}

}  // namespace

void write_npy(const std::string& path, const ConstImageView& image) {
  const FormatTraits& form = traits_of_floats(path, image.desc.format);
  PartialFile file(path);
  const std::string head = npy_header(image.desc);
  file.write(head.data(), head.size());
  for (int p = 0; p < form.planes; ++p)
    write_plane(file, image, p);
  file.commit();
}

void write_float_tiff(const std::string& path, const ConstImageView& image) {
  const FormatTraits& form = traits_of_floats(path, image.desc.format);
  const std::uint64_t plane =
      std::uint64_t{row_bytes(image.desc, 0)} * static_cast<std::uint64_t>(image.desc.height);
  const std::uint64_t page = kDirectoryBytes + plane;
  const auto pages = static_cast<std::uint64_t>(form.planes);
  if (kTiffHeaderBytes + pages * page > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ExitCode::cannot_create, path + ": TIFF holds at most 4 GiB; name it .npy");
  }
  PartialFile file(path);
  std::string head("II*\0", 4);
  put32(head, kTiffHeaderBytes);
  file.write(head.data(), head.size());
  for (int p = 0; p < form.planes; ++p) {
    const std::uint64_t at = kTiffHeaderBytes + static_cast<std::uint64_t>(p) * page;
    const bool last = p + 1 == form.planes;
    const std::string entries =
        tiff_directory(image.desc, static_cast<std::uint32_t>(at + kDirectoryBytes),
                       last ? 0 : static_cast<std::uint32_t>(at + page));
    file.write(entries.data(), entries.size());
    write_plane(file, image, p);
  }
  file.commit();
}

}  // namespace equalux
