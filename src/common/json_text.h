#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

/// JSON parser and printer, compiled once: the library's templates double the compile time of each
/// file that uses them.
namespace equalux {

/// Parses JSON. Throws nlohmann::json::parse_error where the text is no JSON.
[[nodiscard]] nlohmann::json parse_json(std::string_view text);
/// Parses JSON and keeps the order of keys.
[[nodiscard]] nlohmann::ordered_json parse_ordered_json(std::string_view text);
/// Parses JSON; returns a discarded value where the text is no JSON.
[[nodiscard]] nlohmann::json json_or_discarded(std::string_view text);

/// Returns JSON as text, on one line or indented by `indent` spaces a level. Bytes that are no
/// UTF-8, as in file names, become U+FFFD.
[[nodiscard]] std::string json_text(const nlohmann::json& json, int indent = -1);
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace equalux
