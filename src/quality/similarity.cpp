#include "src/quality/similarity.h"

#include <array>
#include <cmath>

namespace equalux::quality {
namespace {

constexpr double kSigma = 1.5;
/// Offset subtracted from luma before squaring: variances come from a difference of squares, which
/// loses fewer digits of a float around 0.
constexpr float kMiddle = 128;
constexpr float kC1 = 0.01F * 255 * 0.01F * 255;
constexpr float kC2 = 0.03F * 255 * 0.03F * 255;

using Weights = std::array<float, kSsimWindow>;

Weights gaussian() {
  std::array<double, kSsimWindow> exact{};
  double sum = 0;
  for (int i = 0; i < kSsimWindow; ++i) {
    const double d = i - kSsimWindow / 2;
    sum += exact[static_cast<std::size_t>(i)] = std::exp(-d * d / (2 * kSigma * kSigma));
  }
  Weights weights{};
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<float>(exact[i] / sum);
  return weights;
}

/// Weighted sums for a row of windows: a, b, a a, b b and a b, after the offset kMiddle.
struct Moments {
  std::array<std::vector<float>, 5> of;
  explicit Moments(std::size_t columns) {
    for (std::vector<float>& row : of)
      row.assign(columns, 0);
  }
};

/// Convolves the five products of one row along x.
void blur_along(const float* a, const float* b, const Weights& weights, Moments& out) {
  const std::size_t columns = out.of[0].size();
  for (std::vector<float>& row : out.of)
    row.assign(columns, 0);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const float w = weights[k];
    for (std::size_t x = 0; x < columns; ++x) {
      const float va = a[x + k] - kMiddle;
      const float vb = b[x + k] - kMiddle;
      out.of[0][x] += w * va;
      out.of[1][x] += w * vb;
      out.of[2][x] += w * (va * va);
      out.of[3][x] += w * (vb * vb);
      out.of[4][x] += w * (va * vb);
    }
  }
}

double similarity_sum(const Moments& m) {
  double sum = 0;
  for (std::size_t x = 0; x < m.of[0].size(); ++x) {
    const float a = m.of[0][x];
    const float b = m.of[1][x];
    const float variances = (m.of[2][x] - a * a) + (m.of[3][x] - b * b);
    const float covariance = m.of[4][x] - a * b;
    const float mean_a = a + kMiddle;
    const float mean_b = b + kMiddle;
    const float aa = mean_a * mean_a;
    const float bb = mean_b * mean_b;
    const float ab = mean_a * mean_b;
    sum += static_cast<double>((2 * ab + kC1) * (2 * covariance + kC2)) /
           static_cast<double>((aa + bb + kC1) * (variances + kC2));
  }
  return sum;
}

}  // namespace

std::optional<double> ssim(const Planes& a, const Planes& b) {
  if (a.width < kSsimWindow || a.height < kSsimWindow) return std::nullopt;
  const auto columns = static_cast<std::size_t>(a.width - kSsimWindow + 1);
  const int rows = a.height - kSsimWindow + 1;
  static const Weights kWeights = gaussian();
  std::vector<Moments> ring(kSsimWindow, Moments(columns));
  Moments window(columns);
  double sum = 0;
  for (int y = 0; y < a.height; ++y) {
    blur_along(&a.luma[a.at(0, y)], &b.luma[b.at(0, y)], kWeights,
               ring[static_cast<std::size_t>(y % kSsimWindow)]);
    if (y < kSsimWindow - 1) continue;
    for (std::size_t i = 0; i < window.of.size(); ++i) {
      window.of[i].assign(columns, 0);
      for (int k = 0; k < kSsimWindow; ++k) {
        const int row = (y - kSsimWindow + 1 + k) % kSsimWindow;
        const std::vector<float>& from = ring[static_cast<std::size_t>(row)].of[i];
        const float w = kWeights[static_cast<std::size_t>(k)];
        for (std::size_t x = 0; x < columns; ++x)
          window.of[i][x] += w * from[x];
      }
    }
    sum += similarity_sum(window);
  }
  return sum / (static_cast<double>(columns) * rows);
}

}  // namespace equalux::quality
