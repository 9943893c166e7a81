#pragma once

#include <vector>

#include <equalux/hessian.h>

/// Kernels of the Hessian filters, made once on the host for all backends.
namespace equalux {

/// Three kernels of one radius, with radius + 1 weights each from the centre outwards. As
/// correlations, w[k] multiplies the sample k steps on, and the one k steps back with the same sign
/// (smooth, curve) or the opposite one (slope). slope includes sigma and curve its square, so that
/// all second derivatives are multiplied by sigma squared.
struct HessianWeights {
  int radius = 1;             ///< at least 1
  std::vector<float> smooth;  ///< order 0, even
  std::vector<float> slope;   ///< order 1, odd; slope[0] is 0 and unused
  std::vector<float> curve;   ///< order 2, even
};

/// Returns the radius of a Gaussian as in scipy: int(truncate · sigma + 0.5), at least 1.
[[nodiscard]] int gaussian_radius(double sigma, double truncate);

/// Returns the kernels of valid parameters.
[[nodiscard]] HessianWeights hessian_weights(HessianDerivative derivative, double sigma,
                                             double truncate);

/// Returns true where frames of a format have a channel.
[[nodiscard]] bool hessian_reads(PixelFormat format, HessianChannel channel);

}  // namespace equalux
