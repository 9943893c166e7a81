#pragma once

#include <cmath>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "src/hessian/hessian_weights.h"

/// Eigenvalues of the Hessian with OpenCV's functions, in steps that can be timed.
namespace equalux::cli::lab {

/// Steps: GaussianBlur of a float frame with as many taps as our kernels, the three second
/// derivatives by Sobel, the closed form in one loop. Matrices are reused, so that a call allocates
/// only what GaussianBlur and Sobel need themselves. One thread at a time.
class OpencvClosedForm {
 public:
  OpencvClosedForm(double sigma, double truncate)
      : sigma_(sigma), taps_(2 * gaussian_radius(sigma, truncate) + 1) {}

  void smooth(const cv::Mat& gray) {
    gray.convertTo(level_, CV_32F);
    cv::GaussianBlur(level_, smooth_, {taps_, taps_}, sigma_, sigma_, cv::BORDER_REPLICATE);
  }
  void derive() {
    cv::Sobel(smooth_, xx_, CV_32F, 2, 0, 3, 1, 0, cv::BORDER_REPLICATE);
    cv::Sobel(smooth_, xy_, CV_32F, 1, 1, 3, 1, 0, cv::BORDER_REPLICATE);
    cv::Sobel(smooth_, yy_, CV_32F, 0, 2, 3, 1, 0, cv::BORDER_REPLICATE);
  }
  void solve() {
    least_.create(xx_.size(), CV_32F);
    most_.create(xx_.size(), CV_32F);
    for (int y = 0; y < xx_.rows; ++y) {
      const float* xx = xx_.ptr<float>(y);
      const float* xy = xy_.ptr<float>(y);
      const float* yy = yy_.ptr<float>(y);
      float* least = least_.ptr<float>(y);
      float* most = most_.ptr<float>(y);
      for (int x = 0; x < xx_.cols; ++x) {
        const float middle = 0.5f * (xx[x] + yy[x]);
        const float half = 0.5f * (xx[x] - yy[x]);
        const float root = std::sqrt(half * half + xy[x] * xy[x]);
        least[x] = middle - root;
        most[x] = middle + root;
      }
    }
  }

 private:
  double sigma_;
  int taps_;
  cv::Mat level_, smooth_, xx_, xy_, yy_, least_, most_;
};

}  // namespace equalux::cli::lab
