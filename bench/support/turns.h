#pragma once

#include <cstddef>
#include <functional>
#include <vector>

/// Timing in turns, so that other work on the machine affects all compared calls alike.
namespace equalux::bench {

/// Times of one of the compared calls, in milliseconds.
struct TurnTimes {
  double median = 0;
  double least = 0;
};

/// Times calls that take turns on `frames` frames, `rounds` times each after four rounds that do
/// not count. Each call gets the index of a frame far from those of the others, so that none finds
/// it in a cache.
[[nodiscard]] std::vector<TurnTimes> take_turns(
    int frames, int rounds, const std::vector<std::function<void(std::size_t)>>& calls);

}  // namespace equalux::bench
