#pragma once

#include <vector>

#include <equalux/hessian.h>

/// Kernels of the Hessian family, made once on the host for all backends.
namespace equalux {

/// Three kernels of one radius, radius + 1 weights each from the middle outwards. As correlations:
/// w[k] goes with the sample k steps on, and with the one k steps back as it is (smooth, curve) or
/// negative (slope). Sigma goes into slope and its square into curve, so that all three second
/// derivatives are multiplied by sigma squared.
struct HessianWeights {
  int radius = 1;             ///< at least 1
  std::vector<float> smooth;  ///< order 0, even
  std::vector<float> slope;   ///< order 1, odd; slope[0] is 0 and not read
  std::vector<float> curve;   ///< order 2, even
};

/// Samples that a Gaussian reaches to each side, as scipy has it: int(truncate · sigma + 0.5), and
/// at least 1.
[[nodiscard]] int gaussian_radius(double sigma, double truncate);

/// The kernels of valid parameters.
[[nodiscard]] HessianWeights hessian_weights(HessianDerivative derivative, double sigma,
                                             double truncate);

/// True where frames of that format have that channel.
[[nodiscard]] bool hessian_reads(PixelFormat format, HessianChannel channel);

}  // namespace equalux
