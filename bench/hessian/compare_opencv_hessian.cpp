// Eigenvalues of the Hessian by OpenCV's functions and by ours, on the same frame, in the same
// process, taking turns, one thread each.
//
// OpenCV: GaussianBlur of a float frame with as many taps as ours, the three second derivatives by
// Sobel, the closed form in one loop. Its matrices are kept from round to round, so that it
// allocates nothing but what GaussianBlur and Sobel take for themselves. It gives the eigenvalues
// unordered, ours are ordered.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include <equalux/hessian.h>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "bench/support/bench_frames.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace equalux::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kRounds = 25;

class OpencvEigenvalues {
 public:
  explicit OpencvEigenvalues(double sigma)
      : sigma_(sigma), taps_(2 * static_cast<int>(4 * sigma + 0.5) + 1) {}

  void operator()(const cv::Mat& gray) {
    gray.convertTo(level_, CV_32F);
    cv::GaussianBlur(level_, smooth_, {taps_, taps_}, sigma_, sigma_, cv::BORDER_REPLICATE);
    cv::Sobel(smooth_, xx_, CV_32F, 2, 0, 3, 1, 0, cv::BORDER_REPLICATE);
    cv::Sobel(smooth_, xy_, CV_32F, 1, 1, 3, 1, 0, cv::BORDER_REPLICATE);
    cv::Sobel(smooth_, yy_, CV_32F, 0, 2, 3, 1, 0, cv::BORDER_REPLICATE);
    least_.create(gray.size(), CV_32F);
    most_.create(gray.size(), CV_32F);
    for (int y = 0; y < gray.rows; ++y) {
      const float* xx = xx_.ptr<float>(y);
      const float* xy = xy_.ptr<float>(y);
      const float* yy = yy_.ptr<float>(y);
      float* least = least_.ptr<float>(y);
      float* most = most_.ptr<float>(y);
      for (int x = 0; x < gray.cols; ++x) {
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

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

void compare(int width, int height, double sigma) {
  const ImageDesc desc{PixelFormat::gray8, width, height};
  std::vector<Image> frames = natural_frames(desc, 1);
  const ImageView view = frames.front().view();
  const cv::Mat gray(height, width, CV_8UC1, view.data[0],
                     static_cast<std::size_t>(view.stride[0]));
  OpencvEigenvalues opencv(sigma);
  HessianParams params;
  params.sigma = sigma;
  const auto filter = make_cpu_filter(params, {1});
  Image out(filter->configure(desc));
  FrameContext context;
  std::vector<double> theirs;
  std::vector<double> ours;
  const auto time = [](const auto& call) {
    const auto begin = Clock::now();
    call();
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  };
  for (int round = -3; round < kRounds; ++round) {
    const double opencv_ms = time([&] { opencv(gray); });
    const double ours_ms = time([&] { filter->submit(view, out.view(), context); });
    if (round < 0) continue;
    theirs.push_back(opencv_ms);
    ours.push_back(ours_ms);
  }
  std::printf("%4dx%-5d %5g %12.2f %12.2f %12.2f %12.2f %7.2f %7.2f\n", width, height, sigma,
              median(theirs), *std::min_element(theirs.begin(), theirs.end()), median(ours),
              *std::min_element(ours.begin(), ours.end()), median(theirs) / median(ours),
              *std::min_element(theirs.begin(), theirs.end()) /
                  *std::min_element(ours.begin(), ours.end()));
}

}  // namespace
}  // namespace equalux::bench

int main() {
#if defined(__GLIBC__)
  // OpenCV at its best: memory that it frees stays with the process, and comes back without faults.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, -1);
#endif
  cv::setNumThreads(1);
  std::printf("SIMD target %s, OpenCV %s, one thread, milliseconds\n",
              equalux::cpu_simd_target().c_str(), CV_VERSION);
  std::printf("%10s %5s %12s %12s %12s %12s %7s %7s\n", "size", "sigma", "OpenCV med", "best",
              "equalux med", "best", "ratio", "best");
  for (const double sigma : {2.0, 4.0}) {
    equalux::bench::compare(700, 605, sigma);
    equalux::bench::compare(2240, 1488, sigma);
    equalux::bench::compare(3540, 2336, sigma);
  }
}
