#include <array>
#include <cmath>

#include <equalux/clahe.h>
#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/clahe/tile_curves.h"
#include "src/cpu/clahe/clahe_chain.h"
#include "tests/clahe/reference_clahe.h"
#include "tests/clahe/tile_checks.h"
#include "tests/support/media/moving_frames.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using test::Content;
using test::filtered;
using test::with_tiles;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// One frame through a chain of the given loops, compared with the definition.
void expect_exact(const FusedRows& loops, RowExecutor& executor, const ClaheParams& params,
                  const ImageDesc& desc, Content content, int padding = 0, bool negative = false) {
  SCOPED_TRACE(std::string(loops.target) + " " + test::describe(params, desc, content));
  test::expect_defined(ClaheChain(params, executor, loops), desc, content, padding, negative,
                       [&](const ConstImageView& in, const ImageView& out, bool interlaced) {
                         test::reference_clahe(params, in, out, interlaced);
                       });
}

class ClaheTargets : public testing::TestWithParam<std::size_t> {
 protected:
  static const FusedRows& loops() {
    static const std::vector<FusedRows> all = all_fused_rows();
    return all[GetParam()];
  }
};

TEST_P(ClaheTargets, EveryFormatAndContentEqualsTheDefinition) {
  RowExecutor one(1);
  for (const PixelFormat format : test::byte_formats()) {
    for (const Content content : test::all_contents())
      expect_exact(loops(), one, {}, {format, 203, 37}, content);
  }
}

TEST_P(ClaheTargets, EverySizeStrideAndFieldOrder) {
  RowExecutor two(2);
  const std::vector<std::pair<int, int>> sizes{{1, 1}, {1, 7},  {7, 1},   {2, 2},    {3, 3},
                                               {5, 6}, {64, 4}, {65, 10}, {129, 11}, {257, 6}};
  for (const PixelFormat format : test::byte_formats()) {
    for (const auto& [width, height] : sizes) {
      const CellCount cells = cells_of({format, width, height});
      for (const int padding : {0, 29}) {
        const ClaheParams params = with_tiles(std::min(cells.columns, 3), std::min(cells.rows, 2));
        expect_exact(loops(), two, params, {format, width, height}, Content::noise, padding,
                     padding != 0);
      }
    }
  }
}

TEST_P(ClaheTargets, EveryTileCountMatrixAndRange) {
  RowExecutor two(2);
  for (const auto& [x, y] : {std::pair{1, 1}, {1, 16}, {16, 1}, {2, 3}, {16, 16}, {13, 7}}) {
    for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::gray8, PixelFormat::i420,
                                     PixelFormat::uyvy, PixelFormat::y444}) {
      for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
        expect_exact(loops(), two, with_tiles(x, y), {format, 167, 39, ColorMatrix::bt2020, range},
                     Content::natural);
      }
    }
  }
}

/// Tiles whose pixels are a multiple of 512 have many curve levels on a half.
TEST_P(ClaheTargets, WithoutLimitsTheCurvesArePlain) {
  RowExecutor two(2);
  for (const Scaler scaler : {Scaler::max_abs, Scaler::min_max, Scaler::min_max_nonzero}) {
    for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::gray8, PixelFormat::i420}) {
      ClaheParams params = with_tiles(4, 4);
      params.curve.clip_limit = 0;
      params.curve.scaler = scaler;
      for (const Content content : {Content::natural, Content::noise, Content::constant})
        expect_exact(loops(), two, params, {format, 192, 128}, content);
    }
  }
}

/// Frames over 1 MiB are written past the caches.
TEST_P(ClaheTargets, StreamedFramesEqualTheDefinition) {
  RowExecutor two(2);
  expect_exact(loops(), two, {}, {PixelFormat::bgr, 1203, 300}, Content::noise);
  expect_exact(loops(), two, {}, {PixelFormat::bgrx, 1216, 222}, Content::natural);
  expect_exact(loops(), two, {}, {PixelFormat::i420, 1203, 600}, Content::noise);
}

INSTANTIATE_TEST_SUITE_P(Targets, ClaheTargets,
                         testing::Range(std::size_t{0}, all_fused_rows().size()),
                         [](const auto& info) {
                           return std::string(all_fused_rows()[info.param].target);
                         });

/// What the steps' roundings cost: a level, and that only where the exact value lies by a half.
TEST(Clahe, IsWithinALevelOfTheExactMean) {
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::gray8}) {
    for (const Content content : {Content::natural, Content::noise, Content::ramp}) {
      Image in({format, 319, 201});
      Image exact(in.desc());
      test::fill(in.view(), content, 3);
      const ClaheParams params = with_tiles(5, 4);
      test::exact_clahe(params, in.view(), exact.view());
      const Image out = filtered(params, in.view());
      EXPECT_LE(test::max_difference(exact.view(), out.view()), 1);
      const auto bytes = static_cast<double>(tight_bytes(in.desc()));
      // Weights are rounded down to 256ths of the way.
      EXPECT_LT(static_cast<double>(test::count_differences(exact.view(), out.view())),
                0.2 * bytes);
    }
  }
}

TEST(Clahe, OneTileIsEqualizationButForARoundedCurve) {
  for (const PixelFormat format : test::byte_formats()) {
    for (const Content content : {Content::natural, Content::noise, Content::ramp}) {
      Image in({format, 320, 180});
      test::fill(in.view(), content, 5);
      ClaheParams params = with_tiles(1, 1);
      params.curve.strength = 0.8;
      const Image out = filtered(params, in.view());
      Image expected(in.desc());
      const auto equalize = make_cpu_filter(params.curve, {1});
      equalize->configure(in.desc());
      FrameContext context;
      equalize->submit(in.view(), expected.view(), context);
      EXPECT_LE(test::max_difference(expected.view(), out.view()), 1);
      EXPECT_LT(static_cast<double>(test::count_differences(expected.view(), out.view())),
                0.03 * static_cast<double>(tight_bytes(in.desc())));
    }
  }
}

TEST(Clahe, StrengthZeroLeavesTheFrame) {
  ClaheParams params;
  params.curve.strength = 0;
  for (const PixelFormat format : test::byte_formats()) {
    for (const Content content : test::all_contents()) {
      Image in({format, 203, 77});
      test::fill(in.view(), content, 9);
      EXPECT_EQ(test::count_differences(in.view(), filtered(params, in.view()).view()), 0U)
          << test::describe(params, in.desc(), content);
    }
  }
}

/// A frame of one level beside others of another histogram: what is equal in changes by a level at
/// most from pixel to pixel, also where tiles meet.
TEST(Clahe, TilesShowNoSeams) {
  Image in({PixelFormat::gray8, 1024, 768});
  for (int y = 0; y < 768; ++y) {
    for (int x = 0; x < 1024; ++x) {
      // Rows of the level 100 between rows that differ from tile to tile.
      const int other = (x / 128 * 37 + y / 96 * 61) % 200 + (x * 7 + y * 3) % 30;
      in.view().row(0, y)[x] = static_cast<std::uint8_t>(y % 4 == 0 ? 100 : other);
    }
  }
  for (const double clip : {0.0, 2.0, 8.0}) {
    ClaheParams params;
    params.curve.clip_limit = clip;
    const Image out = filtered(params, in.view());
    int most = 0;
    int range[2] = {255, 0};
    for (int y = 0; y < 768; y += 4) {
      const std::uint8_t* row = out.view().row(0, y);
      for (int x = 0; x < 1024; ++x) {
        if (x > 0) most = std::max(most, std::abs(row[x] - row[x - 1]));
        range[0] = std::min<int>(range[0], row[x]);
        range[1] = std::max<int>(range[1], row[x]);
      }
    }
    EXPECT_LE(most, clip == 2 ? 1 : 2) << "clip limit " << clip;
    EXPECT_GT(range[1] - range[0], 10) << "the tiles' curves hardly differ";
  }
}

/// Brighter in is never darker out at the same place, and the gray of every mix is exact.
TEST(Clahe, EveryMixRoundsGrayExactly) {
  for (std::int32_t v = 1; v <= 255; ++v) {
    const float inverse = tiles::gain_inverse(v);
    for (std::int32_t mixed = v % 37; mixed <= 255 << 14; mixed += 37) {
      const std::int32_t numerator = 2 * mixed + 1;
      const std::int32_t rounded = (numerator + (1 << 14)) >> 15;
      ASSERT_EQ(tiles::round_product(v, tiles::gain_of(numerator, inverse)), rounded)
          << "v " << v << " mixed " << mixed;
    }
  }
}

ClaheParams calm() {
  ClaheParams params = with_tiles(4, 3);
  params.curve.temporal_ms = 1000;
  params.curve.brighten_ms = 400;
  params.curve.max_gain = 6;
  return params;
}

TEST(ClaheOverTime, GoesOnFromSavedState) {
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::nv12})
    test::expect_goes_on_from_saved_state(calm(), {format, 160, 90});
}

/// Something small enters one corner: the opposite one keeps its curve to the bit.
TEST(ClaheOverTime, TilesRememberForThemselves) {
  const ImageDesc desc{PixelFormat::gray8, 256, 192};
  const auto mean = [&](bool enters) {
    const auto filter = make_cpu_filter(calm(), {1});
    filter->configure(desc);
    Image in(desc);
    Image out(desc);
    for (int i = 0; i < 20; ++i) {
      test::fill(in.view(), Content::natural, 4);
      for (int y = 0; enters && i > 10 && y < 40; ++y)
        std::fill_n(in.view().row(0, y), 40, std::uint8_t{230});
      FrameContext context = test::moving_context(i);
      filter->submit(in.view(), out.view(), context);
    }
    return out;
  };
  const Image without = mean(false);
  const Image with = mean(true);
  for (int y = 100; y < 192; ++y) {
    for (int x = 140; x < 256; ++x)
      ASSERT_EQ(with.view().row(0, y)[x], without.view().row(0, y)[x]) << x << " " << y;
  }
  EXPECT_GT(test::count_differences(with.view(), without.view()), 40U * 40U);
}

std::string usage_error(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(ClaheStates, OfOtherTilesAreRefused) {
  const ImageDesc desc{PixelFormat::gray8, 64, 64};
  const auto filter = make_cpu_filter(calm(), {1});
  filter->configure(desc);
  Image image(desc);
  test::fill(image.view(), Content::natural);
  FrameContext context;
  filter->submit(image.view(), image.view(), context);
  ClaheParams other = calm();
  other.tiles_x = 5;
  const auto another = make_cpu_filter(other, {1});
  another->configure(desc);
  EXPECT_THAT(usage_error([&] { another->load(filter->save()); }), HasSubstr("must be 5,3"));
  EXPECT_THAT(usage_error([&] { filter->load("{"); }), HasSubstr("cannot be read"));
  EXPECT_THAT(usage_error([&] { filter->load("{}"); }), HasSubstr("cannot be read"));
  EXPECT_EQ(make_cpu_filter(ClaheParams{}, {1})->save(), "{}");
}

TEST(ClaheOptions, AreReadAndChecked) {
  ClaheParams params;
  set_option(params, "tiles", "4,6");
  EXPECT_EQ(params.tiles_x, 4);
  EXPECT_EQ(params.tiles_y, 6);
  set_option(params, "tiles", "5");
  EXPECT_EQ(params.tiles_x, 5);
  EXPECT_EQ(params.tiles_y, 5);
  set_option(params, "clip-limit", "3.5");
  EXPECT_EQ(params.curve.clip_limit, 3.5);
  EXPECT_THAT(violations(params, Backend::cpu), IsEmpty());
  for (const char* value : {"", "8,", "8,8,8", "x", "8;8"})
    EXPECT_THAT(usage_error([&] { set_option(params, "tiles", value); }), HasSubstr("1 to 16"));
  EXPECT_THAT(usage_error([&] { set_option(params, "bins", "9"); }), HasSubstr("no key 'bins'"));
  EXPECT_THAT(violations(with_tiles(0, 17), Backend::cpu), ElementsAre(HasSubstr("tiles is 0,17")));
  const ImageDesc small{PixelFormat::i420, 9, 6};
  EXPECT_THAT(violations(with_tiles(5, 3), Backend::cpu, &small), IsEmpty());
  EXPECT_THAT(violations(with_tiles(6, 3), Backend::cpu, &small),
              ElementsAre(HasSubstr("must be at most 5,3")));
  const ImageDesc floats{PixelFormat::grayf32, 64, 64};
  EXPECT_THAT(violations(ClaheParams{}, Backend::cpu, &floats), ElementsAre(HasSubstr("grayf32")));
  params.curve.bins = 64;
  params.curve.chain = Chain::staged;
  params.curve.clip_limit = 0;
  EXPECT_THAT(violations(params, Backend::cpu),
              ElementsAre(HasSubstr("bins is 64"), HasSubstr("chain is staged")));
}

/// The curve's parameters that tiles have no use for.
TEST(ClaheOptions, WhatTilesDoNotHaveIsRefusedByBothBackends) {
  std::array<ClaheParams, 4> wrong;
  wrong[0].curve.space = Space::luma;
  wrong[1].curve.region = "0,0,8,8";
  wrong[2].curve.surround = Surround::ignore;
  wrong[3].curve = EqualizeParams{};
  wrong[3].curve.curve.emplace();
  wrong[3].curve.curve->levels.resize(256, ToneCurve::kUnit);
  const std::array<const char*, 4> says{"space is luma, must be value for clahe",
                                        "region is set, must be empty for clahe",
                                        "surround is ignore, must be keep for clahe",
                                        "curve-from is set, must be left out for clahe"};
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    const ClaheParams& params = wrong.at(i);
    EXPECT_THAT(usage_error([&] { validate(params, Backend::cpu); }), HasSubstr(says.at(i)));
    EXPECT_THAT(usage_error([&] { validate(params, Backend::cuda); }), HasSubstr(says.at(i)));
    EXPECT_THAT(usage_error([&] { (void)make_cpu_filter(params); }), HasSubstr(says.at(i)));
    EXPECT_THAT(usage_error([&] { (void)make_cuda_filter(params); }), HasSubstr(says.at(i)));
  }
}

}  // namespace
}  // namespace equalux
