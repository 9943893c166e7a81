#pragma once

#include <string_view>

namespace equalux {

/// Removes the byte order mark that Windows editors put in front of UTF-8.
[[nodiscard]] inline std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

}  // namespace equalux
