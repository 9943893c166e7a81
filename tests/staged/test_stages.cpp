// The staged chain's stages one by one: rgb_to_hsv, histogram, equalize, hsv_to_rgb.
#include <cmath>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "src/cpu/staged/staged_stages.h"
#include "src/format/pixel_math.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

TEST(RgbToHsv, KnownColours) {
  const auto expect = [](int r, int g, int b, float h, float s, float v) {
    const Hsv hsv = rgb_to_hsv_pixel(r, g, b);
    EXPECT_FLOAT_EQ(hsv.h, h) << r << "," << g << "," << b;
    EXPECT_FLOAT_EQ(hsv.s, s) << r << "," << g << "," << b;
    EXPECT_FLOAT_EQ(hsv.v, v) << r << "," << g << "," << b;
  };
  expect(0, 0, 0, 0, 0, 0);
  expect(255, 255, 255, 0, 0, 1);
  expect(255, 0, 0, 0, 1, 1);
  expect(255, 255, 0, 60, 1, 1);
  expect(0, 255, 0, 120, 1, 1);
  expect(0, 255, 255, 180, 1, 1);
  expect(0, 0, 255, 240, 1, 1);
  expect(255, 0, 255, 300, 1, 1);
  expect(51, 102, 153, 210, 2.0f / 3.0f, 0.6f);
}

TEST(HsvToRgb, UndoesRgbToHsvForEveryColour) {
  const int step = test::wants_every_count() ? 1 : 3;
  for (int r = 0; r < 256; r += step) {
    for (int g = 0; g < 256; g += step) {
      for (int b = 0; b < 256; b += step) {
        const Rgb rgb = hsv_to_rgb_pixel(rgb_to_hsv_pixel(r, g, b));
        ASSERT_EQ(rgb.r, r) << r << "," << g << "," << b;
        ASSERT_EQ(rgb.g, g) << r << "," << g << "," << b;
        ASSERT_EQ(rgb.b, b) << r << "," << g << "," << b;
      }
    }
  }
}

TEST(Histogram, CountsEqualADirectCountForEveryBinCount) {
  std::mt19937 random(3);
  std::vector<float> v(100003);
  std::vector<int> level(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) {
    level[i] = static_cast<int>(random() % 256);
    v[i] = static_cast<float>(level[i]) / 255.0f;
  }
  for (const int bins : {2, 3, 100, 255, 256, 257, 1000, 65536}) {
    for (const int threads : {1, 2, 3}) {
      RowExecutor executor(threads);
      std::vector<std::uint32_t> counts(static_cast<std::size_t>(bins), 77);
      std::vector<std::uint32_t> partial(counts.size() * static_cast<std::size_t>(threads), 99);
      histogram(v, counts, partial, executor);
      std::vector<std::uint32_t> expected(counts.size(), 0);
      for (const int l : level) {
        ++expected[static_cast<std::size_t>(
            std::floor(static_cast<double>(bins - 1) * l / 255.0 + 0.5))];
      }
      EXPECT_EQ(counts, expected) << bins << " bins, " << threads << " threads";
    }
  }
}

TEST(Equalize, BothVariantsAreOneDivisionOfTheSums) {
  RowExecutor executor(2);
  std::vector<std::uint32_t> cdf{0, 10, 10, 70, 100};
  const CurveScale scale{10, 90};
  std::vector<float> v;
  for (int level = 0; level < 256; ++level)
    v.push_back(static_cast<float>(level) / 255.0f);
  for (const EqualizeVariant how : {EqualizeVariant::divide, EqualizeVariant::curve}) {
    std::vector<float> out = v;
    std::vector<float> curve(cdf.size());
    equalize(how, cdf, scale, out, curve, executor);
    EXPECT_EQ(out[0], 0.0f) << "black stays black";
    EXPECT_EQ(out[255], 1.0f);
    EXPECT_EQ(out[64], 0.0f);
    EXPECT_EQ(out[191], 60.0f / 90.0f);
  }
}

TEST(ScaleOf, OffsetsByScaler) {
  const std::vector<std::uint32_t> counts{0, 0, 5, 3, 2};
  std::vector<std::uint32_t> cdf(counts.size());
  std::partial_sum(counts.begin(), counts.end(), cdf.begin());
  EXPECT_EQ(scale_of(Scaler::max_abs, counts, cdf).span, 10u);
  EXPECT_EQ(scale_of(Scaler::min_max, counts, cdf).span, 10u);
  EXPECT_EQ(scale_of(Scaler::min_max_nonzero, counts, cdf).offset, 5u);
  EXPECT_EQ(scale_of(Scaler::min_max_nonzero, counts, cdf).span, 5u);
}

}  // namespace
}  // namespace equalux
