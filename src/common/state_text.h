#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "src/common/json_text.h"
#include "src/options/option_values.h"

/// Numbers of a filter's saved state, which may come from anywhere. The functions throw
/// Error(usage) for a number that does not fit, and nlohmann::json::exception for another type.
namespace equalux {

[[noreturn]] inline void refuse_number() {
  throw_usage("the state is damaged: a number is out of range");
}

/// Throws Error(usage) for a text that is no state, or that of another filter.
[[noreturn]] inline void refuse_state(const nlohmann::json::exception& error) {
  // The library's texts begin with names of its own, as "[json.exception.out_of_range.403] ".
  const std::string_view text = error.what();
  const std::size_t name_end = text.find("] ");
  throw_usage("the state cannot be read: " +
              std::string(text.substr(name_end == text.npos ? 0 : name_end + 2)) +
              "; must be of a filter with the same options");
}

/// Takes the state of a filter that has none, with or without a key that is of no use to it. Throws
/// Error(usage) for any other.
inline void take_no_state(std::string_view state, const std::string& unused = {}) {
  nlohmann::json json = json_or_discarded(state);
  if (json.is_object()) json.erase(unused);
  if (!json.is_object() || !json.empty())
    throw_usage("the state cannot be read: it is of another filter, must be {}");
}

/// Reads a whole number in a range; other JSON numbers would be truncated or undefined.
[[nodiscard]] inline std::int64_t whole(const nlohmann::json& from, std::int64_t least,
                                        std::int64_t most) {
  const bool fits = from.is_number_unsigned()
                        ? from.get<std::uint64_t>() <= static_cast<std::uint64_t>(most)
                        : from.is_number_integer();
  if (!fits) refuse_number();
  const auto value = from.get<std::int64_t>();
  if (value < least || value > most) refuse_number();
  return value;
}

[[nodiscard]] inline std::uint32_t whole(const nlohmann::json& from) {
  return static_cast<std::uint32_t>(whole(from, 0, std::numeric_limits<std::uint32_t>::max()));
}

/// Reads a timestamp in nanoseconds; limited so that differences do not overflow.
[[nodiscard]] inline std::int64_t timestamp(const nlohmann::json& from) {
  constexpr std::int64_t kFurthest = std::numeric_limits<std::int64_t>::max() / 2;
  return whole(from, -kFurthest, kFurthest);
}

}  // namespace equalux
