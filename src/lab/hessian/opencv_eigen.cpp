#include "src/lab/hessian/opencv_eigen.h"

#include <array>

#include <opencv2/core.hpp>

#include "src/lab/hessian/opencv_closed_form.h"

namespace equalux::cli::lab {
namespace {

/// Sets OpenCV's number of threads, a global of the process, and restores it.
class Threads {
 public:
  explicit Threads(int threads) : before_(cv::getNumThreads()) { cv::setNumThreads(threads); }
  ~Threads() { cv::setNumThreads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

/// Wraps the image without a copy; OpenCV only reads it.
cv::Mat matrix_of(const ConstImageView& image) {
  return {image.desc.height, image.desc.width, CV_8UC1, const_cast<std::uint8_t*>(image.data[0]),
          static_cast<std::size_t>(image.stride[0])};
}

}  // namespace

std::vector<gpu_lab::StageSamples> time_opencv_steps(const ConstImageView& image,
                                                     const HessianParams& params, int threads,
                                                     const Budget& budget) {
  const Threads limit(threads);
  const cv::Mat gray = matrix_of(image);
  OpencvClosedForm program(params.sigma, params.truncate);
  using Laps = std::array<double, 4>;
  const auto calls = repeat_within<Laps>(budget, [&] {
    const LabClock::time_point start = LabClock::now();
    program.smooth(gray);
    const double smoothed = 1e6 * seconds_since(start);
    program.derive();
    const double derived = 1e6 * seconds_since(start);
    program.solve();
    const double whole = 1e6 * seconds_since(start);
    return Laps{whole, smoothed, derived - smoothed, whole - derived};
  });
  std::vector<gpu_lab::StageSamples> steps{
      {"whole", {}}, {"smoothing", {}}, {"derivatives", {}}, {"eigenvalues", {}}};
  for (const Laps& laps : calls) {
    for (std::size_t i = 0; i < steps.size(); ++i)
      steps[i].us.push_back(laps[i]);
  }
  return steps;
}

std::vector<gpu_lab::StageSamples> time_opencv_corner(const ConstImageView& image, int threads,
                                                      const Budget& budget) {
  constexpr int kBlock = 3;
  constexpr int kAperture = 3;
  const Threads limit(threads);
  const cv::Mat gray = matrix_of(image);
  cv::Mat result;
  return {{"whole", repeat_within<double>(budget, [&] {
             const LabClock::time_point start = LabClock::now();
             cv::cornerEigenValsAndVecs(gray, result, kBlock, kAperture, cv::BORDER_REPLICATE);
             return 1e6 * seconds_since(start);
           })}};
}

}  // namespace equalux::cli::lab
