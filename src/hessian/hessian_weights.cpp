#include "src/hessian/hessian_weights.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>

namespace equalux {
namespace {

using Doubles = std::vector<double>;

/// Gaussian sampled at 0 .. radius; all samples of -radius .. radius sum to 1.
Doubles gaussian(double sigma, int radius) {
  Doubles half(static_cast<std::size_t>(radius) + 1);
  double sum = 0;
  for (std::size_t k = 0; k < half.size(); ++k) {
    const double x = static_cast<double>(k) / sigma;
    half[k] = std::exp(-0.5 * x * x);
    sum += k == 0 ? half[k] : 2 * half[k];
  }
  for (double& w : half)
    w /= sum;
  return half;
}

/// Weight of an even kernel at any step, from its half.
double at(const Doubles& half, int k) {
  const auto index = static_cast<std::size_t>(std::abs(k));
  return index < half.size() ? half[index] : 0;
}

std::vector<float> scaled(const Doubles& half, double factor) {
  std::vector<float> weights(half.size());
  std::transform(half.begin(), half.end(), weights.begin(),
                 [factor](double w) { return static_cast<float>(factor * w); });
  return weights;
}

/// Gaussian times the polynomials of its derivatives: x / s^2 and x^2 / s^4 - 1 / s^2.
HessianWeights gaussian_weights(double sigma, int radius) {
  const Doubles smooth = gaussian(sigma, radius);
  Doubles slope = smooth;
  Doubles curve = smooth;
  const double variance = sigma * sigma;
  for (std::size_t k = 0; k < smooth.size(); ++k) {
    const auto x = static_cast<double>(k);
    slope[k] *= x / variance;
    curve[k] *= x * x / (variance * variance) - 1 / variance;
  }
  return {radius, scaled(smooth, 1), scaled(slope, sigma), scaled(curve, variance)};
}

/// Gaussian followed by [-1/2 0 1/2] once and twice, each as one kernel. All three have the largest
/// radius, padded with zeros.
HessianWeights gradient_weights(double sigma, int gaussian_radius) {
  const Doubles g = gaussian(sigma, gaussian_radius);
  const int radius = gaussian_radius + 2;
  Doubles smooth;
  Doubles slope;
  Doubles curve;
  for (int k = 0; k <= radius; ++k) {
    smooth.push_back(at(g, k));
    slope.push_back((at(g, k - 1) - at(g, k + 1)) / 2);
    curve.push_back((at(g, k - 2) + at(g, k + 2)) / 4 - at(g, k) / 2);
  }
  return {radius, scaled(smooth, 1), scaled(slope, sigma), scaled(curve, sigma * sigma)};
}

}  // namespace

int gaussian_radius(double sigma, double truncate) {
  return std::max(1, static_cast<int>(truncate * sigma + 0.5));
}

HessianWeights hessian_weights(HessianDerivative derivative, double sigma, double truncate) {
  switch (derivative) {
    case HessianDerivative::gradient:
      return gradient_weights(sigma, gaussian_radius(sigma, truncate));
    case HessianDerivative::sobel_laplacian:
      return {1, {0.5f, 0.25f}, {0.0f, 0.5f}, {-2.0f, 1.0f}};
    default:
      return gaussian_weights(sigma, gaussian_radius(sigma, truncate));
  }
}

bool hessian_reads(PixelFormat format, HessianChannel channel) {
  const FormatTraits& t = traits(format);
  if (has_deep_samples(format)) return false;
  if (t.model == ColorModel::yuv) return t.planes > 1 && channel == HessianChannel::luma;
  return t.planes == 1;
}

}  // namespace equalux
