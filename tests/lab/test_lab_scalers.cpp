#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "src/lab/equalize/scalers.h"
#include "tests/support/media/test_images.h"

/// What `lab scalers` does to images.
namespace equalux::cli::lab {
namespace {

using test::Content;
using test::PaddedImage;

TEST(ShiftValue, MovesVAndScalesTheOtherChannelsWithIt) {
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::rgb, PixelFormat::bgra}) {
    const PaddedImage image({format, 37, 11, {}, {}}, 5);
    test::fill(image.view(), Content::noise);
    const int step = traits(format).step[0];
    for (const int shift : {-255, -120, -1, 0, 1, 120, 255}) {
      const Image shifted = shift_value(image.view(), shift);
      for (int y = 0; y < 11; ++y) {
        for (int x = 0; x < 37; ++x) {
          const std::uint8_t* before = image.view().row(0, y) + x * step;
          const std::uint8_t* after = shifted.view().row(0, y) + x * step;
          const int v = std::max({before[0], before[1], before[2]});
          const int wanted = std::clamp(v + shift, 0, 255);
          ASSERT_EQ(std::max({after[0], after[1], after[2]}), wanted);
          for (int c = 0; c < 3; ++c) {
            const double exact = v == 0 ? wanted : static_cast<double>(before[c]) * wanted / v;
            ASSERT_EQ(after[c], std::floor(exact + 0.5)) << c << " of " << v << " by " << shift;
          }
          if (step == 4) {
            ASSERT_EQ(after[3], before[3]);
          }
        }
      }
    }
  }
}

TEST(ShiftValue, OfNothingIsTheImage) {
  const PaddedImage image({PixelFormat::gray8, 30, 20, {}, {}});
  test::fill(image.view(), Content::natural);
  EXPECT_EQ(test::count_differences(shift_value(image.view(), 0).view(), image.view()), 0U);
}

TEST(Compare, CountsAsTheTestsDo) {
  const PaddedImage a({PixelFormat::bgr, 33, 21, {}, {}}, 3);
  const PaddedImage b({PixelFormat::bgr, 33, 21, {}, {}}, 0, true);
  test::fill(a.view(), Content::noise, 1);
  test::fill(b.view(), Content::noise, 2);
  const Difference difference = compare(a.view(), b.view());
  EXPECT_EQ(difference.values, 33U * 21U * 3U);
  EXPECT_EQ(difference.differ, test::count_differences(a.view(), b.view()));
  EXPECT_EQ(difference.most, test::max_difference(a.view(), b.view()));
  EXPECT_EQ(compare(a.view(), a.view()).differ, 0U);
}

}  // namespace
}  // namespace equalux::cli::lab
