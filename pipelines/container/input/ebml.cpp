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
  element.id = static_cast<std::uint32_t>(big_endian(bytes.first(element.id_bytes)));
  element.size_bytes = number_bytes(bytes[element.id_bytes]);
  if (element.size_bytes == 0 || bytes.size() < element.head()) return std::nullopt;
  const std::uint64_t largest = (std::uint64_t{1} << (7 * element.size_bytes)) - 1;
  element.size = big_endian(bytes.subspan(element.id_bytes, element.size_bytes)) & largest;
  element.unknown_size = element.size == largest;
  return element;
}

std::optional<Element> element_at(FileBytes& file, std::uint64_t position) {
  std::array<std::uint8_t, 12> head{};
  return parse_element(std::span(head).first(file.read_some(position, head)));
}

std::uint64_t unsigned_value(const Element& element, std::span<const std::uint8_t> whole) {
  return big_endian(whole.subspan(element.head()));
}

}  // namespace equalux::ebml
