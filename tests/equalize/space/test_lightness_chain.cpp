// Lightness on the CPU: every target against the functions that the backends share, byte by byte.
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "src/cpu/equalize/space/lightness_chain.h"
#include "tests/equalize/space/space_reference.h"
#include "tests/support/media/test_images.h"
#include "tests/support/own_loops.h"

namespace equalux {
namespace {

using test::Content;
using test::PaddedImage;

EqualizeParams in_lightness() {
  EqualizeParams params;
  params.space = Space::lightness;
  return params;
}

class LightnessChainTest : public testing::TestWithParam<std::size_t> {
 protected:
  static const FusedRows& rows() {
    static const std::vector<FusedRows> all = all_fused_rows();
    return all[GetParam()];
  }
  static const HueRows& hues() {
    static const std::vector<HueRows> all = all_hue_rows();
    return all[GetParam()];
  }

  /// One frame, into another one and in place.
  static void expect_lightness(RowExecutor& executor, const EqualizeParams& params,
                               const PaddedImage& in, int padding = 0, bool negative = false) {
    ASSERT_EQ(rows().target, hues().target);
    SCOPED_TRACE(rows().target);
    LightnessChain chain(params, executor, rows(), hues());
    test::expect_in_space(chain, params, in, padding, negative);
  }
  static void expect_lightness(RowExecutor& executor, const ImageDesc& desc, Content content,
                               int padding = 0, bool negative = false) {
    SCOPED_TRACE(test::name_of(content));
    const PaddedImage in(desc, padding, negative, padding % 7);
    test::fill(in.view(), content, 7);
    expect_lightness(executor, in_lightness(), in, padding, negative);
  }
};

TEST_P(LightnessChainTest, EveryFormatAndContentEqualsTheDefinition) {
  RowExecutor one(1);
  for (const PixelFormat format : test::rgb_formats()) {
    for (const Content content : test::all_contents())
      expect_lightness(one, {format, 301, 23}, content);
  }
}

TEST_P(LightnessChainTest, EverySizeAndStride) {
  RowExecutor two(2);
  const std::vector<std::pair<int, int>> sizes{{1, 1},  {1, 7},  {7, 1},   {15, 3}, {16, 3},
                                               {31, 6}, {33, 4}, {65, 10}, {257, 2}};
  for (const PixelFormat format : test::rgb_formats()) {
    for (const auto& [width, height] : sizes) {
      for (const int padding : {0, 29}) {
        for (const bool negative : {false, true})
          expect_lightness(two, {format, width, height}, Content::noise, padding, negative);
      }
    }
  }
}

/// Frames over 1 MiB are written past the caches, and counted in pairs.
TEST_P(LightnessChainTest, StreamedFramesEqualTheDefinition) {
  RowExecutor one(1);
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::rgba, PixelFormat::gray8}) {
    const PaddedImage in({format, 1203, 903}, 0, false, 1);
    test::fill(in.view(), Content::natural, 3);
    expect_lightness(one, in_lightness(), in);
  }
}

/// Grays and near grays, dark, saturated and clipped ones, under curves with the largest gains and
/// the smallest ones.
TEST_P(LightnessChainTest, GivenCurvesEqualTheDefinition) {
  RowExecutor one(1);
  std::mt19937 random(5);
  for (int i = 0; i < 24; ++i) {
    EqualizeParams params = in_lightness();
    ToneCurve curve = test::random_curve(Space::lightness, random);
    if (i < 2) std::fill(curve.levels.begin() + 1, curve.levels.end(), 255 * ToneCurve::kUnit);
    params.curve = curve;
    const PaddedImage in({i % 2 == 0 ? PixelFormat::bgr : PixelFormat::xrgb, 512, 12});
    test::fill(in.view(), Content::noise, static_cast<std::uint32_t>(i));
    // Every third pixel gray or nearly.
    const RgbLayout at = rgb_layout(in.view().desc.format);
    for (int y = 0; y < 12; ++y) {
      for (int x = 0; x < 512; x += 3) {
        std::uint8_t* p = in.view().row(0, y) + at.step * x;
        p[at.r] = p[at.g] = static_cast<std::uint8_t>(p[at.b] ^ (x % 2));
      }
    }
    expect_lightness(one, params, in);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, LightnessChainTest,
                         testing::Range(std::size_t{0}, all_fused_rows().size()),
                         [](const auto& param) {
                           return std::string(all_fused_rows()[param.param].target);
                         });

TEST(LightnessChain, EveryTargetHasLoopsOfItsOwn) {
  const std::vector<HueRows> all = all_hue_rows();
  ASSERT_EQ(all.size(), all_fused_rows().size());
  std::set<decltype(HueRows::map)> own;
  for (const HueRows& loops : all)
    own.insert(loops.map);
  EXPECT_EQ(own.size(), test::count_own_loops());
}

}  // namespace
}  // namespace equalux
