#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

/// JSON read and written. The library's parser and printer are templates, and a file that uses
/// them takes a compiler twice as long; here they are compiled once.
namespace equalux {

/// Parses JSON. Throws nlohmann::json::parse_error where the text is none.
[[nodiscard]] nlohmann::json parse_json(std::string_view text);
/// Parses JSON and keeps its keys in the order of the text.
[[nodiscard]] nlohmann::ordered_json parse_ordered_json(std::string_view text);
/// Parses JSON; gives a discarded value where the text is none.
[[nodiscard]] nlohmann::json json_or_discarded(std::string_view text);

/// JSON as text, on one line or with `indent` spaces a level. Bytes that are no UTF-8, as in names
/// of files, become U+FFFD.
[[nodiscard]] std::string json_text(const nlohmann::json& json, int indent = -1);
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace equalux
