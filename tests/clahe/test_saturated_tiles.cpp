// Saturation behind tiles: what clahe gives without it, and then its definition in rationals over
// the values that are there.
#include <string>
#include <vector>

#include <equalux/clahe.h>
#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/common/filter_recipe.h"
#include "src/common/log.h"
#include "src/cpu/clahe/clahe_chain.h"
#include "src/cpu/clahe/deep_clahe_chain.h"
#include "tests/equalize/saturation/saturated_params.h"
#include "tests/equalize/saturation/saturated_streams.h"
#include "tests/equalize/saturation/saturation_definition.h"
#include "tests/support/filter_changes.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using test::Content;
using test::Wide;

ClaheParams coloured(double saturation, double clip_limit = 2) {
  ClaheParams params;
  params.tiles_x = 4;
  params.tiles_y = 3;
  params.curve.clip_limit = clip_limit;
  params.curve.saturation = saturation;
  if (saturation == kAutoSaturation) params.curve.saturation_max = 3;
  return params;
}

/// One of the tiles of a frame, all of which are alike in size.
ConstImageView tile_of(const ConstImageView& frame, const ClaheParams& params, int column,
                       int row) {
  ConstImageView tile = frame;
  tile.desc.width /= params.tiles_x;
  tile.desc.height /= params.tiles_y;
  for (std::size_t p = 0; p < static_cast<std::size_t>(traits(frame.desc.format).planes); ++p) {
    const auto plane = static_cast<int>(p);
    const auto bytes = static_cast<std::ptrdiff_t>(row_bytes(tile.desc, plane));
    tile.data[p] += bytes * column + frame.stride[p] * plane_rows(tile.desc, plane) * row;
  }
  return tile;
}

/// What counts for the curves, as luma of 8 bits without colour: v, or the coarse level that it
/// lies in.
Image counted_levels(const ConstImageView& in) {
  const FormatTraits& t = traits(in.desc.format);
  const bool limited = t.model == ColorModel::yuv && in.desc.range == ColorRange::limited;
  Image levels({PixelFormat::y444, in.desc.width, in.desc.height, ColorMatrix::bt601,
                limited ? ColorRange::limited : ColorRange::full});
  const test::SaturationDefinition definition(in.desc, false, {});
  const test::FrameCodes codes{in};
  for (int y = 0; y < in.desc.height; ++y) {
    for (int x = 0; x < in.desc.width; ++x) {
      const Wide v = definition.extremes(codes, x, y).counted;
      test::put(levels.view(), 0, x, y, (v >> (t.depth - 8)) + (limited ? 16 : 0));
      test::put(levels.view(), 1, x, y, 128);
      test::put(levels.view(), 2, x, y, 128);
    }
  }
  return levels;
}

/// The mean of the curves that tiles have, each of which `equalize` makes of its part alone.
std::vector<Wide> mean_curve(const ClaheParams& params, const ConstImageView& frame) {
  const Image levels = counted_levels(frame);
  const ConstImageView in = levels.view();
  std::vector<Wide> sums;
  for (int row = 0; row < params.tiles_y; ++row) {
    for (int column = 0; column < params.tiles_x; ++column) {
      const ConstImageView tile = tile_of(in, params, column, row);
      EqualizeParams curve = params.curve;
      curve.saturation = 1;
      curve.saturation_max = EqualizeParams{}.saturation_max;
      const auto filter = make_cpu_filter(curve, {1});
      EXPECT_TRUE(test::collect_curves(*filter));
      filter->configure(tile.desc);
      Image out(tile.desc);
      FrameContext context;
      filter->submit(tile, out.view(), context);
      const std::vector<std::uint64_t> levels = test::curve_sum(*filter).value().levels;
      sums.resize(levels.size(), 0);
      for (std::size_t v = 0; v < levels.size(); ++v)
        sums[v] += levels[v];
    }
  }
  const Wide tiles = params.tiles_x * params.tiles_y;
  for (Wide& sum : sums)
    sum = test::floor_div(2 * sum + tiles, 2 * tiles);
  return sums;
}

Image without_colours(const ClaheParams& params, const ConstImageView& in, bool interlaced) {
  ClaheParams plain = params;
  plain.curve.saturation = 1;
  plain.curve.saturation_max = EqualizeParams{}.saturation_max;
  const auto filter = make_cpu_filter(plain, {1});
  filter->configure(in.desc);
  Image out(in.desc);
  copy_image(in, out.view());  // half of a last pair stays
  FrameContext context;
  if (interlaced) context.field_order = FieldOrder::top_first;
  filter->submit(in, out.view(), context);
  return out;
}

/// The pixels of a frame without saturation, by factors of their values.
Image defined(const ConstImageView& plain, const std::vector<Wide>& factors, bool interlaced) {
  Image expected(plain.desc);
  copy_image(plain, expected.view());
  test::SaturationDefinition(plain.desc, interlaced, test::kept_values(plain.desc, factors))
      .write(test::FrameCodes{plain}, expected.view());
  return expected;
}

void expect_defined(const ClaheParams& params, const ConstImageView& in, const Image& expected,
                    bool interlaced) {
  test::PaddedImage out(in.desc, 21, true, 3);
  copy_image(in, out.view());
  const auto filter = make_cpu_filter(params, {2});
  filter->configure(in.desc);
  FrameContext context;
  if (interlaced) context.field_order = FieldOrder::top_first;
  filter->submit(in, out.view(), context);
  ASSERT_EQ(test::count_differences(expected.view(), out.view()), 0U);
  ASSERT_TRUE(out.padding_intact());
  Image same(in.desc);
  copy_image(in, same.view());
  filter->submit(same.view(), same.view(), context);
  ASSERT_EQ(test::count_differences(expected.view(), same.view()), 0U) << "in place";
}

TEST(SaturatedTiles, EveryByteEqualsTheDefinition) {
  test::EveryNth third(3);
  for (const auto& [width, height] : {std::pair{61, 23}, {8, 6}, {131, 29}}) {
    for (const ImageDesc& desc : test::colour_forms(width, height)) {
      for (const double k : {0.0, 0.37109375, 1.5, 4.0}) {
        for (const bool interlaced : {false, true}) {
          if (third.skips()) continue;
          SCOPED_TRACE(test::describe(desc, Content::noise) + " times " + std::to_string(k) +
                       (interlaced ? ", interlaced" : ""));
          const Wide last =
              desc.range == ColorRange::limited && traits(desc.format).model == ColorModel::yuv
                  ? 219
                  : 255;
          const ClaheParams params = coloured(k);
          Image in(desc);
          test::fill(in.view(), interlaced ? Content::noise : Content::natural, 9);
          const Image plain = without_colours(params, in.view(), interlaced);
          const std::vector<Wide> factors(static_cast<std::size_t>(last) + 1,
                                          static_cast<Wide>(k * 256));
          expect_defined(params, in.view(), defined(plain.view(), factors, interlaced), interlaced);
        }
      }
    }
  }
}

/// auto follows the mean of the tiles' curves.
TEST(SaturatedTiles, AutoFollowsTheMeanOfTheCurves) {
  test::EveryNth fifth(5);
  for (const ImageDesc& desc : test::colour_forms(96, 72)) {
    for (const double clip_limit : {0.0, 2.0, 9.0}) {
      for (const Content content : {Content::natural, Content::noise}) {
        if (fifth.skips()) continue;
        SCOPED_TRACE(test::describe(desc, content) + " limit " + std::to_string(clip_limit));
        const ClaheParams params = coloured(kAutoSaturation, clip_limit);
        Image in(desc);
        test::fill(in.view(), content, 4);
        const std::vector<Wide> curve = mean_curve(params, in.view());
        std::vector<Wide> values;
        for (std::size_t v = 0; v < curve.size(); ++v)
          values.push_back(static_cast<Wide>(v));
        const std::vector<Wide> factors = test::factors_of_results(
            params.curve, curve, static_cast<Wide>(curve.size()) - 1, values);
        const Image plain = without_colours(params, in.view(), false);
        expect_defined(params, in.view(), defined(plain.view(), factors, false), false);
      }
    }
  }
}

/// Frames that are written past the caches, by every target's loops.
TEST(SaturatedTiles, EveryTargetWritesTheSame) {
  RowExecutor one(1);
  const ClaheParams params = coloured(kAutoSaturation);
  for (const PixelFormat format :
       {PixelFormat::bgr, PixelFormat::bgra, PixelFormat::nv12, PixelFormat::y42b}) {
    test::expect_targets_alike(
        params, {format, 1030, 1040}, all_fused_rows(),
        [&](const FusedRows& loops) { return ClaheChain(params, one, loops); });
  }
}

TEST(SaturatedTiles, EveryTargetWritesTheSameOfMoreBits) {
  RowExecutor one(1);
  const ClaheParams params = coloured(kAutoSaturation);
  for (const PixelFormat format : {PixelFormat::rgb48_le, PixelFormat::rgba64_le,
                                   PixelFormat::p010_10le, PixelFormat::y444_16le}) {
    const ImageDesc desc{format, 1030, 540};
    test::expect_targets_alike(params, desc, all_deep_rows(), [&](const DeepRows& colouring) {
      return DeepClaheChain(params, one, deep_tile_rows(), fused_rows(), colouring);
    });
    test::expect_targets_alike(params, desc, all_deep_tile_rows(), [&](const DeepTileRows& loops) {
      return DeepClaheChain(params, one, loops);
    });
  }
}

/// Without a past, frames are what a new filter makes of them, whatever came before.
TEST(SaturatedTiles, OtherNumbersAreTakenBetweenFrames) {
  for (const PixelFormat format : {PixelFormat::nv12, PixelFormat::bgr, PixelFormat::p010_10le,
                                   PixelFormat::bgr48_le, PixelFormat::y444_12le}) {
    SCOPED_TRACE(to_string(format));
    const ImageDesc desc{format, 64, 48};
    Image in(desc);
    test::fill(in.view(), Content::natural, 4);
    Image out(desc);
    FrameContext context;
    const auto filter = make_cpu_filter(coloured(1), {1});
    filter->configure(desc);
    for (const double k : {1.5, 0.5, kAutoSaturation, 0.5, 1.0, 0.5, kAutoSaturation}) {
      ASSERT_TRUE(retune(*filter, coloured(k)));
      filter->submit(in.view(), out.view(), context);
      Image expected(desc);
      const auto fresh = make_cpu_filter(coloured(k), {1});
      fresh->configure(desc);
      fresh->submit(in.view(), expected.view(), context);
      ASSERT_EQ(test::count_differences(expected.view(), out.view()), 0U) << "times " << k;
    }
  }
}

TEST(SaturatedTiles, ChangesAreEasedInAndResumed) {
  ClaheParams calm = coloured(1);
  calm.curve.temporal_ms = 800;
  ClaheParams strong = calm;
  strong.curve.saturation = kAutoSaturation;
  strong.curve.saturation_max = 4;
  for (const PixelFormat format :
       {PixelFormat::nv12, PixelFormat::p010_10le, PixelFormat::bgr48_le}) {
    SCOPED_TRACE(to_string(format));
    test::expect_eased_in_and_resumed(
        calm, strong,
        {{"tiles", "4,3"}, {"temporal-ms", "800"}, {"saturation", "auto"}, {"saturation-max", "4"}},
        {format, 64, 48});
  }
}

TEST(SaturatedTiles, GrayStaysAsItIs) {
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::gray16_le}) {
    const ImageDesc desc{format, 64, 48};
    Image in(desc);
    test::fill(in.view(), Content::natural, 4);
    const Image plain = without_colours(coloured(1), in.view(), false);
    expect_defined(coloured(3), in.view(), plain, false);
    expect_defined(coloured(kAutoSaturation), in.view(), plain, false);
  }
}

}  // namespace
}  // namespace equalux
