#include "src/quality/stillness.h"

#include <algorithm>
#include <cmath>

#include "src/quality/noise.h"

namespace equalux::quality {
namespace {

constexpr double kLeastMean = 4;  // levels: ratios of darker blocks say nothing of the light
constexpr double kNoises = 2;
constexpr double kRoundings = 0.75;

double median_ratio(const BlockValues& last, const BlockValues& now) {
  std::vector<double> ratios;
  for (std::size_t block = 0; block < last.size(); ++block) {
    if (last[block] >= kLeastMean) ratios.push_back(now[block] / last[block]);
  }
  if (ratios.empty()) return 1;
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return *middle;
}

double correlation(const BlockValues& a, const BlockValues& b) {
  const auto n = static_cast<double>(a.size());
  double mean_a = 0;
  double mean_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    mean_a += a[i] / n;
    mean_b += b[i] / n;
  }
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return aa * bb == 0 ? 0 : ab / std::sqrt(aa * bb);
}

double block_rms(const Planes& last, const Planes& now, int left, int top, float light) {
  double sum = 0;
  for (int y = top; y < top + kBlock; ++y) {
    const float* before = &last.luma[last.at(left, y)];
    const float* after = &now.luma[now.at(left, y)];
    float of_row = 0;
    for (int x = 0; x < kBlock; ++x) {
      const float difference = after[x] - light * before[x];
      of_row += difference * difference;
    }
    sum += static_cast<double>(of_row);
  }
  return std::sqrt(sum / (kBlock * kBlock));
}

}  // namespace

Stillness find_stillness(const Planes& last, const Planes& now, const BlockGrid& grid) {
  const BlockValues before = block_means(last, grid);
  const BlockValues after = block_means(now, grid);
  Stillness result;
  result.light = median_ratio(before, after);
  result.likeness = correlation(before, after);
  result.still.assign(grid.count(), 0);
  const double sigma = noise_sigma(now, grid, flat_blocks(now, grid)).value_or(0);
  const double most = kNoises * std::sqrt(1 + result.light * result.light) * sigma + kRoundings;
  for (std::size_t block = 0; block < grid.count(); ++block) {
    const double rms =
        block_rms(last, now, grid.left(block), grid.top(block), static_cast<float>(result.light));
    if (rms > most) continue;
    result.still[block] = 1;
    ++result.count;
  }
  return result;
}

}  // namespace equalux::quality
