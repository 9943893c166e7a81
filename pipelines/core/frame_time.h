#pragma once

#include <cstdint>

#include "pipelines/core/source.h"

/// Between frame numbers, ticks of a time base, and nanoseconds; exact, then rounded half up.
namespace equalux {

/// Start of frame `index` of a stream of `rate` frames a second. 0 where the rate is unknown.
[[nodiscard]] std::int64_t frame_time_ns(std::uint64_t index, Rational rate);

/// A time in ticks of `time_base` seconds; the time base must be positive.
[[nodiscard]] std::int64_t ticks_from_ns(std::int64_t time_ns, Rational time_base);

}  // namespace equalux
