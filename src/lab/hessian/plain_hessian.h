#pragma once

#include <cstddef>
#include <vector>

#include <equalux/hessian.h>

/// CPU program of the Hessian report: one step after another over whole planes, one thread, plain
/// C++. Its values are those of the filter.
namespace equalux::cli::lab {

/// Program with planes of its own. One thread at a time.
class PlainHessian {
 public:
  /// Allocates planes for pictures of `pixels` pixels.
  PlainHessian(const HessianParams& params, std::size_t pixels)
      : params_(params), xx_(pixels), xy_(pixels), yy_(pixels) {}

  struct Steps {
    double derivatives_ms;  ///< includes smoothing, which is part of the derivative kernels
    double eigenvalues_ms;
  };
  /// Runs both steps; `image` is gray8, `out` grayf32x2 of that size.
  Steps run(const ConstImageView& image, const ImageView& out);

 private:
  void derive(const ConstImageView& image);

  HessianParams params_;
  std::vector<float> xx_;
  std::vector<float> xy_;
  std::vector<float> yy_;
};

}  // namespace equalux::cli::lab
