#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/error.h>
#include <equalux/options.h>

#include "src/options/nearest_name.h"

/// Option values as text.
namespace equalux {

[[noreturn]] inline void throw_usage(const std::string& message) {
  throw Error(ExitCode::usage, message);
}

/// Returns `text` with A to Z in lower case, in any locale.
[[nodiscard]] inline std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

[[nodiscard]] inline std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

/// Parses all of `text` as a number; nothing where it is none.
template <typename Number>
[[nodiscard]] std::optional<Number> number_from(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

[[nodiscard]] inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

/// Returns the value of a key, the first if there are several; null where there is none.
[[nodiscard]] inline const std::string* find_value(const OptionValues& values,
                                                   std::string_view key) {
  for (const auto& [name, value] : values)
    if (name == key) return &value;
  return nullptr;
}

/// Throws Error(usage) for a key that `owner` does not know; the message names the nearest key or
/// all.
[[noreturn]] inline void refuse_key(std::string_view owner, std::string_view key,
                                    const std::vector<std::string_view>& keys) {
  throw_usage(std::string(owner) + " has no key " + quoted(key) + ", must be " +
              nearest_or_all(key, keys));
}

}  // namespace equalux
