#include "src/quality/contrast.h"

#include <algorithm>
#include <cmath>

namespace equalux::quality {

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
