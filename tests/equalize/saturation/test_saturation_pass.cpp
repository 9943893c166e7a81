// Saturation behind curves of luma and lightness: what the filter gives without it, and then its
// definition in rationals over the values that are there.
#include <cmath>
#include <string>
#include <vector>

#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/cpu/equalize/deep/deep_chain.h"
#include "src/cpu/equalize/fused/fused_chain.h"
#include "src/cpu/equalize/saturation_pass.h"
#include "src/cpu/equalize/space/lightness_chain.h"
#include "src/equalize/space.h"
#include "tests/equalize/saturation/saturated_params.h"
#include "tests/equalize/saturation/saturated_streams.h"
#include "tests/equalize/saturation/saturation_definition.h"
#include "tests/support/calm_params.h"
#include "tests/support/filter_changes.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using test::colour_forms;
using test::Content;
using test::FrameCodes;
using test::Wide;

/// Frames of colour that curves of a space are for.
std::vector<ImageDesc> forms_of(Space space, int width, int height) {
  std::vector<ImageDesc> descs;
  for (const ImageDesc& desc : colour_forms(width, height))
    if (space_takes(space, desc.format)) descs.push_back(desc);
  return descs;
}

/// Levels from black to white of a curve over frames of `desc`, less 1.
Wide last_level(const ImageDesc& desc) {
  const bool limited =
      traits(desc.format).model == ColorModel::yuv && desc.range == ColorRange::limited;
  return limited ? 219 : 255;
}

/// What counts as a level of each value of a result: lightness of gray, by CIE's formula.
std::vector<Wide> levels_of_results(Space space, Wide last) {
  std::vector<Wide> levels;
  for (Wide v = 0; v <= last; ++v) {
    if (space != Space::lightness) {
      levels.push_back(v);
      continue;
    }
    const double code = static_cast<double>(v) / 255;
    const double linear = code <= 0.04045 ? code / 12.92 : std::pow((code + 0.055) / 1.055, 2.4);
    const double light = std::round(linear * 65535) / 65535;
    const double lightness =
        light <= 216.0 / 24389 ? light * 24389 / 27 : 116 * std::cbrt(light) - 16;
    levels.push_back(static_cast<Wide>(std::lround(lightness * 255 / 100)));
  }
  return levels;
}

/// One frame by the filter without saturation, and then by the definition.
Image defined(const EqualizeParams& params, const ConstImageView& in, bool interlaced = false) {
  EqualizeParams without = params;
  without.saturation = 1;
  without.saturation_max = EqualizeParams{}.saturation_max;
  const auto filter = make_cpu_filter(without, {1});
  EXPECT_TRUE(test::collect_curves(*filter));
  filter->configure(in.desc);
  Image plain(in.desc);
  copy_image(in, plain.view());  // half of a last pair stays
  FrameContext context;
  if (interlaced) context.field_order = FieldOrder::top_first;
  filter->submit(in, plain.view(), context);
  const Wide last = last_level(in.desc);
  const std::vector<Wide> factors = test::factors_of_results(
      params, test::curve_sum(*filter).value().levels, last, levels_of_results(params.space, last));
  Image expected(in.desc);
  copy_image(plain.view(), expected.view());
  test::SaturationDefinition(in.desc, interlaced, test::kept_values(in.desc, factors))
      .write(FrameCodes{plain.view()}, expected.view());
  return expected;
}

/// Curves that differ from the plain one also where nothing else than saturation is asked for, so
/// that the filter without it makes the same.
EqualizeParams shaped_in(Space space, double saturation, bool steep) {
  EqualizeParams params = test::shaped(saturation, steep);
  params.space = space;
  return params;
}

TEST(SaturationPass, EveryByteEqualsTheDefinition) {
  test::EveryNth third(3);
  for (const Space space : {Space::luma, Space::lightness}) {
    for (const ImageDesc& desc : forms_of(space, 61, 23)) {
      for (const double k : {0.0, 0.37109375, 1.5, 4.0, kAutoSaturation}) {
        for (const bool steep : {false, true}) {
          for (const Content content : {Content::natural, Content::noise}) {
            if (third.skips()) continue;
            SCOPED_TRACE(std::string(enum_name(space)) + " of " + test::describe(desc, content) +
                         " times " + std::to_string(k) + (steep ? ", steep" : ""));
            const EqualizeParams params = shaped_in(space, k, steep);
            Image in(desc);
            test::fill(in.view(), content, 11);
            const Image expected = defined(params, in.view());
            test::PaddedImage out(desc, 37, true, 1);
            copy_image(in.view(), out.view());
            const auto filter = make_cpu_filter(params, {2});
            filter->configure(desc);
            FrameContext context;
            filter->submit(in.view(), out.view(), context);
            ASSERT_EQ(test::count_differences(expected.view(), out.view()), 0U);
            ASSERT_TRUE(out.padding_intact());
            const auto alone = make_cpu_filter(params, {1});
            alone->configure(desc);
            alone->submit(in.view(), in.view(), context);
            ASSERT_EQ(test::count_differences(expected.view(), in.view()), 0U) << "in place";
          }
        }
      }
    }
  }
}

TEST(SaturationPass, EverySizeAndField) {
  for (const Space space : {Space::luma, Space::lightness}) {
    for (const auto& [width, height] : {std::pair{1, 1}, {3, 2}, {2, 5}, {130, 7}, {40, 27}}) {
      for (const ImageDesc& desc : forms_of(space, width, height)) {
        for (const bool interlaced : {false, true}) {
          SCOPED_TRACE(std::string(enum_name(space)) + " of " +
                       test::describe(desc, Content::noise) + (interlaced ? ", interlaced" : ""));
          const EqualizeParams params = shaped_in(space, 2, true);
          Image in(desc);
          test::fill(in.view(), Content::noise, 3);
          const Image expected = defined(params, in.view(), interlaced);
          Image out(desc);
          copy_image(in.view(), out.view());
          const auto filter = make_cpu_filter(params, {1});
          filter->configure(desc);
          FrameContext context;
          if (interlaced) context.field_order = FieldOrder::top_first;
          filter->submit(in.view(), out.view(), context);
          ASSERT_EQ(test::count_differences(expected.view(), out.view()), 0U);
        }
      }
    }
  }
}

/// Frames that are written past the caches, by every target's loops.
TEST(SaturationPass, EveryTargetWritesTheSame) {
  RowExecutor one(1);
  const EqualizeParams luma = shaped_in(Space::luma, kAutoSaturation, true);
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::nv12, PixelFormat::y42b}) {
    test::expect_targets_alike(
        luma, {format, 1030, 1040}, all_fused_rows(),
        [&](const FusedRows& loops) { return FusedChain(luma, one, loops); });
  }
  test::expect_targets_alike(luma, {PixelFormat::p010_10le, 303, 41}, all_deep_rows(),
                             [&](const DeepRows& loops) { return DeepChain(luma, one, loops); });
  const EqualizeParams lightness = shaped_in(Space::lightness, kAutoSaturation, true);
  test::expect_targets_alike(lightness, {PixelFormat::bgr, 700, 600}, all_fused_rows(),
                             [&](const FusedRows& loops) {
                               return LightnessChain(lightness, one, loops, scalar_hue_rows());
                             });
}

/// Without the option rows are those without the pass, and k = 1 leaves every code where it is.
TEST(SaturationPass, OneChangesNothing) {
  for (const ImageDesc& desc : colour_forms(53, 2)) {
    if (has_deep_samples(desc.format)) continue;
    SaturationPass pass(fused_rows());
    pass.configure(desc);
    pass.set({});
    EXPECT_FALSE(pass.active());
    pass.set({300, 256});
    EXPECT_TRUE(pass.active());
    pass.set({});
    EXPECT_FALSE(pass.active());
  }
  SaturationPass gray(fused_rows());
  gray.configure({PixelFormat::gray8, 8, 8});
  gray.set({300, 256});
  EXPECT_FALSE(gray.active());
}

/// auto follows the curve: gray of a veil's straight line gets what `factor_at` says of the level
/// that it came from, and more where the level was between two.
TEST(SaturationPass, FactorsByResultAreThoseOfTheLevelsBefore) {
  CurveTable curve{};
  for (std::uint32_t v = 0; v < 256; ++v)
    curve[v] = v < 100 ? 0 : (std::min(2 * (v - 100), 255U) << tone::kCurveBits);
  const saturation::Rule rule{256, 1024};
  for (std::uint32_t v = 100; v <= 220; ++v) {
    EXPECT_EQ(saturation::factor_of_result(rule, curve.data(), 2 * (v - 100), 255),
              v == 100 ? 256 : saturation::factor_at(rule, curve.data(), v, 255))
        << v;
  }
  const std::uint32_t between = saturation::factor_of_result(rule, curve.data(), 101, 255);
  const std::uint32_t below = saturation::factor_at(rule, curve.data(), 151, 255);
  const std::uint32_t above = saturation::factor_at(rule, curve.data(), 150, 255);
  EXPECT_EQ(between, (below + above + 1) / 2);
}

TEST(SaturationPass, ChangesAreEasedInAndResumed) {
  for (const Space space : {Space::luma, Space::lightness}) {
    EqualizeParams calm = test::calm_params();
    calm.space = space;
    EqualizeParams strong = calm;
    strong.saturation = 3;
    test::expect_eased_in_and_resumed(calm, strong, test::values_of(strong),
                                      {PixelFormat::bgr, 64, 40});
  }
}

}  // namespace
}  // namespace equalux
