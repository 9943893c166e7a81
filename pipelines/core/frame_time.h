#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "pipelines/core/source.h"

/// Frame rates as people write them; and conversion between frame numbers, ticks of a time base,
/// and nanoseconds: exact, then rounded half up.
namespace equalux {

/// Returns the start of frame `index` in a stream of `rate` frames per second; 0 where the rate is
/// unknown.
[[nodiscard]] std::int64_t frame_time_ns(std::uint64_t index, Rational rate);

/// Converts a time to ticks of `time_base` seconds, which must be positive.
[[nodiscard]] std::int64_t ticks_from_ns(std::int64_t time_ns, Rational time_base);

/// Parses "30", "29.97" (up to six decimals) or "30000/1001" as a positive ratio up to 10,000;
/// nothing for anything else.
[[nodiscard]] std::optional<Rational> parse_rate(std::string_view text);

}  // namespace equalux
