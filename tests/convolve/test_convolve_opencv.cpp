#include <array>
#include <cmath>
#include <cstdio>

#include <equalux/convolve.h>
#include <gtest/gtest.h>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "src/convolve/exact_kernel.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/test_images.h"

/// Convolution beside OpenCV's filter2D.
namespace equalux {
namespace {

struct Picture {
  const char* name;
  Image image;
};

std::vector<Picture> pictures() {
  std::vector<Picture> all;
  const ImageDesc desc{PixelFormat::bgr, 331, 157};
  all.push_back({"noise", Image(desc)});
  test::fill(all.back().image.view(), test::Content::noise, 5);
  const cv::Mat shown = cv::imread(EQUALUX_SOURCE_FOLDER "/docs/images/before-after.png");
  if (shown.empty()) throw std::runtime_error("docs/images/before-after.png cannot be read");
  all.push_back({"before-after", Image({PixelFormat::bgr, shown.cols, shown.rows})});
  for (int y = 0; y < shown.rows; ++y)
    std::copy_n(shown.ptr(y), 3 * shown.cols, all.back().image.view().row(0, y));
  return all;
}

cv::Mat mat_of(const Image& image) {
  const ConstImageView view = image.view();
  cv::Mat copy(view.desc.height, view.desc.width, CV_8UC3);
  for (int y = 0; y < copy.rows; ++y)
    std::copy_n(view.row(0, y), 3 * copy.cols, copy.ptr(y));
  return copy;
}

/// The whole weights, which doubles hold exactly.
cv::Mat weights_of(const ExactKernel& kernel) {
  cv::Mat weights(kernel.size, kernel.size, CV_64F);
  for (int j = 0; j < kernel.size; ++j) {
    for (int i = 0; i < kernel.size; ++i) {
      const auto row = static_cast<std::size_t>(j);
      const auto column = static_cast<std::size_t>(i);
      const auto at = row * static_cast<std::size_t>(kernel.size) + column;
      weights.at<double>(j, i) = kernel.separable ? double(kernel.column[row]) * kernel.row[column]
                                                  : double(kernel.weights[at]);
    }
  }
  return weights;
}

struct Case {
  ConvolveParams params;
  double offset = 0;
};

/// Up to 7 x 7: larger kernels OpenCV applies by Fourier transforms, which round.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::string_view name : spellings(convolve_kernel_list())) {
    Case each;
    each.params.kernel = name;
    if (name == "emboss-horizontal" || name == "emboss-vertical") each.offset = 128;
    if (name == "custom") {
      each.params.weights = {"-0.25", "0.5", "0", "1.125", "-2", "0.75", "0", "-0.5", "1.375"};
      each.params.offset = "20.25";
      each.offset = 20.25;
    }
    if (name == "gaussian" || name == "box") each.params.size = 7;
    all.push_back(each);
  }
  return all;
}

constexpr std::array<std::pair<Border, int>, 3> kBorders{
    {{Border::replicate, cv::BORDER_REPLICATE},
     {Border::reflect_101, cv::BORDER_REFLECT_101},
     {Border::constant, cv::BORDER_CONSTANT}}};

/// Compares one filtered picture with sums in double precision, byte for byte, and counts where
/// OpenCV's own 8-bit result differs, which may only be at halves.
void compare(const Picture& picture, const Case& each, int opencv_border) {
  const ExactKernel kernel = exact_kernel(each.params);
  const auto divisor = static_cast<double>(kernel.divisor);
  const cv::Mat weights = weights_of(kernel);
  const cv::Mat in = mat_of(picture.image);
  cv::Mat sums;
  cv::Mat eight_bits;
  cv::filter2D(in, sums, CV_64F, weights, {-1, -1}, 0, opencv_border);
  cv::filter2D(in, eight_bits, -1, weights / divisor, {-1, -1}, each.offset, opencv_border);

  const auto filter = make_cpu_filter(each.params);
  Image out(filter->configure(picture.image.desc()));
  FrameContext context;
  filter->submit(picture.image.view(), out.view(), context);
  std::size_t wrong = 0;
  std::size_t other = 0;
  std::size_t other_not_half = 0;
  for (int y = 0; y < in.rows; ++y) {
    for (int x = 0; x < 3 * in.cols; ++x) {
      const double level = sums.ptr<double>(y)[x] / divisor + each.offset;
      const auto expected = static_cast<int>(std::clamp(std::floor(level + 0.5), 0.0, 255.0));
      wrong += out.view().row(0, y)[x] != expected;
      if (eight_bits.ptr(y)[x] == expected) continue;
      ++other;
      other_not_half += level + 0.5 != std::floor(level + 0.5);
    }
  }
  EXPECT_EQ(wrong, 0u);
  std::printf("%-13s %-18s %-12s OpenCV's 8 bits differ in %zu of %zu values\n", picture.name,
              each.params.kernel.c_str(), std::string(enum_name(each.params.border)).c_str(), other,
              in.total() * 3);
  // Single precision rounds the Gaussian's and the custom kernel's sums once more.
  if (kernel.divisor < 256) {
    EXPECT_EQ(other_not_half, 0u);
  }
}

TEST(ConvolveBesideOpencv, EveryKernelAndBorder) {
  test::EveryNth second(2);
  for (const Picture& picture : pictures()) {
    for (Case each : cases()) {
      for (const auto& [border, opencv_border] : kBorders) {
        if (second.skips()) continue;
        each.params.border = border;
        SCOPED_TRACE(std::string(picture.name) + " " + each.params.kernel + " " +
                     std::string(enum_name(border)));
        compare(picture, each, opencv_border);
      }
    }
  }
}

}  // namespace
}  // namespace equalux
