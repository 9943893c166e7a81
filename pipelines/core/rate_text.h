#pragma once

#include <optional>
#include <string_view>

#include "pipelines/core/source.h"

/// Frame rates as people write them.
namespace equalux {

/// Reads "30", "29.97" (up to six decimals) or "30000/1001" as a positive ratio up to 10,000;
/// nothing for all else.
[[nodiscard]] std::optional<Rational> parse_rate(std::string_view text);

}  // namespace equalux
