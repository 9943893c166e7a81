#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

/// Texts in UTF-8, whose characters have one to four bytes each.
namespace equalux {

/// Removes the byte order mark that Windows editors put in front of UTF-8.
[[nodiscard]] constexpr std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

/// Returns true for a byte that continues a character.
[[nodiscard]] constexpr bool continues_letter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// Returns the number of characters of a text; most take one column of a terminal.
[[nodiscard]] inline std::size_t letters_of(std::string_view text) {
  return text.size() -
         static_cast<std::size_t>(std::count_if(text.begin(), text.end(), continues_letter));
}

/// Returns the beginning of a text, at most so many bytes, without cutting a character.
[[nodiscard]] constexpr std::string_view beginning_of(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && continues_letter(text[bytes]))
    --bytes;
  return text.substr(0, bytes);
}

}  // namespace equalux
