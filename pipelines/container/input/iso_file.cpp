#include "pipelines/container/input/iso_file.h"

#include <array>
#include <cstdint>
#include <string_view>

#include "pipelines/container/input/file_bytes.h"

namespace equalux {
namespace {

/// A range of bytes in a file: the content of a box.
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

std::uint64_t number_at(FileBytes& file, std::uint64_t position, std::size_t bytes) {
  std::array<std::uint8_t, 8> read{};
  (void)file.read_some(position, std::span(read).first(bytes));
  return big_endian(std::span(read).first(bytes));
}

std::string type_at(FileBytes& file, std::uint64_t position) {
  std::array<std::uint8_t, 4> type{};
  (void)file.read_some(position, type);
  return {type.begin(), type.end()};
}

/// Calls `visit(type, content)` for each box of a range, up to the first one that does not fit.
template <typename Visit>
void for_boxes(FileBytes& file, Range range, const Visit& visit) {
  while (range.begin < range.end && range.end - range.begin >= 8) {
    std::uint64_t size = number_at(file, range.begin, 4);
    std::uint64_t head = 8;
    if (size == 1) {
      size = number_at(file, range.begin + 8, 8);
      head = 16;
    }
    if (size == 0) size = range.end - range.begin;  // Extends to the end.
    if (size < head || size > range.end - range.begin) return;
    visit(type_at(file, range.begin + 4), Range{range.begin + head, range.begin + size});
    range.begin += size;
  }
}

/// Returns the content of the first box of a type; empty where there is none.
Range find_box(FileBytes& file, Range range, std::string_view type) {
  Range found;
  for_boxes(file, range, [&](const std::string& name, const Range& content) {
    if (name == type && found.end == 0) found = content;
  });
  return found;
}

/// Returns the sample description of a track, if it is a video.
Range video_entry(FileBytes& file, Range track) {
  const Range media = find_box(file, track, "mdia");
  const Range handler = find_box(file, media, "hdlr");
  if (type_at(file, handler.begin + 8) != "vide") return {};
  const Range table = find_box(file, find_box(file, media, "minf"), "stbl");
  const Range descriptions = find_box(file, table, "stsd");
  Range first;
  for_boxes(file, {descriptions.begin + 8, descriptions.end},
            [&](const std::string&, const Range& entry) {
              if (first.end == 0) first = entry;
            });
  return first;
}

}  // namespace

std::optional<CleanAperture> iso_clean_aperture(const std::string& path) {
  constexpr std::uint64_t kEntryHead = 78;  // Size, resolution and name of the encoder.
  FileBytes file(path);
  Range entry;
  for_boxes(file, find_box(file, {0, file.size()}, "moov"),
            [&](const std::string& type, const Range& track) {
              if (type == "trak" && entry.end == 0) entry = video_entry(file, track);
            });
  const Range clean = find_box(file, {entry.begin + kEntryHead, entry.end}, "clap");
  if (clean.end < clean.begin + 32) return std::nullopt;
  // Reads two ratios of 32 bits each, which are the sides; the offsets of the centre follow them.
  const auto side = [&](std::uint64_t at) {
    const std::uint64_t parts = number_at(file, clean.begin + at + 4, 4);
    return parts == 0 ? 0 : static_cast<int>(number_at(file, clean.begin + at, 4) / parts & 0xFFFF);
  };
  const CleanAperture aperture{side(0), side(8)};
  if (aperture.width == 0 || aperture.height == 0) return std::nullopt;
  return aperture;
}

bool iso_has_named_tags(const std::string& path) {
  FileBytes file(path);
  const Range movie = find_box(file, {0, file.size()}, "moov");
  for (const Range& around : {movie, find_box(file, movie, "udta")}) {
    const Range tags = find_box(file, around, "meta");
    // Skips the version that mp4 has in front of the keys and QuickTime lacks.
    for (const std::uint64_t version : {0, 4}) {
      if (find_box(file, {tags.begin + version, tags.end}, "keys").end != 0) return true;
    }
  }
  return false;
}

}  // namespace equalux
