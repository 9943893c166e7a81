#include "src/quality/tone.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace equalux::quality {

LevelHistogram value_histogram(const Planes& planes) {
  LevelHistogram histogram{};
  for (const std::uint8_t v : planes.value)
    ++histogram[v];
  return histogram;
}

LevelHistogram luma_histogram(const Planes& planes) {
  LevelHistogram histogram{};
  for (const float luma : planes.luma)
    ++histogram[static_cast<std::size_t>(luma + 0.5F)];
  return histogram;
}

double entropy_bits(const LevelHistogram& histogram) {
  double total = 0;
  for (const std::uint64_t count : histogram)
    total += static_cast<double>(count);
  double bits = 0;
  for (const std::uint64_t count : histogram) {
    if (count == 0) continue;
    const double p = static_cast<double>(count) / total;
    bits -= p * std::log2(p);
  }
  return bits;
}

double mean_level(const LevelHistogram& histogram) {
  double total = 0;
  double sum = 0;
  for (std::size_t v = 0; v < histogram.size(); ++v) {
    total += static_cast<double>(histogram[v]);
    sum += static_cast<double>(v) * static_cast<double>(histogram[v]);
  }
  return total == 0 ? 0 : sum / total;
}

double eme_db(const Planes& planes) {
  const int width = std::min(kEmeBlock, planes.width);
  const int height = std::min(kEmeBlock, planes.height);
  double sum = 0;
  double blocks = 0;
  for (int top = 0; top + height <= planes.height; top += height) {
    for (int left = 0; left + width <= planes.width; left += width) {
      int least = 255;
      int most = 0;
      for (int y = top; y < top + height; ++y) {
        const std::uint8_t* row = &planes.value[planes.at(left, y)];
        for (int x = 0; x < width; ++x) {
          least = std::min<int>(least, row[x]);
          most = std::max<int>(most, row[x]);
        }
      }
      sum += std::log10((most + 1.0) / (least + 1.0));
      ++blocks;
    }
  }
  return 20 * sum / blocks;
}

}  // namespace equalux::quality
