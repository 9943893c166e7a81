#pragma once

#include <vector>

#include <equalux/hessian.h>
#include <equalux/image.h>

/// The Hessian and its eigenvalues from their definitions, in double precision and with no shared
/// code.
namespace equalux::test {

/// Second derivatives of one pixel, multiplied by sigma squared.
struct Hessian {
  double xx;
  double xy;
  double yy;
};

/// A channel of a frame as levels, row after row.
[[nodiscard]] std::vector<double> reference_levels(const ConstImageView& in,
                                                   HessianChannel channel);

/// Hessians of all pixels of a frame that continues with its edge.
[[nodiscard]] std::vector<Hessian> reference_hessians(const std::vector<double>& levels, int width,
                                                      HessianDerivative derivative, double sigma,
                                                      double truncate);

/// Eigenvalues from trace and determinant, the smaller first.
struct EigenPair {
  double least;
  double most;
};
[[nodiscard]] EigenPair reference_eigenvalues(const Hessian& h);

}  // namespace equalux::test
