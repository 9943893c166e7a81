#pragma once

#include <cstddef>
#include <functional>
#include <vector>

/// Timing what is compared so that the machine's other work meets all of it alike.
namespace equalux::bench {

/// What one of several calls took, in milliseconds.
struct TurnTimes {
  double median = 0;
  double least = 0;
};

/// Times calls that take turns on `frames` frames, `rounds` times each after four that do not
/// count. A call gets the index of its frame, which is far from the others', so that none finds it
/// in a cache.
[[nodiscard]] std::vector<TurnTimes> take_turns(
    int frames, int rounds, const std::vector<std::function<void(std::size_t)>>& calls);

}  // namespace equalux::bench
