#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "pipelines/core/source.h"

/// Frame rates as people write them; and times between frame numbers, ticks of a time base, and
/// nanoseconds, exact, then rounded half up.
namespace equalux {

/// Start of frame `index` of a stream of `rate` frames a second. 0 where the rate is unknown.
[[nodiscard]] std::int64_t frame_time_ns(std::uint64_t index, Rational rate);

/// A time in ticks of `time_base` seconds; the time base must be positive.
[[nodiscard]] std::int64_t ticks_from_ns(std::int64_t time_ns, Rational time_base);

/// Reads "30", "29.97" (up to six decimals) or "30000/1001" as a positive ratio up to 10,000;
/// nothing for all else.
[[nodiscard]] std::optional<Rational> parse_rate(std::string_view text);

}  // namespace equalux
