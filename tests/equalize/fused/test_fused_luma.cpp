// Luma of packed RGB in the fused chain: every target against the definition, byte by byte.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "src/cpu/equalize/fused/fused_chain.h"
#include "src/cpu/equalize/fused/gain_tables.h"
#include "tests/equalize/space/space_reference.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using test::Content;
using test::PaddedImage;

EqualizeParams in_luma() {
  EqualizeParams params;
  params.space = Space::luma;
  return params;
}

/// One frame through a chain of the given loops, into another one and in place.
void expect_luma(const FusedRows& loops, RowExecutor& executor, const EqualizeParams& params,
                 const PaddedImage& in, int padding = 0, bool negative = false) {
  SCOPED_TRACE(loops.target);
  FusedChain chain(params, executor, loops);
  test::expect_in_space(chain, params, in, padding, negative);
}

void expect_luma(const FusedRows& loops, RowExecutor& executor, const ImageDesc& desc,
                 Content content, int padding = 0, bool negative = false) {
  SCOPED_TRACE(test::name_of(content));
  const PaddedImage in(desc, padding, negative, padding % 7);
  test::fill(in.view(), content, 7);
  expect_luma(loops, executor, in_luma(), in, padding, negative);
}

std::vector<PixelFormat> luma_formats() {
  std::vector<PixelFormat> formats = test::rgb_formats();
  std::erase(formats, PixelFormat::gray8);
  return formats;
}

class FusedLumaTest : public testing::TestWithParam<std::size_t> {
 protected:
  static const FusedRows& loops() {
    static const std::vector<FusedRows> all = all_fused_rows();
    return all[GetParam()];
  }
};

TEST_P(FusedLumaTest, EveryFormatAndContentEqualsTheDefinition) {
  RowExecutor one(1);
  for (const PixelFormat format : luma_formats()) {
    for (const Content content : test::all_contents())
      expect_luma(loops(), one, {format, 201, 37}, content);
  }
}

TEST_P(FusedLumaTest, EverySizeAndStride) {
  RowExecutor two(2);
  const std::vector<std::pair<int, int>> sizes{{1, 1},  {1, 7},  {7, 1},   {15, 3},  {16, 3},
                                               {31, 6}, {33, 4}, {65, 10}, {129, 3}, {257, 2}};
  for (const PixelFormat format : luma_formats()) {
    for (const auto& [width, height] : sizes) {
      for (const int padding : {0, 1, 29}) {
        for (const bool negative : {false, true}) {
          expect_luma(loops(), two, {format, width, height}, Content::noise, padding, negative);
        }
      }
    }
  }
}

/// Frames over 1 MiB with aligned rows are written past the caches, and counted in pairs.
TEST_P(FusedLumaTest, StreamedFramesEqualTheDefinition) {
  test::EveryNth fifth(5);
  RowExecutor one(1);
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::rgba, PixelFormat::xbgr}) {
    for (const int width : {1216, 1203}) {
      if (fifth.skips()) continue;
      const PaddedImage in({format, width, 900});
      test::fill(in.view(), Content::natural, 3);
      expect_luma(loops(), one, in_luma(), in);
    }
  }
}

/// The curve that makes every level at least `white` white: the largest gains there are.
EqualizeParams steep(std::size_t white) {
  EqualizeParams params = in_luma();
  ToneCurve curve{Space::luma, 1, std::vector<std::uint32_t>(256, 255 * ToneCurve::kUnit), {}};
  std::fill_n(curve.levels.begin(), white, 0U);
  params.curve = curve;
  return params;
}

TEST_P(FusedLumaTest, TheLargestGainsClipAtWhite) {
  RowExecutor one(1);
  // Level 1 with the brightest blue that it can have, then all dark colours.
  const PaddedImage in({PixelFormat::rgb, 24 * 24, 24});
  for (int y = 0; y < 24; ++y) {
    for (int x = 0; x < 24 * 24; ++x) {
      std::uint8_t* p = in.view().row(0, y) + 3 * x;
      p[0] = static_cast<std::uint8_t>(x % 24);
      p[1] = static_cast<std::uint8_t>(y);
      p[2] = static_cast<std::uint8_t>(x / 24);
    }
  }
  for (const std::size_t white : {1, 2, 5}) {
    const PaddedImage copy(in.view().desc);
    for (int y = 0; y < 24; ++y)
      std::copy_n(in.view().row(0, y), 3 * 24 * 24, copy.view().row(0, y));
    expect_luma(loops(), one, steep(white), copy);
  }
}

TEST_P(FusedLumaTest, RandomCurvesEqualTheDefinition) {
  RowExecutor one(1);
  std::mt19937 random(5);
  for (int i = 0; i < 40; ++i) {
    EqualizeParams params = in_luma();
    params.curve = test::random_curve(Space::luma, random);
    const PaddedImage in({i % 2 == 0 ? PixelFormat::bgr : PixelFormat::bgrx, 512, 16});
    test::fill(in.view(), Content::noise, static_cast<std::uint32_t>(i));
    expect_luma(loops(), one, params, in);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, FusedLumaTest,
                         testing::Range(std::size_t{0}, all_fused_rows().size()),
                         [](const auto& param) {
                           return std::string(all_fused_rows()[param.param].target);
                         });

TEST(FusedLuma, EveryTargetHasLoopsOfItsOwn) {
  const std::vector<FusedRows> all = all_fused_rows();
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      EXPECT_NE(all[i].count_luma, all[j].count_luma) << all[i].target << " " << all[j].target;
      EXPECT_NE(all[i].apply_luma, all[j].apply_luma) << all[i].target << " " << all[j].target;
    }
  }
}

/// Gains next to where a code's result changes, at every level: both forms of the gain put every
/// code on the right side.
TEST(FusedLuma, GainsNextToAHalfRoundEveryCode) {
  const FusedRows& loops = fused_rows();
  ValueHistogram all;
  all.fill(1);
  std::mt19937 random(11);
  GainTables gains;
  for (int round = 0; round < 400; ++round) {
    std::array<std::uint32_t, 256> curve{};
    for (std::uint32_t v = 1; v < 256; ++v) {
      // (2k + 1) / (2c) v 2^22, and a unit to either side.
      const std::uint64_t c = 1 + random() % 255;
      const std::uint64_t k = random() % std::min<std::uint64_t>(255, 255 * c / v + 1);
      const std::uint64_t at = ((2 * k + 1) * v << 21) / c + random() % 3;
      curve[v] = static_cast<std::uint32_t>(
          std::clamp<std::uint64_t>(at, 1, std::uint64_t{255} << 22) - 1);
    }
    make_luma_gains(all, curve, loops, gains);
    for (std::uint32_t v = 1; v < 256; ++v) {
      const std::uint64_t one = std::uint64_t{v} << 22;
      for (std::uint64_t c = 0; c < 256; ++c) {
        const std::uint64_t wanted =
            std::min<std::uint64_t>(255, (2 * c * curve[v] + one) / (2 * one));
        constexpr std::uint64_t kHalf = 1 << (kLumaGainBits - 1);
        ASSERT_EQ(
            std::min<std::uint64_t>(255, (c * (gains.fixed[v] >> 32) + kHalf) >> kLumaGainBits),
            wanted)
            << c << " at " << v << " under " << curve[v];
        const float whole = std::fma(static_cast<float>(c), gains.gain[v], 8388608.0F);
        ASSERT_EQ(std::min(255.0F, whole - 8388608.0F), static_cast<float>(wanted))
            << c << " at " << v << " under " << curve[v];
      }
    }
  }
}

}  // namespace
}  // namespace equalux
