#include "src/common/json_text.h"

#include <nlohmann/json.hpp>

namespace equalux {

nlohmann::json parse_json(std::string_view text) {
  return nlohmann::json::parse(text);
}

nlohmann::ordered_json parse_ordered_json(std::string_view text) {
  return nlohmann::ordered_json::parse(text);
}

nlohmann::json json_or_discarded(std::string_view text) {
  return nlohmann::json::parse(text, nullptr, false);
}

std::string json_text(const nlohmann::json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_text(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace equalux
