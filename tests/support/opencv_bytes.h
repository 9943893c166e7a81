#pragma once

#include <random>

#include <equalux/image.h>
#include <gtest/gtest.h>

#if defined(EQUALUX_TEST_OPENCV)
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#endif

#include "tests/support/long_counts.h"

/// What tests of OpenCV's bytes share: random pictures, and how many.
namespace equalux::test {

#if defined(EQUALUX_TEST_OPENCV) && defined(__x86_64__)
inline constexpr bool kHasOpencvBytes = true;
#else
inline constexpr bool kHasOpencvBytes = false;
#endif
/// Why a test that needs them is skipped.
inline constexpr const char* kNoOpencvBytes =
    "this build has no OpenCV, or the machine is none whose OpenCV rounds as on x86-64";

/// Pictures for a test: `sample` of 1,000.
[[nodiscard]] inline int picture_count(int sample) {
  return wants_every_count() ? 1000 : sample;
}

/// One of several kinds of pictures: noise, a ramp, few levels, nearly flat, one level.
inline void fill_random(const ImageView& view, std::mt19937& random) {
  const bool words = traits(view.desc.format).step[0] == 2;
  const std::uint32_t most = words ? 65535 : 255;
  const auto below = [&random](std::uint32_t end) {
    return static_cast<std::uint32_t>(random() % end);
  };
  const std::uint32_t kind = below(6);
  const std::uint32_t base = below(most + 1);
  const std::uint32_t range = 1 + below(kind == 3 ? 5 : most);
  for (int y = 0; y < view.desc.height; ++y) {
    for (int x = 0; x < view.desc.width; ++x) {
      std::uint32_t v = base;
      if (kind == 0) v = below(most + 1);
      if (kind == 1) v = static_cast<std::uint32_t>(x) * (most / 97 + 1) + below(3);
      if (kind == 2) v = below(3) * (most / 3);
      if (kind == 3) v = base + below(range);
      if (kind == 4) v = below(range) * below(range) / range;
      v %= most + 1;
      std::uint8_t* const at = view.row(0, y) + (words ? 2 * x : x);
      at[0] = static_cast<std::uint8_t>(v);
      if (words) at[1] = static_cast<std::uint8_t>(v >> 8);
    }
  }
}

#if defined(EQUALUX_TEST_OPENCV)
/// The view as OpenCV sees it, without a copy. Strides are whole samples.
[[nodiscard]] inline cv::Mat as_mat(const ImageView& view) {
  return {view.desc.height, view.desc.width,
          traits(view.desc.format).step[0] == 2 ? CV_16UC1 : CV_8UC1, view.data[0],
          static_cast<std::size_t>(view.stride[0])};
}
#endif

}  // namespace equalux::test
