#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <equalux/image.h>

namespace equalux {

/// Returns the largest absolute difference of two float frames with the same desc; infinity where
/// a value is NaN.
[[nodiscard]] inline float worst_difference(const ConstImageView& a, const ConstImageView& b) {
  float worst = 0;
  for (int p = 0; p < traits(a.desc.format).planes; ++p) {
    for (int y = 0; y < plane_rows(a.desc, p); ++y) {
      const auto* row_a = reinterpret_cast<const float*>(a.row(p, y));
      const auto* row_b = reinterpret_cast<const float*>(b.row(p, y));
      for (int x = 0; x < a.desc.width; ++x) {
        if (row_a[x] == row_b[x]) continue;
        const float difference = std::abs(row_a[x] - row_b[x]);
        if (std::isnan(difference)) return std::numeric_limits<float>::infinity();
        worst = std::max(worst, difference);
      }
    }
  }
  return worst;
}

}  // namespace equalux
