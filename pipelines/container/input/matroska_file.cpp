#include "pipelines/container/input/matroska_file.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "pipelines/container/input/ebml.h"
#include "src/common/formatting.h"
#include "src/common/log.h"

namespace equalux {
namespace {

using ebml::Element;
using ebml::for_children;

constexpr std::uint32_t kCropBottom = 0x54AA;
constexpr std::uint32_t kCropTop = 0x54BB;
constexpr std::uint32_t kCropLeft = 0x54CC;
constexpr std::uint32_t kCropRight = 0x54DD;
constexpr std::uint32_t kDisplayWidth = 0x54B0;
constexpr std::uint32_t kDisplayHeight = 0x54BA;
constexpr std::uint32_t kDisplayUnit = 0x54B2;
/// Value of kDisplayUnit for an unknown unit.
constexpr std::uint64_t kUnknownUnit = 4;
constexpr std::uint32_t kTimestampScale = 0x2AD7B1;
constexpr std::uint32_t kClusterTime = 0xE7;
constexpr std::uint32_t kSimpleBlock = 0xA3;
constexpr std::uint32_t kBlockGroup = 0xA0;
constexpr std::uint32_t kBlock = 0xA1;

/// Largest size of a track description that is taken for real.
constexpr std::uint64_t kLargestHead = std::uint64_t{16} << 20;

std::vector<std::uint8_t> content_at(FileBytes& file, const ElementPlace& place) {
  std::vector<std::uint8_t> content;
  if (place.size > kLargestHead) return content;
  content.resize(static_cast<std::size_t>(place.size));
  content.resize(file.read_some(place.position, content));
  return content;
}

/// Returns the content of the first track that is a video; empty where none is.
std::span<std::uint8_t> first_video(std::span<std::uint8_t> tracks) {
  std::span<std::uint8_t> found;
  for_children(tracks, [&](const Element& entry, std::span<std::uint8_t> whole) {
    if (entry.id != ebml::kTrackEntry || !found.empty()) return;
    const std::span<std::uint8_t> track = whole.subspan(entry.head());
    for_children(track, [&](const Element& element, std::span<std::uint8_t> inner) {
      if (element.id == ebml::kTrackType && unsigned_value(element, inner) == ebml::kVideoType)
        found = track;
    });
  });
  return found;
}

ShownPart shown_part_of(std::span<std::uint8_t> track) {
  ShownPart part;
  std::uint64_t unit = 0;
  const auto read = [&](const Element& element, std::span<std::uint8_t> whole) {
    for (const auto& [id, value] :
         {std::pair(kCropLeft, &part.left), std::pair(kCropTop, &part.top),
          std::pair(kCropRight, &part.right), std::pair(kCropBottom, &part.bottom),
          std::pair(kDisplayWidth, &part.display_width),
          std::pair(kDisplayHeight, &part.display_height), std::pair(kDisplayUnit, &unit)}) {
      // Saturates above any picture side, so that later additions cannot overflow.
      if (element.id == id)
        *value = std::min<std::uint64_t>(unsigned_value(element, whole), 1 << 24);
    }
  };
  for_children(track, [&](const Element& video, std::span<std::uint8_t> whole) {
    if (video.id == ebml::kVideo) for_children(whole.subspan(video.head()), read);
  });
  if (unit >= kUnknownUnit || part.display_width == 0 || part.display_height == 0)
    part.display_width = part.display_height = 0;
  return part;
}

/// Returns true for the top-level elements of a segment.
bool is_section(std::uint32_t id) {
  constexpr std::array<std::uint32_t, 8> kSections{ebml::kInfo,
                                                   ebml::kTracks,
                                                   ebml::kCluster,
                                                   0x114D9B74 /* SeekHead */,
                                                   0x1C53BB6B /* Cues */,
                                                   0x1254C367 /* Tags */,
                                                   0x1043A770 /* Chapters */,
                                                   0x1941A469 /* Attachments */};
  return std::find(kSections.begin(), kSections.end(), id) != kSections.end();
}

bool is_filling(std::uint32_t id) {
  return id == ebml::kVoid || id == ebml::kCrc32;
}

/// Returns true for the elements that a cluster may contain.
bool is_in_cluster(std::uint32_t id) {
  constexpr std::array<std::uint32_t, 7> kParts{kClusterTime,
                                                kSimpleBlock,
                                                kBlockGroup,
                                                0xA7 /* Position */,
                                                0xAB /* PrevSize */,
                                                0xAF /* EncryptedBlock */,
                                                0x5854 /* SilentTracks */};
  return is_filling(id) || std::find(kParts.begin(), kParts.end(), id) != kParts.end();
}

/// Walks from element head to element head, and where none is found, to the next section.
class Survey {
 public:
  explicit Survey(const std::string& path) : file_(path) {}
  /// Returns the result; nothing for a file that is not Matroska.
  std::optional<MatroskaSurvey> made();

 private:
  struct Damage {
    std::uint64_t from = 0;  // byte
    std::uint64_t to = 0;
    std::optional<std::int64_t> before_ns;  // the latest time before it
    std::optional<std::int64_t> behind_ns;  // the first time after it
  };

  bool fits(const Element& element) const;
  bool is_whole(const Element& element);
  void walk_cluster(const Element& cluster);
  void skip_damage();
  std::uint64_t next_section(std::uint64_t from);
  void learn(const Element& section);
  void count_block(std::uint64_t position);
  void count_group(std::uint64_t position, const Element& group);
  std::string describe() const;

  FileBytes file_;
  std::uint64_t position_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t video_track_ = 0;
  std::uint64_t scale_ns_ = 1'000'000;
  std::uint64_t cluster_time_ = 0;
  std::optional<std::int64_t> latest_ns_;
  std::uint64_t video_blocks_ = 0;
  std::vector<Damage> damages_;
};

std::optional<MatroskaSurvey> Survey::made() {
  const auto head = ebml::element_at(file_, 0);
  if (!head || head->id != ebml::kHead || head->unknown_size) return std::nullopt;
  position_ = head->whole();
  const auto segment = ebml::element_at(file_, position_);
  if (!segment || segment->id != ebml::kSegment) return std::nullopt;
  position_ += segment->head();
  end_ = file_.size();
  if (!segment->unknown_size && segment->size < end_ - position_) end_ = position_ + segment->size;
  while (position_ < end_) {
    const auto element = ebml::element_at(file_, position_);
    if (!element || !is_whole(*element)) {
      // Another file may follow a segment of unknown size.
      if (element && element->id == ebml::kHead && segment->unknown_size) break;
      skip_damage();
    } else if (element->id == ebml::kCluster) {
      walk_cluster(*element);
    } else {
      learn(*element);
      position_ += element->whole();
    }
  }
  // A live writer that was killed declared no size, so nothing counts as missing.
  if (segment->unknown_size && !damages_.empty() && damages_.back().to == end_) damages_.pop_back();
  return MatroskaSurvey{video_blocks_, describe()};
}

bool Survey::fits(const Element& element) const {
  if (element.unknown_size) return element.id == ebml::kCluster;
  return element.whole() <= end_ - position_;
}

/// Returns true where an element is complete; one of unknown kind counts as complete if a known one
/// follows it.
bool Survey::is_whole(const Element& element) {
  if (!fits(element)) return false;
  if (is_section(element.id) || is_filling(element.id)) return true;
  const std::uint64_t behind = position_ + element.whole();
  const auto next = ebml::element_at(file_, behind);
  return element.id_bytes == 4 && (behind == end_ || (next && is_section(next->id)));
}

void Survey::walk_cluster(const Element& cluster) {
  position_ += cluster.head();
  const std::uint64_t end = cluster.unknown_size ? end_ : position_ + cluster.size;
  while (position_ < end) {
    const auto element = ebml::element_at(file_, position_);
    if (element && cluster.unknown_size &&
        (is_section(element->id) || element->id == ebml::kHead)) {
      return;
    }
    if (!element || element->unknown_size || !is_in_cluster(element->id) ||
        element->whole() > end - position_) {
      return skip_damage();
    }
    const std::uint64_t content = position_ + element->head();
    if (element->id == kClusterTime && element->size <= 8) {
      std::vector<std::uint8_t> whole(static_cast<std::size_t>(element->whole()));
      if (file_.read_some(position_, whole) == whole.size())
        cluster_time_ = unsigned_value(*element, whole);
    }
    if (element->id == kSimpleBlock) count_block(content);
    if (element->id == kBlockGroup) count_group(content, *element);
    position_ += element->whole();
  }
}

void Survey::count_group(std::uint64_t position, const Element& group) {
  const std::uint64_t end = position + group.size;
  while (position < end) {
    const auto element = ebml::element_at(file_, position);
    if (!element || element->whole() > end - position) return;
    if (element->id == kBlock) count_block(position + element->head());
    position += element->whole();
  }
}

/// Counts a block, which begins with its track's number and a time relative to the cluster's.
void Survey::count_block(std::uint64_t position) {
  std::array<std::uint8_t, 10> head{};
  const std::size_t there = file_.read_some(position, head);
  const std::size_t bytes = ebml::number_bytes(head[0]);
  if (bytes == 0 || there < bytes + 2) return;
  const std::uint64_t track =
      big_endian(std::span(head).first(bytes)) & ((std::uint64_t{1} << (7 * bytes)) - 1);
  if (track == video_track_) ++video_blocks_;
  const auto behind_cluster =
      static_cast<std::int16_t>(static_cast<std::uint16_t>(head[bytes] << 8 | head[bytes + 1]));
  // Limits the time, so that a wrong one cannot overflow.
  const std::uint64_t time = std::min<std::uint64_t>(cluster_time_, std::uint64_t{1} << 40);
  const std::uint64_t scale = std::min<std::uint64_t>(scale_ns_, 1'000'000);
  const std::int64_t now =
      (static_cast<std::int64_t>(time) + behind_cluster) * static_cast<std::int64_t>(scale);
  if (!damages_.empty() && !damages_.back().behind_ns) damages_.back().behind_ns = now;
  latest_ns_ = std::max(latest_ns_.value_or(now), now);
}

void Survey::skip_damage() {
  const std::uint64_t from = position_;
  position_ = next_section(from + 1);
  damages_.push_back({from, position_, latest_ns_, std::nullopt});
}

std::uint64_t Survey::next_section(std::uint64_t from) {
  std::array<std::uint8_t, 65536> part{};
  constexpr std::size_t kIdBytes = 4;
  while (from < end_) {
    const std::size_t count = file_.read_some(from, part);
    std::uint32_t id = 0;
    for (std::size_t i = 0; i < count; ++i) {
      id = id << 8 | part[i];
      if (i + 1 < kIdBytes || !is_section(id)) continue;
      position_ = from + i + 1 - kIdBytes;
      if (position_ >= end_) return end_;
      const auto section = ebml::element_at(file_, position_);
      if (!section || !fits(*section)) continue;
      const auto child = ebml::element_at(file_, position_ + section->head());
      if (section->id != ebml::kCluster || (child && is_in_cluster(child->id))) return position_;
    }
    if (count < part.size()) break;
    from += count - (kIdBytes - 1);
  }
  return end_;
}

/// Reads what blocks refer to: the tick of timestamps, and the number of the video track.
void Survey::learn(const Element& section) {
  if (section.id != ebml::kInfo && section.id != ebml::kTracks) return;
  std::vector<std::uint8_t> content = content_at(file_, {position_ + section.head(), section.size});
  const std::span<std::uint8_t> from =
      section.id == ebml::kInfo ? std::span(content) : first_video(content);
  for_children(from, [&](const Element& element, std::span<std::uint8_t> whole) {
    if (section.id == ebml::kInfo && element.id == kTimestampScale)
      scale_ns_ = unsigned_value(element, whole);
    if (section.id == ebml::kTracks && element.id == ebml::kTrackNumber)
      video_track_ = unsigned_value(element, whole);
  });
}

std::string Survey::describe() const {
  if (damages_.empty()) return {};
  const Damage& first = damages_.front();
  const auto seconds = [](std::int64_t ns) { return static_cast<double>(ns) / 1e9; };
  std::string text = "is damaged";
  if (first.before_ns && first.behind_ns) {
    text += fmt::format(" between {:.2f} s and {:.2f} s", seconds(*first.before_ns),
                        seconds(*first.behind_ns));
  } else if (first.before_ns) {
    text += fmt::format(" behind {:.2f} s", seconds(*first.before_ns));
  } else if (first.behind_ns) {
    text += fmt::format(" before {:.2f} s", seconds(*first.behind_ns));
  }
  text +=
      fmt::format(": {} bytes from byte {} on cannot be read", first.to - first.from, first.from);
  const std::size_t others = damages_.size() - 1;
  if (others > 0) text += ", nor what is in " + counted(others, "other place");
  return text;
}

}  // namespace

std::optional<ElementPlace> find_tracks(FileBytes& file, bool behind_pictures) {
  std::uint64_t position = 0;
  while (const auto element = ebml::element_at(file, position)) {
    if (element->id == ebml::kCluster && !behind_pictures) break;
    if (element->id == ebml::kTracks) {
      return ElementPlace{position + element->head(), element->size};
    }
    position += element->head();
    if (element->id == ebml::kSegment) continue;
    if (element->unknown_size) break;
    position += element->size;
  }
  return std::nullopt;
}

std::optional<ShownPart> matroska_shown_part(const std::string& path) {
  FileBytes file(path);
  const auto place = find_tracks(file, true);
  if (!place) return std::nullopt;
  std::vector<std::uint8_t> tracks = content_at(file, *place);
  const std::span<std::uint8_t> video = first_video(tracks);
  return video.empty() ? std::nullopt : std::optional(shown_part_of(video));
}

std::optional<MatroskaSurvey> survey_matroska(const std::string& path) {
  return Survey(path).made();
}

}  // namespace equalux
