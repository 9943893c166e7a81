#include "src/quality/over_time/settling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace equalux::quality {
namespace {

constexpr double kLeastShare = 0.005;

double pixels_of(const ToneCurve& curve) {
  return std::accumulate(curve.pixels.begin(), curve.pixels.end(), 0.0);
}

/// Returns the mean of curves, each class weighted by its pixels.
ToneCurve mean_curve(const std::vector<ToneCurve>& curves, std::size_t begin, std::size_t end) {
  ToneCurve mean;
  for (std::size_t c = 0; c < ToneCurve::kClasses; ++c) {
    double sum = 0;
    double pixels = 0;
    for (std::size_t i = begin; i < end; ++i) {
      sum += curves[i].level[c] * curves[i].pixels[c];
      pixels += curves[i].pixels[c];
    }
    if (pixels > 0) mean.level[c] = sum / pixels;
    mean.pixels[c] = static_cast<std::uint32_t>(pixels / static_cast<double>(end - begin));
  }
  return mean;
}

}  // namespace

ToneCurve tone_curve_of(const Planes& original, const Planes& result) {
  constexpr std::size_t kLevels = 256 / ToneCurve::kClasses;
  std::array<std::uint64_t, ToneCurve::kClasses> sums{};
  ToneCurve curve;
  for (std::size_t i = 0; i < original.value.size(); ++i) {
    const std::size_t c = original.value[i] / kLevels;
    sums[c] += result.value[i];
    ++curve.pixels[c];
  }
  for (std::size_t c = 0; c < ToneCurve::kClasses; ++c) {
    if (curve.pixels[c] > 0) curve.level[c] = static_cast<double>(sums[c]) / curve.pixels[c];
  }
  return curve;
}

std::optional<double> tone_distance(const ToneCurve& a, const ToneCurve& b) {
  const double all_a = pixels_of(a);
  const double all_b = pixels_of(b);
  double sum = 0;
  double weight = 0;
  for (std::size_t c = 0; c < ToneCurve::kClasses; ++c) {
    if (a.pixels[c] < kLeastShare * all_a || b.pixels[c] < kLeastShare * all_b) continue;
    const double pixels = a.pixels[c];
    sum += pixels * (a.level[c] - b.level[c]) * (a.level[c] - b.level[c]);
    weight += pixels;
  }
  if (weight == 0) return std::nullopt;
  return std::sqrt(sum / weight);
}

double histogram_move(const ToneCurve& a, const ToneCurve& b) {
  const double all_a = pixels_of(a);
  const double all_b = pixels_of(b);
  double below_a = 0;
  double below_b = 0;
  double sum = 0;
  for (std::size_t c = 0; c < ToneCurve::kClasses; ++c) {
    const double share_a = a.pixels[c] / all_a;
    const double share_b = b.pixels[c] / all_b;
    // Cumulative shares at the middle of the class.
    const double apart = (below_a + share_a / 2) - (below_b + share_b / 2);
    sum += share_a * apart * apart;
    below_a += share_a;
    below_b += share_b;
  }
  return 255 * std::sqrt(sum);
}

std::optional<std::size_t> frames_to_settle(const std::vector<ToneCurve>& curves) {
  if (curves.size() < 2 * kSettledOver) return std::nullopt;
  const std::size_t end = std::min(curves.size(), kSettleWithin + kSettledOver);
  const std::size_t begin = end - kSettledOver;
  const ToneCurve later = mean_curve(curves, begin, end);
  std::size_t settled = begin;
  while (settled > 0) {
    const std::optional<double> distance = tone_distance(curves[settled - 1], later);
    if (!distance) break;
    if (*distance > kSettleTolerance + histogram_move(curves[settled - 1], later)) break;
    --settled;
  }
  return settled;
}

}  // namespace equalux::quality
