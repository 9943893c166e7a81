#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

/// Repetition of measurements in `equalux lab`.
namespace equalux {

/// Limits of repetition: number and seconds, whichever is reached first. A first sample warms up
/// and is discarded unless it is the only one; its time counts.
struct Budget {
  int repeats = 9;
  double seconds = 0.5;
};

using LabClock = std::chrono::steady_clock;

inline double seconds_since(LabClock::time_point start) {
  return std::chrono::duration<double>(LabClock::now() - start).count();
}

/// Calls sample() within the budget and returns its results.
template <typename Result, typename Sample>
std::vector<Result> repeat_within(const Budget& budget, Sample sample) {
  const LabClock::time_point start = LabClock::now();
  std::vector<Result> results{sample()};
  for (int i = 0; i < budget.repeats && seconds_since(start) < budget.seconds; ++i)
    results.push_back(sample());
  if (results.size() > 1) results.erase(results.begin());
  return results;
}

/// Returns the median, for an even number the upper middle; `values` must not be empty.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace equalux
