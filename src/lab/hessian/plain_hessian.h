#pragma once

#include <cstddef>
#include <vector>

#include <equalux/hessian.h>

/// The Hessian report's program on the CPU: one step after another over whole planes, one thread,
/// plain C++. It gives the filter's values.
namespace equalux::cli::lab {

/// One thread at a time.
class PlainHessian {
 public:
  /// Makes room for pictures of that many pixels.
  PlainHessian(const HessianParams& params, std::size_t pixels)
      : params_(params), xx_(pixels), xy_(pixels), yy_(pixels) {}

  struct Steps {
    double derivatives_ms;  ///< its smoothing included: ours is folded into the kernels
    double eigenvalues_ms;
  };
  /// `image` is gray8, `out` grayf32x2 of that size.
  Steps run(const ConstImageView& image, const ImageView& out);

 private:
  void derive(const ConstImageView& image);

  HessianParams params_;
  std::vector<float> xx_;
  std::vector<float> xy_;
  std::vector<float> yy_;
};

}  // namespace equalux::cli::lab
