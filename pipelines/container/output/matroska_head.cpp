#include "pipelines/container/output/matroska_head.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <span>
#include <string_view>

extern "C" {
#include <libavutil/crc.h>
#include <libavutil/display.h>
#include <libavutil/spherical.h>
}

#include <equalux/error.h>

#include "pipelines/container/input/ebml.h"
#include "pipelines/container/input/matroska_file.h"
#include "pipelines/container/side_data.h"

namespace equalux {
namespace {

using ebml::Element;
using ebml::for_children;

constexpr std::uint32_t kName = 0x536E;
constexpr std::uint32_t kProjection = 0x7670;
constexpr std::uint32_t kProjectionType = 0x7671;
constexpr std::uint32_t kProjectionPrivate = 0x7672;
/// Placeholder with the length of the element that replaces it: CodecDelay (0x56AA), one byte of
/// size, four of value.
constexpr std::string_view kRoom = "\x1A\x1A\x1A\x1A\x1A\x1A\x1A";

void write_size(std::span<std::uint8_t> where, std::uint64_t size) {
  for (std::size_t i = where.size(); i-- > 0; size >>= 8) {
    where[i] = static_cast<std::uint8_t>(size);
  }
  where[0] |= static_cast<std::uint8_t>(0x80U >> (where.size() - 1));
}

/// Removes the placeholder from a title's end and writes the delay there.
bool put_delay(const Element& name, std::span<std::uint8_t> whole, std::uint32_t delay_ns) {
  const std::string_view text(reinterpret_cast<const char*>(whole.data()), whole.size());
  if (!text.ends_with(kRoom)) return false;
  write_size(whole.subspan(name.id_bytes, name.size_bytes), name.size - kRoom.size());
  if (name.size == kRoom.size() && name.head() == 3) {  // There was no title before.
    constexpr std::array<std::uint8_t, 3> kNothing{ebml::kVoid, 0x81, 0x00};
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

/// Turns the projection of a sphere into that of a plane, which has type 0 and no bounds.
void flatten_projection(std::span<std::uint8_t> projection) {
  for_children(projection, [](const Element& element, std::span<std::uint8_t> whole) {
    if (element.id == kProjectionType) whole.back() = 0;
    if (element.id == kProjectionPrivate && whole.size() >= 2 && whole.size() < 128) {
      whole[0] = ebml::kVoid;
      write_size(whole.subspan(1, 1), whole.size() - 2);
    }
  });
}

void flatten_video(std::span<std::uint8_t> track) {
  for_children(track, [](const Element& video, std::span<std::uint8_t> whole) {
    if (video.id != ebml::kVideo) return;
    for_children(whole.subspan(video.head()),
                 [](const Element& element, std::span<std::uint8_t> inner) {
                   if (element.id == kProjection) flatten_projection(inner.subspan(element.head()));
                 });
  });
}

void renew_crc(std::span<std::uint8_t> content) {
  const auto first = ebml::parse_element(content);
  if (!first || first->id != ebml::kCrc32 || first->size != 4) return;
  const std::span<std::uint8_t> rest = content.subspan(first->head() + 4);
  const std::uint32_t crc =
      av_crc(av_crc_get_table(AV_CRC_32_IEEE_LE), 0xFFFFFFFF, rest.data(), rest.size()) ^
      0xFFFFFFFF;
  for (std::size_t i = 0; i < 4; ++i) {
    content[first->head() + i] = static_cast<std::uint8_t>(crc >> (8 * i));
  }
}

}  // namespace

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
  // A mirrored picture is mirrored first and then turned.
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
  FileBytes written(path);
  const auto place = find_tracks(written, false);
  if (!place) throw Error(ExitCode::write_failed, path + ": its head cannot be read back");
  std::vector<std::uint8_t> content(static_cast<std::size_t>(place->size));
  (void)written.read_some(place->position, content);
  std::size_t delay = 0;
  for_children(std::span(content), [&](const Element& entry, std::span<std::uint8_t> whole) {
    if (entry.id != ebml::kTrackEntry) return;
    const std::span<std::uint8_t> track = whole.subspan(entry.head());
    for_children(track, [&](const Element& element, std::span<std::uint8_t> inner) {
      if (element.id == kName && delay < delays_ns_.size()) {
        delay += put_delay(element, inner, delays_ns_[delay]);
      }
    });
    if (rotated_) flatten_video(track);
  });
  renew_crc(content);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(place->position));
  file.write(reinterpret_cast<const char*>(content.data()),
             static_cast<std::streamsize>(content.size()));
  file.flush();
  if (!file) throw Error(ExitCode::write_failed, path + ": its head cannot be completed");
}

}  // namespace equalux
