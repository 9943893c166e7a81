#include "src/quality/over_time/stillness.h"

#include <algorithm>
#include <cmath>

#include "src/quality/noise.h"

namespace equalux::quality {
namespace {

constexpr double kLeastMean = 4;  // levels; ratios of darker blocks say little about the light
constexpr double kNoises = 2;
constexpr double kRoundings = 0.75;

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

/// Returns the RMS difference up to which pixels may differ by noise alone.
double most_difference(double light, double sigma) {
  return kNoises * std::sqrt(1 + light * light) * sigma + kRoundings;
}

}  // namespace

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

Stillness find_stillness(const Planes& last, const Planes& now, const BlockGrid& grid) {
  const BlockValues before = block_means(last, grid);
  const BlockValues after = block_means(now, grid);
  Stillness result;
  result.light = median_ratio(before, after);
  result.likeness = correlation(before, after);
  result.still.assign(grid.count(), 0);
  result.sigma = noise_sigma(now, grid, flat_blocks(now, grid)).value_or(0);
  const double most = most_difference(result.light, result.sigma);
  for (std::size_t block = 0; block < grid.count(); ++block) {
    const BlockDifference difference = block_difference(last, now, grid, block, result.light);
    if (std::sqrt(difference.square) > most) continue;
    result.still[block] = 1;
    ++result.count;
  }
  return result;
}

SteadyCells find_steady_cells(const Planes& last, const Planes& now, const Stillness& stillness) {
  SteadyCells cells;
  cells.grid = BlockGrid(now.width, now.height, kCell);
  cells.steady.assign(cells.grid.count(), 0);
  cells.spread.assign(cells.grid.count(), 0);
  const double most = most_difference(stillness.light, stillness.sigma);
  for (std::size_t cell = 0; cell < cells.grid.count(); ++cell) {
    const BlockDifference difference =
        block_difference(last, now, cells.grid, cell, stillness.light);
    cells.steady[cell] = std::sqrt(difference.square) <= most ? 1 : 0;
    cells.spread[cell] = std::sqrt(difference.variance(kCell * kCell));
  }
  return cells;
}

}  // namespace equalux::quality
