#include "src/quality/texture.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "src/quality/over_time/cell_history.h"

namespace equalux::quality {
namespace {

constexpr int kBlurReach = 2;
constexpr std::array<float, 5> kBinomial{1 / 16.F, 4 / 16.F, 6 / 16.F, 4 / 16.F, 1 / 16.F};
constexpr double kLeastDetail = 1;  // levels, RMS
constexpr double kDetailOverNoise = 3;

/// Returns the RMS response of the detail filter to white noise of sigma 1: the root of the sum of
/// its squared weights.
double noise_in_detail() {
  double squares = 0;
  for (const float weight : kBinomial)
    squares += static_cast<double>(weight * weight);
  const double middle = static_cast<double>(kBinomial[kBlurReach] * kBinomial[kBlurReach]);
  return std::sqrt(1 - 2 * middle + squares * squares);
}

using CellDetail = std::array<float, static_cast<std::size_t>(kCell) * kCell>;

CellDetail detail_of(const Planes& planes, int left, int top) {
  constexpr int kRows = kCell + 2 * kBlurReach;
  std::array<std::array<float, kCell>, kRows> along{};
  for (int y = 0; y < kRows; ++y) {
    const float* row = &planes.luma[planes.at(left - kBlurReach, top - kBlurReach + y)];
    for (std::size_t x = 0; x < kCell; ++x) {
      for (std::size_t k = 0; k < kBinomial.size(); ++k)
        along[static_cast<std::size_t>(y)][x] += kBinomial[k] * row[x + k];
    }
  }
  CellDetail detail{};
  for (std::size_t y = 0; y < kCell; ++y) {
    const float* row = &planes.luma[planes.at(left, top + static_cast<int>(y))];
    for (std::size_t x = 0; x < kCell; ++x) {
      float blurred = 0;
      for (std::size_t k = 0; k < kBinomial.size(); ++k)
        blurred += kBinomial[k] * along[y + k][x];
      detail[y * kCell + x] = row[x] - blurred;
    }
  }
  return detail;
}

double product(const CellDetail& a, const CellDetail& b) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return static_cast<double>(sum);
}

}  // namespace

TextureSums texture_sums(const Planes& original, const Planes& result, double sigma) {
  static const double kNoiseShare = noise_in_detail();
  const double least = std::max(kLeastDetail, kDetailOverNoise * kNoiseShare * sigma);
  TextureSums sums;
  for (int top = kBlurReach; top + kCell + kBlurReach <= original.height; top += kCell) {
    for (int left = kBlurReach; left + kCell + kBlurReach <= original.width; left += kCell) {
      const CellDetail detail = detail_of(original, left, top);
      const double square = product(detail, detail);
      if (square < least * least * kCell * kCell) continue;
      sums.original += square;
      sums.common += product(detail, detail_of(result, left, top));
    }
  }
  return sums;
}

}  // namespace equalux::quality
