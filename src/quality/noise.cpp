#include "src/quality/noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace equalux::quality {
namespace {

constexpr int kPart = 4;
constexpr int kParts = kBlock / kPart * (kBlock / kPart);
constexpr double kDarkest = 8;
constexpr double kBrightest = 247;
constexpr std::size_t kShare = 4;
constexpr std::size_t kFewest = 4;

/// Mean of a block, and the sum of squared differences of its parts' means.
struct Structure {
  double mean = 0;
  double spread = 0;
};

Structure structure_of(const Planes& planes, int left, int top) {
  std::array<double, kParts> parts{};
  std::size_t part = 0;
  for (int py = 0; py < kBlock; py += kPart) {
    for (int px = 0; px < kBlock; px += kPart, ++part) {
      float sum = 0;
      for (int y = 0; y < kPart; ++y) {
        const float* row = &planes.luma[planes.at(left + px, top + py + y)];
        for (int x = 0; x < kPart; ++x)
          sum += row[x];
      }
      parts[part] = static_cast<double>(sum) / (kPart * kPart);
    }
  }
  Structure result;
  for (const double mean : parts)
    result.mean += mean / kParts;
  for (const double mean : parts)
    result.spread += (mean - result.mean) * (mean - result.mean);
  return result;
}

double block_sigma(const Planes& planes, int left, int top) {
  double sum = 0;
  for (int y = top + 1; y < top + kBlock - 1; ++y) {
    const float* above = &planes.luma[planes.at(left, y - 1)];
    const float* here = &planes.luma[planes.at(left, y)];
    const float* below = &planes.luma[planes.at(left, y + 1)];
    for (int x = 1; x < kBlock - 1; ++x) {
      const float corners = above[x - 1] + above[x + 1] + below[x - 1] + below[x + 1];
      const float sides = above[x] + below[x] + here[x - 1] + here[x + 1];
      sum += static_cast<double>(std::fabs(corners - 2 * sides + 4 * here[x]));
    }
  }
  constexpr double kInner = (kBlock - 2.0) * (kBlock - 2.0);
  return std::sqrt(std::numbers::pi / 2) / 6 * sum / kInner;
}

}  // namespace

BlockMask flat_blocks(const Planes& planes, const BlockGrid& grid) {
  std::vector<std::pair<double, std::size_t>> by_spread;
  for (std::size_t block = 0; block < grid.count(); ++block) {
    const Structure structure = structure_of(planes, grid.left(block), grid.top(block));
    if (structure.mean < kDarkest || structure.mean > kBrightest) continue;
    by_spread.emplace_back(structure.spread, block);
  }
  BlockMask flat(grid.count(), 0);
  if (by_spread.size() < kFewest) return flat;
  std::sort(by_spread.begin(), by_spread.end());
  const std::size_t taken = std::max(kFewest, by_spread.size() / kShare);
  for (std::size_t i = 0; i < taken; ++i)
    flat[by_spread[i].second] = 1;
  return flat;
}

std::optional<double> noise_sigma(const Planes& planes, const BlockGrid& grid,
                                  const BlockMask& flat) {
  double squares = 0;
  double count = 0;
  for (std::size_t block = 0; block < flat.size(); ++block) {
    if (flat[block] == 0) continue;
    const double sigma = block_sigma(planes, grid.left(block), grid.top(block));
    squares += sigma * sigma;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return std::sqrt(squares / count);
}

}  // namespace equalux::quality
