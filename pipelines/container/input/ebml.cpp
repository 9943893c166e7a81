#include "pipelines/container/input/ebml.h"

#include <array>

namespace equalux::ebml {

std::size_t number_bytes(std::uint8_t first) {
  std::size_t count = 1;
  for (unsigned mask = 0x80; mask != 0 && (first & mask) == 0; mask >>= 1)
    ++count;
  return count <= 8 ? count : 0;
}

std::optional<Element> parse_element(std::span<const std::uint8_t> bytes) {
  if (bytes.empty()) return std::nullopt;
  Element element;
  element.id_bytes = number_bytes(bytes[0]);
  if (element.id_bytes == 0 || element.id_bytes > 4 || bytes.size() <= element.id_bytes) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < element.id_bytes; ++i)
    element.id = element.id << 8 | bytes[i];
  const std::uint8_t first = bytes[element.id_bytes];
  element.size_bytes = number_bytes(first);
  if (element.size_bytes == 0 || bytes.size() < element.head()) return std::nullopt;
  element.size = first & (0xFFU >> element.size_bytes);
  for (std::size_t i = 1; i < element.size_bytes; ++i) {
    element.size = element.size << 8 | bytes[element.id_bytes + i];
  }
  element.unknown_size = element.size == (std::uint64_t{1} << (7 * element.size_bytes)) - 1;
  return element;
}

std::optional<Element> element_at(FileBytes& file, std::uint64_t position) {
  std::array<std::uint8_t, 12> head{};
  return parse_element(std::span(head).first(file.read_some(position, head)));
}

std::uint64_t unsigned_value(const Element& element, std::span<const std::uint8_t> whole) {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : whole.subspan(element.head()))
    value = value << 8 | byte;
  return value;
}

}  // namespace equalux::ebml
