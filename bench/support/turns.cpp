#include "bench/support/turns.h"

#include <algorithm>
#include <chrono>

namespace equalux::bench {

std::vector<TurnTimes> take_turns(int frames, int rounds,
                                  const std::vector<std::function<void(std::size_t)>>& calls) {
  using Clock = std::chrono::steady_clock;
  constexpr int kWarmUp = 4;
  const auto ring = static_cast<std::size_t>(frames);
  std::vector<std::vector<double>> times(calls.size());
  for (int round = -kWarmUp; round < rounds; ++round) {
    for (std::size_t k = 0; k < calls.size(); ++k) {
      const auto frame = static_cast<std::size_t>(round + kWarmUp) + k * ring / calls.size();
      const auto begin = Clock::now();
      calls[k](frame % ring);
      const double ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
      if (round >= 0) times[k].push_back(ms);
    }
  }
  std::vector<TurnTimes> result;
  for (std::vector<double>& t : times) {
    std::sort(t.begin(), t.end());
    result.push_back({t[t.size() / 2], t.front()});
  }
  return result;
}

}  // namespace equalux::bench
