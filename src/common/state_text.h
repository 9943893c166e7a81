#pragma once

#include <cstdint>
#include <limits>

#include <nlohmann/json.hpp>

#include "src/common/option_values.h"

/// Numbers out of a filter's saved state, which may come from anywhere. Throw Error(usage), and
/// nlohmann::json::exception where the text has another shape.
namespace equalux {

[[noreturn]] inline void refuse_number() {
  throw_usage("the state is damaged: a number is out of range");
}

/// A whole number: JSON's others would be cut off or have no such value.
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

/// A timestamp in nanoseconds: between two of these there is a difference.
[[nodiscard]] inline std::int64_t timestamp(const nlohmann::json& from) {
  constexpr std::int64_t kFurthest = std::numeric_limits<std::int64_t>::max() / 2;
  return whole(from, -kFurthest, kFurthest);
}

}  // namespace equalux
