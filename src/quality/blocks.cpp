#include "src/quality/blocks.h"

#include <algorithm>
#include <cmath>

namespace equalux::quality {

BlockValues block_means(const Planes& planes, const BlockGrid& grid) {
  BlockValues means(grid.count());
  const double pixels = static_cast<double>(grid.size) * grid.size;
  for (std::size_t block = 0; block < means.size(); ++block) {
    double sum = 0;
    for (int y = 0; y < grid.size; ++y) {
      const float* row = &planes.luma[planes.at(grid.left(block), grid.top(block) + y)];
      float of_row = 0;
      for (int x = 0; x < grid.size; ++x)
        of_row += row[x];
      sum += static_cast<double>(of_row);
    }
    means[block] = sum / pixels;
  }
  return means;
}

double BlockDifference::variance(int pixels) const {
  return std::max(0.0, square - mean * mean) * pixels / (pixels - 1.0);
}

BlockDifference block_difference(const Planes& last, const Planes& now, const BlockGrid& grid,
                                 std::size_t block, double light) {
  const auto gain = static_cast<float>(light);
  BlockDifference result;
  for (int y = grid.top(block); y < grid.top(block) + grid.size; ++y) {
    const float* before = &last.luma[last.at(grid.left(block), y)];
    const float* after = &now.luma[now.at(grid.left(block), y)];
    float sum = 0;
    float squares = 0;
    for (int x = 0; x < grid.size; ++x) {
      const float difference = after[x] - gain * before[x];
      sum += difference;
      squares += difference * difference;
    }
    result.mean += static_cast<double>(sum);
    result.square += static_cast<double>(squares);
  }
  const double pixels = static_cast<double>(grid.size) * grid.size;
  result.mean /= pixels;
  result.square /= pixels;
  return result;
}

double rms_difference(const BlockValues& a, const BlockValues& b, const BlockMask& mask) {
  double sum = 0;
  double count = 0;
  for (std::size_t block = 0; block < mask.size(); ++block) {
    if (mask[block] == 0) continue;
    sum += (a[block] - b[block]) * (a[block] - b[block]);
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(sum / count);
}

}  // namespace equalux::quality
