#include "pipelines/container/matroska_head.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <optional>
#include <span>
#include <string_view>

extern "C" {
#include <libavutil/crc.h>
#include <libavutil/display.h>
#include <libavutil/spherical.h>
}

#include <equalux/error.h>

#include "pipelines/container/side_data.h"

namespace equalux {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint32_t kEbml = 0x1A45DFA3;
constexpr std::uint32_t kSegment = 0x18538067;
constexpr std::uint32_t kCluster = 0x1F43B675;
constexpr std::uint32_t kTracks = 0x1654AE6B;
constexpr std::uint32_t kTrackEntry = 0xAE;
constexpr std::uint32_t kName = 0x536E;
constexpr std::uint32_t kVideo = 0xE0;
constexpr std::uint32_t kProjection = 0x7670;
constexpr std::uint32_t kProjectionType = 0x7671;
constexpr std::uint32_t kProjectionPrivate = 0x7672;
constexpr std::uint32_t kCrc32 = 0xBF;
constexpr std::uint32_t kTrackType = 0x83;
constexpr std::uint8_t kVideoType = 1;
constexpr std::uint32_t kCropBottom = 0x54AA;
constexpr std::uint32_t kCropTop = 0x54BB;
constexpr std::uint32_t kCropLeft = 0x54CC;
constexpr std::uint32_t kCropRight = 0x54DD;
constexpr std::uint8_t kVoid = 0xEC;

/// As long as the element that replaces it: CodecDelay (0x56AA), one byte of size, four of value.
constexpr std::string_view kRoom = "\x1A\x1A\x1A\x1A\x1A\x1A\x1A";

struct Element {
  std::uint32_t id = 0;
  std::size_t id_bytes = 0;
  std::size_t size_bytes = 0;
  std::uint64_t size = 0;
  bool unknown_size = false;
  [[nodiscard]] std::size_t head() const { return id_bytes + size_bytes; }
};

/// How many bytes a number whose first byte this is has; 0 for none.
std::size_t vint_bytes(std::uint8_t first) {
  std::size_t count = 1;
  for (unsigned mask = 0x80; mask != 0 && (first & mask) == 0; mask >>= 1)
    ++count;
  return count <= 8 ? count : 0;
}

std::optional<Element> parse_element(std::span<const std::uint8_t> bytes) {
  if (bytes.empty()) return std::nullopt;
  Element element;
  element.id_bytes = vint_bytes(bytes[0]);
  if (element.id_bytes == 0 || element.id_bytes > 4 || bytes.size() <= element.id_bytes) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < element.id_bytes; ++i)
    element.id = element.id << 8 | bytes[i];
  const std::uint8_t first = bytes[element.id_bytes];
  element.size_bytes = vint_bytes(first);
  if (element.size_bytes == 0 || bytes.size() < element.head()) return std::nullopt;
  element.size = first & (0xFFU >> element.size_bytes);
  for (std::size_t i = 1; i < element.size_bytes; ++i) {
    element.size = element.size << 8 | bytes[element.id_bytes + i];
  }
  element.unknown_size = element.size == (std::uint64_t{1} << (7 * element.size_bytes)) - 1;
  return element;
}

/// Calls `visit(element, all its bytes)` for each child of a master's content.
template <typename Visit>
void for_children(std::span<std::uint8_t> content, const Visit& visit) {
  while (const auto element = parse_element(content)) {
    if (element->size > content.size() - element->head()) return;
    const auto whole = static_cast<std::size_t>(element->size) + element->head();
    visit(*element, content.first(whole));
    content = content.subspan(whole);
  }
}

void write_size(std::span<std::uint8_t> where, std::uint64_t size) {
  for (std::size_t i = where.size(); i-- > 0; size >>= 8) {
    where[i] = static_cast<std::uint8_t>(size);
  }
  where[0] |= static_cast<std::uint8_t>(0x80U >> (where.size() - 1));
}

/// Cuts the room off a title's end and puts the delay there.
bool put_delay(const Element& name, std::span<std::uint8_t> whole, std::uint32_t delay_ns) {
  const std::string_view text(reinterpret_cast<const char*>(whole.data()), whole.size());
  if (!text.ends_with(kRoom)) return false;
  write_size(whole.subspan(name.id_bytes, name.size_bytes), name.size - kRoom.size());
  if (name.size == kRoom.size() && name.head() == 3) {  // No title was there before.
    constexpr std::array<std::uint8_t, 3> kNothing{kVoid, 0x81, 0x00};
    std::copy(kNothing.begin(), kNothing.end(), whole.begin());
  }
  const std::span<std::uint8_t> room = whole.last(kRoom.size());
  constexpr std::array<std::uint8_t, 3> kCodecDelay{0x56, 0xAA, 0x84};
  std::copy(kCodecDelay.begin(), kCodecDelay.end(), room.begin());
  for (std::size_t i = 0; i < 4; ++i) {
    room[3 + i] = static_cast<std::uint8_t>(delay_ns >> (24 - 8 * i));
  }
  return true;
}

/// Turns the projection of a sphere into that of a plane, which has a type of 0 and no bounds.
void flatten_projection(std::span<std::uint8_t> projection) {
  for_children(projection, [](const Element& element, std::span<std::uint8_t> whole) {
    if (element.id == kProjectionType) whole.back() = 0;
    if (element.id == kProjectionPrivate && whole.size() >= 2 && whole.size() < 128) {
      whole[0] = kVoid;
      write_size(whole.subspan(1, 1), whole.size() - 2);
    }
  });
}

void flatten_video(std::span<std::uint8_t> track) {
  for_children(track, [](const Element& video, std::span<std::uint8_t> whole) {
    if (video.id != kVideo) return;
    for_children(whole.subspan(video.head()),
                 [](const Element& element, std::span<std::uint8_t> inner) {
                   if (element.id == kProjection) flatten_projection(inner.subspan(element.head()));
                 });
  });
}

void renew_crc(std::span<std::uint8_t> content) {
  const auto first = parse_element(content);
  if (!first || first->id != kCrc32 || first->size != 4) return;
  const std::span<std::uint8_t> rest = content.subspan(first->head() + 4);
  const std::uint32_t crc =
      av_crc(av_crc_get_table(AV_CRC_32_IEEE_LE), 0xFFFFFFFF, rest.data(), rest.size()) ^
      0xFFFFFFFF;
  for (std::size_t i = 0; i < 4; ++i) {
    content[first->head() + i] = static_cast<std::uint8_t>(crc >> (8 * i));
  }
}

struct Place {
  std::uint64_t position = 0;
  std::size_t size = 0;
};

/// Where the content of the Tracks element lies.
std::optional<Place> find_tracks(std::istream& file, bool behind_pictures = false) {
  std::uint64_t position = 0;
  while (true) {
    std::array<std::uint8_t, 12> head{};
    file.clear();
    file.seekg(static_cast<std::streamoff>(position));
    file.read(reinterpret_cast<char*>(head.data()), head.size());
    const auto count = static_cast<std::size_t>(file.gcount());
    const auto element = parse_element(std::span(head).first(count));
    if (!element || (element->id == kCluster && !behind_pictures)) return std::nullopt;
    position += element->head();
    if (element->id == kTracks) return Place{position, static_cast<std::size_t>(element->size)};
    if (element->id == kEbml || element->id != kSegment) {
      if (element->unknown_size) return std::nullopt;
      position += element->size;
    }
  }
}

std::uint64_t unsigned_value(const Element& element, std::span<const std::uint8_t> whole) {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : whole.subspan(element.head()))
    value = value << 8 | byte;
  return value;
}

PixelCrop crop_of_video(std::span<std::uint8_t> track) {
  PixelCrop crop;
  for_children(track, [&](const Element& video, std::span<std::uint8_t> whole) {
    if (video.id != kVideo) return;
    for_children(whole.subspan(video.head()),
                 [&](const Element& element, std::span<std::uint8_t> inner) {
                   if (element.id == kCropLeft) crop.left = unsigned_value(element, inner);
                   if (element.id == kCropTop) crop.top = unsigned_value(element, inner);
                   if (element.id == kCropRight) crop.right = unsigned_value(element, inner);
                   if (element.id == kCropBottom) crop.bottom = unsigned_value(element, inner);
                 });
  });
  return crop;
}

}  // namespace

std::optional<PixelCrop> matroska_crop(const std::string& path) {
  constexpr std::size_t kLargestHead = std::size_t{16} << 20;
  std::ifstream file(path, std::ios::binary);
  const auto place = find_tracks(file, true);
  if (!place || place->size > kLargestHead) return std::nullopt;
  Bytes content(place->size);
  file.clear();
  file.seekg(static_cast<std::streamoff>(place->position));
  if (!file.read(reinterpret_cast<char*>(content.data()),
                 static_cast<std::streamsize>(content.size()))) {
    return std::nullopt;
  }
  std::optional<PixelCrop> first;
  for_children(content, [&](const Element& entry, std::span<std::uint8_t> whole) {
    if (entry.id != kTrackEntry || first) return;
    const std::span<std::uint8_t> track = whole.subspan(entry.head());
    for_children(track, [&](const Element& element, std::span<std::uint8_t> inner) {
      const bool video = element.id == kTrackType && unsigned_value(element, inner) == kVideoType;
      if (video) first = crop_of_video(track);
    });
  });
  return first == PixelCrop{} ? std::nullopt : first;
}

bool MatroskaHead::is_needed() {
  return avformat_version() < AV_VERSION_INT(60, 0, 0);
}

void MatroskaHead::reserve_rotation(AVStream& video) {
  const auto matrix = side_data(video, AV_PKT_DATA_DISPLAYMATRIX);
  if (matrix.size() < 9 * sizeof(std::int32_t) ||
      !side_data(video, AV_PKT_DATA_SPHERICAL).empty()) {
    return;
  }
  std::array<std::int32_t, 9> values{};
  std::copy_n(reinterpret_cast<const std::int32_t*>(matrix.data()), 9, values.begin());
  // A mirrored picture is one turned about its vertical axis first.
  const bool mirrored = static_cast<std::int64_t>(values[0]) * values[4] <
                        static_cast<std::int64_t>(values[1]) * values[3];
  if (mirrored) av_display_matrix_flip(values.data(), 1, 0);
  const double angle = av_display_rotation_get(values.data());
  if (std::isnan(angle) || (angle == 0 && !mirrored)) return;
  std::size_t size = 0;
  AVSphericalMapping* sphere = av_spherical_alloc(&size);
  if (sphere == nullptr) throw std::bad_alloc();
  sphere->projection = AV_SPHERICAL_EQUIRECTANGULAR;
  sphere->yaw = mirrored ? 180 * (1 << 16) : 0;
  sphere->roll = static_cast<std::int32_t>(std::lround((mirrored ? -angle : angle) * (1 << 16)));
  set_side_data(video, AV_PKT_DATA_SPHERICAL,
                std::as_bytes(std::span(reinterpret_cast<const std::uint8_t*>(sphere), size)));
  av_free(sphere);
  rotated_ = true;
}

void MatroskaHead::reserve_delay(AVStream& audio, std::int64_t delay_ns) {
  const std::string title = tag_of(audio.metadata, "title") + std::string(kRoom);
  av_dict_set(&audio.metadata, "title", title.c_str(), 0);
  delays_ns_.push_back(
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(delay_ns, 0, 0xFFFFFFFF)));
}

void MatroskaHead::complete(const std::string& path) const {
  if (!rotated_ && delays_ns_.empty()) return;
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto place = find_tracks(file);
  if (!place) throw Error(ExitCode::write_failed, path + ": its head cannot be read back");
  Bytes content(place->size);
  const auto size = static_cast<std::streamsize>(content.size());
  file.clear();
  file.seekg(static_cast<std::streamoff>(place->position));
  file.read(reinterpret_cast<char*>(content.data()), size);
  std::size_t delay = 0;
  for_children(content, [&](const Element& entry, std::span<std::uint8_t> whole) {
    if (entry.id != kTrackEntry) return;
    const std::span<std::uint8_t> track = whole.subspan(entry.head());
    for_children(track, [&](const Element& element, std::span<std::uint8_t> inner) {
      if (element.id == kName && delay < delays_ns_.size()) {
        delay += put_delay(element, inner, delays_ns_[delay]);
      }
    });
    if (rotated_) flatten_video(track);
  });
  renew_crc(content);
  file.seekp(static_cast<std::streamoff>(place->position));
  file.write(reinterpret_cast<const char*>(content.data()), size);
  file.flush();
  if (!file) throw Error(ExitCode::write_failed, path + ": its head cannot be completed");
}

}  // namespace equalux
