#include "tests/hessian/hessian_reference.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

namespace equalux::test {
namespace {

/// Weights of steps -radius .. radius, as a correlation.
using Kernel = std::vector<double>;

Kernel gaussian(double sigma, int radius, int order) {
  Kernel kernel;
  double sum = 0;
  for (int x = -radius; x <= radius; ++x) {
    kernel.push_back(std::exp(-x * x / (2 * sigma * sigma)));
    sum += kernel.back();
  }
  for (int x = -radius; x <= radius; ++x) {
    double& w = kernel[static_cast<std::size_t>(x + radius)];
    w /= sum;
    if (order == 1) w *= x / (sigma * sigma);
    if (order == 2) w *= (x * x - sigma * sigma) / (sigma * sigma * sigma * sigma);
  }
  return kernel;
}

/// One kernel after another.
Kernel both(const Kernel& a, const Kernel& b) {
  Kernel out(a.size() + b.size() - 1, 0.0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j)
      out[i + j] += a[i] * b[j];
  }
  return out;
}

Kernel kernel_of(HessianDerivative derivative, double sigma, double truncate, int order) {
  const int radius = static_cast<int>(truncate * sigma + 0.5);
  const Kernel gradient{-0.5, 0, 0.5};
  switch (derivative) {
    case HessianDerivative::gradient: {
      Kernel kernel = gaussian(sigma, radius, 0);
      for (int i = 0; i < order; ++i)
        kernel = both(kernel, gradient);
      for (double& w : kernel)
        w *= std::pow(sigma, order);
      return kernel;
    }
    case HessianDerivative::sobel_laplacian:
      return order == 0 ? Kernel{0.25, 0.5, 0.25} : order == 1 ? gradient : Kernel{1, -2, 1};
    default: {
      Kernel kernel = gaussian(sigma, radius, order);
      for (double& w : kernel)
        w *= std::pow(sigma, order);
      return kernel;
    }
  }
}

std::vector<double> correlate(const std::vector<double>& in, int width, const Kernel& kernel,
                              bool vertical) {
  const int height = static_cast<int>(in.size()) / width;
  const int radius = static_cast<int>(kernel.size()) / 2;
  std::vector<double> out(in.size());
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      double sum = 0;
      for (int k = -radius; k <= radius; ++k) {
        const int at_x = vertical ? x : std::clamp(x + k, 0, width - 1);
        const int at_y = vertical ? std::clamp(y + k, 0, height - 1) : y;
        sum += kernel[static_cast<std::size_t>(k + radius)] *
               in[static_cast<std::size_t>(at_y * width + at_x)];
      }
      out[static_cast<std::size_t>(y * width + x)] = sum;
    }
  }
  return out;
}

/// Offsets of red, green and blue in a packed pixel, from the format's name.
int offset_of(PixelFormat format, char colour) {
  return static_cast<int>(to_string(format).find(colour));
}

double level_of(const ConstImageView& in, HessianChannel channel, int x, int y) {
  const FormatTraits& form = traits(in.desc.format);
  const std::uint8_t* pixel = in.row(0, y) + x * form.step[0];
  if (form.model == ColorModel::real) {
    float level = 0;
    std::memcpy(&level, pixel, sizeof level);
    return level;
  }
  if (form.model != ColorModel::rgb) return *pixel;
  const int r = pixel[offset_of(in.desc.format, 'r')];
  const int g = pixel[offset_of(in.desc.format, 'g')];
  const int b = pixel[offset_of(in.desc.format, 'b')];
  switch (channel) {
    case HessianChannel::value:
      return std::max({r, g, b});
    case HessianChannel::red:
      return r;
    case HessianChannel::green:
      return g;
    case HessianChannel::blue:
      return b;
    default:
      return std::floor((77 * r + 150 * g + 29 * b) / 256.0 + 0.5);
  }
}

}  // namespace

std::vector<double> reference_levels(const ConstImageView& in, HessianChannel channel) {
  std::vector<double> levels;
  for (int y = 0; y < in.desc.height; ++y) {
    for (int x = 0; x < in.desc.width; ++x)
      levels.push_back(level_of(in, channel, x, y));
  }
  return levels;
}

std::vector<Hessian> reference_hessians(const std::vector<double>& levels, int width,
                                        HessianDerivative derivative, double sigma,
                                        double truncate) {
  const auto second = [&](int order_x, int order_y) {
    return correlate(
        correlate(levels, width, kernel_of(derivative, sigma, truncate, order_y), true), width,
        kernel_of(derivative, sigma, truncate, order_x), false);
  };
  const std::vector<double> xx = second(2, 0);
  const std::vector<double> xy = second(1, 1);
  const std::vector<double> yy = second(0, 2);
  std::vector<Hessian> hessians(levels.size());
  for (std::size_t i = 0; i < levels.size(); ++i)
    hessians[i] = {xx[i], xy[i], yy[i]};
  return hessians;
}

EigenPair reference_eigenvalues(const Hessian& h) {
  const double trace = h.xx + h.yy;
  const double determinant = h.xx * h.yy - h.xy * h.xy;
  const double root = std::sqrt(std::max(0.0, trace * trace / 4 - determinant));
  return {trace / 2 - root, trace / 2 + root};
}

}  // namespace equalux::test
