#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

/// Letters of UTF-8, which have one to four bytes each.
namespace equalux {

/// Whether a byte goes on with a letter that another one has begun.
[[nodiscard]] constexpr bool continues_letter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// How many letters a text has, of which a terminal gives most one column each.
[[nodiscard]] inline std::size_t letters_of(std::string_view text) {
  return text.size() -
         static_cast<std::size_t>(std::count_if(text.begin(), text.end(), continues_letter));
}

/// A text's beginning, of at most so many bytes, and without the letter of which only some fit.
[[nodiscard]] constexpr std::string_view beginning_of(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && continues_letter(text[bytes]))
    --bytes;
  return text.substr(0, bytes);
}

}  // namespace equalux
