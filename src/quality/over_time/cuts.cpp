#include "src/quality/over_time/cuts.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace equalux::quality {
namespace {

/// Cumulative distribution, piecewise linear: level v covers [v - 0.5, v + 0.5], so that scaled
/// levels meet no steps.
class Shares {
 public:
  explicit Shares(const LevelHistogram& histogram) {
    double total = 0;
    for (const std::uint64_t count : histogram)
      total += static_cast<double>(count);
    for (std::size_t v = 0; v < histogram.size(); ++v)
      below_[v + 1] = below_[v] + static_cast<double>(histogram[v]) / total;
  }

  [[nodiscard]] double at(double level) const {
    const double place = std::clamp(level + 0.5, 0.0, 256.0);
    const auto step = std::min<std::size_t>(static_cast<std::size_t>(place), 255);
    return below_[step] + (below_[step + 1] - below_[step]) * (place - static_cast<double>(step));
  }

  [[nodiscard]] double median() const {
    std::size_t step = 0;
    while (step < 255 && below_[step + 1] < 0.5)
      ++step;
    const double share = below_[step + 1] - below_[step];
    const double part = share > 0 ? (0.5 - below_[step]) / share : 0;
    return std::max(static_cast<double>(step) - 0.5 + part, 0.25);
  }

 private:
  std::array<double, 257> below_{};
};

}  // namespace

double histogram_distance(const LevelHistogram& a, const LevelHistogram& b) {
  const Shares shares_a(a);
  const Shares shares_b(b);
  const double gain = shares_b.median() / shares_a.median();
  double distance = 0;
  for (int v = 0; v < 256; ++v) {
    // Steps follow the brighter histogram; the darker one, scaled up, has wider gaps between its
    // levels.
    const double in_a = gain > 1 ? v / gain : v;
    const double in_b = gain > 1 ? v : v * gain;
    distance = std::max(distance, std::fabs(shares_a.at(in_a) - shares_b.at(in_b)));
  }
  return distance;
}

double histogram_shift(const LevelHistogram& a, const LevelHistogram& b) {
  const Shares shares_a(a);
  const Shares shares_b(b);
  double levels = 0;
  for (int v = 0; v < 255; ++v)
    levels += std::fabs(shares_a.at(v + 0.5) - shares_b.at(v + 0.5));
  return levels;
}

}  // namespace equalux::quality
