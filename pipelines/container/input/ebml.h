#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "pipelines/container/input/file_bytes.h"

/// EBML elements, of which Matroska files consist: an id, a size and a content, which may be
/// elements again.
namespace equalux::ebml {

/// Ids as they are stored in files.
inline constexpr std::uint32_t kHead = 0x1A45DFA3;
inline constexpr std::uint32_t kSegment = 0x18538067;
inline constexpr std::uint32_t kInfo = 0x1549A966;
inline constexpr std::uint32_t kTracks = 0x1654AE6B;
inline constexpr std::uint32_t kTrackEntry = 0xAE;
inline constexpr std::uint32_t kTrackNumber = 0xD7;
inline constexpr std::uint32_t kTrackType = 0x83;
inline constexpr std::uint32_t kVideo = 0xE0;
inline constexpr std::uint32_t kCluster = 0x1F43B675;
inline constexpr std::uint32_t kCrc32 = 0xBF;
inline constexpr std::uint8_t kVoid = 0xEC;
/// Value of kTrackType for a video.
inline constexpr std::uint64_t kVideoType = 1;

/// Head of an element.
struct Element {
  std::uint32_t id = 0;
  std::size_t id_bytes = 0;
  std::size_t size_bytes = 0;
  std::uint64_t size = 0;     ///< of the content
  bool unknown_size = false;  ///< left by live writers: extends to the next element of its kind
  [[nodiscard]] std::size_t head() const { return id_bytes + size_bytes; }
  /// Bytes of head and content; no more than 2^56 + 12.
  [[nodiscard]] std::uint64_t whole() const { return head() + size; }
};

/// Parses the head of the element that the bytes begin with; nothing where they begin with none.
[[nodiscard]] std::optional<Element> parse_element(std::span<const std::uint8_t> bytes);
/// Parses the head of the element at a position of a file; nothing where there is none.
[[nodiscard]] std::optional<Element> element_at(FileBytes& file, std::uint64_t position);
/// Returns the length of a variable-length number from its first byte; 0 for none.
[[nodiscard]] std::size_t number_bytes(std::uint8_t first);

/// Calls `visit(element, all its bytes)` for each child of a master element's content.
template <typename Byte, typename Visit>
void for_children(std::span<Byte> content, const Visit& visit) {
  while (const auto element = parse_element(content)) {
    if (element->size > content.size() - element->head()) return;
    const auto whole = static_cast<std::size_t>(element->whole());
    visit(*element, content.first(whole));
    content = content.subspan(whole);
  }
}

/// Returns the value of an unsigned integer element; `whole` is all its bytes.
[[nodiscard]] std::uint64_t unsigned_value(const Element& element,
                                           std::span<const std::uint8_t> whole);

}  // namespace equalux::ebml
