#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

/// How `equalux lab` repeats what it measures.
namespace equalux {

/// So many times, or until the time is over, but once at least. What comes first warms up and does
/// not count, unless there is nothing after it.
struct Budget {
  int repeats = 9;
  double seconds = 0.5;
};

using LabClock = std::chrono::steady_clock;

inline double seconds_since(LabClock::time_point start) {
  return std::chrono::duration<double>(LabClock::now() - start).count();
}

/// What sample() gives, as often as the budget says.
template <typename Result, typename Sample>
std::vector<Result> repeat_within(const Budget& budget, Sample sample) {
  const LabClock::time_point start = LabClock::now();
  std::vector<Result> results{sample()};
  for (int i = 0; i < budget.repeats && seconds_since(start) < budget.seconds; ++i)
    results.push_back(sample());
  if (results.size() > 1) results.erase(results.begin());
  return results;
}

/// The middle one; of an even number the upper one of the two. There is at least one.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace equalux
