// Curves with limits and over time on frames of more than 8 bits.
#include <random>
#include <string>
#include <tuple>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/cpu/equalize/curve_maker.h"
#include "src/equalize/deep_curve.h"
#include "tests/equalize/deep/deep_reference.h"
#include "tests/equalize/wide.h"
#include "tests/support/filter_changes.h"
#include "tests/support/media/moving_frames.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using test::Wide;

EqualizeParams limited() {
  EqualizeParams params;
  params.strength = 0.8;
  params.clip_limit = 2.5;
  params.floor = 1;
  params.ceiling = 99;
  params.max_gain = 5;
  params.min_gain = 0.7;
  return params;
}

EqualizeParams limited_over_time() {
  EqualizeParams params = limited();
  params.temporal_ms = 500;
  params.darken_ms = 900;
  return params;
}

std::vector<ImageDesc> all_forms(int width, int height) {
  std::vector<ImageDesc> descs;
  for (const PixelFormat format : test::deep_formats()) {
    for (const ColorRange range : {ColorRange::limited, ColorRange::full})
      descs.push_back({format, width, height, ColorMatrix::bt709, range});
  }
  return descs;
}

/// One filter, its input and its output.
struct DeepStream {
  DeepStream(const EqualizeParams& params, const ImageDesc& desc)
      : filter(make_cpu_filter(params, {1})), in(desc), out(desc) {
    filter->configure(desc);
  }
  void step(int number) {
    FrameContext context = test::moving_context(number);
    filter->submit(in.view(), out.view(), context);
  }
  void step_moving(int number) {
    test::fill_moving(in.view(), number);
    step(number);
  }

  std::unique_ptr<Filter> filter;
  Image in;
  Image out;
};

/// W of every v from the definition: the 8-bit curve of the cells, on straight lines between the
/// places i M / Mc, from 0 at black.
std::vector<std::int64_t> wanted_curve(const std::vector<std::int64_t>& counts, int depth,
                                       CurveMaker& maker, const tone::Frame& frame) {
  const Wide m = static_cast<Wide>(counts.size()) - 1;
  const Wide cells = (m >> (depth - 8));
  ValueHistogram coarse{};
  for (std::size_t v = 0; v < counts.size(); ++v)
    coarse[v >> (depth - 8)] += static_cast<std::uint32_t>(counts[v]);
  CurveTable points = maker.make(coarse, frame);
  points[0] = 0;
  std::vector<std::int64_t> curve(counts.size());
  for (std::size_t at = 0; at < counts.size(); ++at) {
    // Between two points, over the common denominator: x is v Mc, the points stand at multiples
    // of M.
    const Wide x = static_cast<Wide>(at) * cells;
    auto i = static_cast<std::size_t>(x / m);
    if (i == static_cast<std::size_t>(cells)) --i;
    const Wide low = points[i];
    const Wide high = points[i + 1];
    const Wide height = low * m + (high - low) * (x - static_cast<Wide>(i) * m);
    const Wide whole = cells << (tone::kCurveBits - 14);
    curve[at] = static_cast<std::int64_t>((2 * height + whole) / (2 * whole));
  }
  return curve;
}

TEST(DeepCurves, EveryByteEqualsTheDefinition) {
  EqualizeParams few_bins = limited();
  few_bins.bins = 40;
  few_bins.scaler = Scaler::min_max_nonzero;
  few_bins.clip_limit = 0;
  few_bins.max_gain = 0;
  for (const EqualizeParams& params : {limited(), few_bins, limited_over_time()}) {
    for (const ImageDesc& desc : all_forms(93, 27)) {
      SCOPED_TRACE(std::string(to_string(desc.format)) + " " + std::string(to_string(desc.range)));
      DeepStream stream(params, desc);
      const DeepSamples form = deep_samples(desc);
      CurveMaker maker;
      maker.configure(form.weights.luma_max >> (form.depth - 8));
      maker.set_bins(params.bins == 0 ? 256 : params.bins);
      tone::Control control(params);
      Image expected(desc);
      // Ends with a cut.
      for (int number = 36; number < 42; ++number) {
        stream.step_moving(number);
        const tone::Frame frame = control.next(test::moving_context(number));
        test::reference_scale_deep(
            [&](const std::vector<std::int64_t>& counts) {
              return wanted_curve(counts, form.depth, maker, frame);
            },
            stream.in.view(), expected.view());
        ASSERT_EQ(test::count_differences(expected.view(), stream.out.view()), 0U) << number;
      }
    }
  }
}

TEST(DeepCurves, IdentityStaysTheIdentity) {
  for (const ImageDesc& desc : all_forms(1, 1)) {
    const DeepSamples form = deep_samples(desc);
    std::uint32_t coarse[256];
    for (std::uint32_t v = 0; v < 256; ++v)
      coarse[v] = tone::unchanged(v);
    for (std::uint32_t v = 0; v <= static_cast<std::uint32_t>(form.weights.luma_max); ++v)
      ASSERT_EQ(deep_level_between(form, coarse, v), v << kDeepCurveBits) << v;
  }
  EqualizeParams none;
  none.strength = 0;
  for (const ImageDesc& desc : all_forms(61, 17)) {
    DeepStream stream(none, desc);
    test::fill(stream.in.view(), test::Content::noise, 4);
    stream.step(0);
    EXPECT_EQ(test::count_differences(stream.in.view(), stream.out.view()), 0U)
        << to_string(desc.format);
  }
}

TEST(DeepCurves, LinesBetweenLevelsRiseToTheCurvesEnd) {
  std::mt19937 random(5);
  for (const ImageDesc& desc : all_forms(1, 1)) {
    const DeepSamples form = deep_samples(desc);
    const std::uint32_t last = coarse_max(form);
    const auto most = static_cast<std::uint32_t>(form.weights.luma_max);
    std::uint32_t coarse[256];
    for (std::uint32_t& level : coarse)
      level = static_cast<std::uint32_t>(random() % (tone::unchanged(last) + 1));
    std::sort(std::begin(coarse), std::end(coarse));
    EXPECT_EQ(deep_level_between(form, coarse, 0), 0U);
    std::uint32_t before = 0;
    for (std::uint32_t v = 0; v <= most; ++v) {
      const std::uint32_t level = deep_level_between(form, coarse, v);
      ASSERT_GE(level, before) << to_string(desc.format) << " at " << v;
      before = level;
    }
    EXPECT_NEAR(before / 16384.0 / most, coarse[last] / 4194304.0 / last, 1e-6);
    coarse[last] = tone::unchanged(last);
    EXPECT_EQ(deep_level_between(form, coarse, most), most << kDeepCurveBits);
  }
}

TEST(DeepCurves, CoarseLevelsAreThoseOfEightBits) {
  for (const ImageDesc& desc : all_forms(1, 1)) {
    const DeepSamples form = deep_samples(desc);
    const auto most = static_cast<std::uint32_t>(form.weights.luma_max);
    EXPECT_EQ(coarse_max(form), most % 219 == 0 ? 219U : 255U);
    EXPECT_EQ(coarse_level(form, 0), 0U);
    EXPECT_EQ(coarse_level(form, most), coarse_max(form));
    const std::uint32_t codes_of_level = 1U << (form.depth - 8);
    for (std::uint32_t v = 1; v <= most; ++v) {
      const std::uint32_t rise = v % codes_of_level == 0 ? 1 : 0;
      ASSERT_EQ(coarse_level(form, v), coarse_level(form, v - 1) + rise) << v;
    }
  }
}

/// Writes each sample of an 8-bit picture, times `factor` in units of the unused bits, to a deep
/// one.
void widen(const ConstImageView& from, const ImageView& to, int factor) {
  const int shift = traits(to.desc.format).shift;
  for (int p = 0; p < traits(from.desc.format).planes; ++p) {
    for (int y = 0; y < plane_rows(from.desc, p); ++y) {
      for (std::size_t x = 0; x < row_bytes(from.desc, p); ++x) {
        const int word = (from.row(p, y)[x] * factor) << shift;
        to.row(p, y)[2 * x] = static_cast<std::uint8_t>(word & 255);
        to.row(p, y)[2 * x + 1] = static_cast<std::uint8_t>(word >> 8);
      }
    }
  }
}

/// Largest difference of deep samples from 8-bit ones times `factor`.
int furthest(const ConstImageView& from, const ConstImageView& deep, int factor) {
  const int shift = traits(deep.desc.format).shift;
  int most = 0;
  for (int p = 0; p < traits(from.desc.format).planes; ++p) {
    for (int y = 0; y < plane_rows(from.desc, p); ++y) {
      for (std::size_t x = 0; x < row_bytes(from.desc, p); ++x) {
        const std::uint8_t* word = deep.row(p, y) + 2 * x;
        const int code = (word[0] + 256 * word[1]) >> shift;
        most = std::max(most, std::abs(code - from.row(p, y)[x] * factor));
      }
    }
  }
  return most;
}

/// A stream of 8 bits and the same with more look the same: apart by what 8 bits round off.
TEST(DeepCurves, SameNumbersLookTheSameAtEveryDepth) {
  const std::vector<std::tuple<PixelFormat, PixelFormat, int>> pairs{
      {PixelFormat::i420, PixelFormat::i420_10le, 4},
      {PixelFormat::nv12, PixelFormat::p010_10le, 4},
      {PixelFormat::i420, PixelFormat::i420_12le, 16},
      {PixelFormat::gray8, PixelFormat::gray16_le, 257},
      {PixelFormat::rgb, PixelFormat::rgb48_le, 257}};
  for (const auto& [shallow, deep, factor] : pairs) {
    SCOPED_TRACE(to_string(deep));
    DeepStream eight(limited_over_time(), {shallow, 121, 67});
    DeepStream more(limited_over_time(), {deep, 121, 67});
    for (int number = 30; number < 90; ++number) {
      test::fill_moving(eight.in.view(), number);
      if (traits(shallow).model == ColorModel::yuv) {
        // Without colour V is luma at both depths; with it V is rounded in units of each.
        for (int p = 1; p < traits(shallow).planes; ++p) {
          for (int y = 0; y < plane_rows(eight.in.view().desc, p); ++y)
            std::fill_n(eight.in.view().row(p, y), row_bytes(eight.in.view().desc, p), 128);
        }
      }
      widen(eight.in.view(), more.in.view(), factor);
      eight.step(number);
      more.step(number);
      ASSERT_LE(furthest(eight.out.view(), more.out.view(), factor), factor / 2 + 1) << number;
    }
    // What both know of the stream is the same to the bit, so a state fits every depth.
    EXPECT_EQ(eight.filter->save(), more.filter->save());
  }
}

/// Noise below the first level of 8 bits is not blown up by black pixels that lie there too.
TEST(DeepCurves, NearlyBlackStaysNearlyBlack) {
  const ImageDesc desc{PixelFormat::gray16_le, 64, 64};
  DeepStream stream(limited(), desc);
  test::fill(stream.in.view(), test::Content::natural, 2);
  for (int y = 0; y < 40; ++y) {
    for (int x = 0; x < desc.width; ++x) {
      stream.in.view().row(0, y)[2 * x] = static_cast<std::uint8_t>(x % 3);
      stream.in.view().row(0, y)[2 * x + 1] = 0;
    }
  }
  stream.step(0);
  for (int x = 0; x < desc.width; ++x) {
    const std::uint8_t* word = stream.out.view().row(0, 0) + 2 * x;
    EXPECT_LE(word[0] + 256 * word[1], x % 3 * 5);
  }
}

TEST(DeepCurves, ARestoredFilterGoesOnAsIfNothingHadHappened) {
  for (const PixelFormat format : {PixelFormat::p010_10le, PixelFormat::rgba64_le}) {
    const ImageDesc desc{format, 81, 45};
    DeepStream whole(limited_over_time(), desc);
    DeepStream first(limited_over_time(), desc);
    for (int number = 0; number < 25; ++number) {
      whole.step_moving(number);
      first.step_moving(number);
    }
    DeepStream second(limited_over_time(), desc);
    second.filter->load(first.filter->save());
    DeepStream fresh(limited_over_time(), desc);
    bool differs = false;
    for (int number = 25; number < 39; ++number) {
      whole.step_moving(number);
      second.step_moving(number);
      fresh.step_moving(number);
      ASSERT_EQ(test::count_differences(whole.out.view(), second.out.view()), 0U) << number;
      differs = differs || test::count_differences(whole.out.view(), fresh.out.view()) != 0;
    }
    EXPECT_TRUE(differs) << "the state makes no difference";
    second.filter->reset();
    DeepStream restarted(limited_over_time(), desc);
    second.step_moving(3);
    restarted.step_moving(3);
    EXPECT_EQ(test::count_differences(restarted.out.view(), second.out.view()), 0U);
  }
}

TEST(DeepCurves, UpdatesAreEasedInOverTime) {
  const ImageDesc desc{PixelFormat::i420_10le, 81, 45};
  DeepStream kept(limited_over_time(), desc);
  DeepStream updated(limited_over_time(), desc);
  EqualizeParams weak = limited_over_time();
  weak.strength = 0;
  test::fill(kept.in.view(), test::Content::natural, 1);
  test::fill(updated.in.view(), test::Content::natural, 1);
  for (int number = 0; number < 5; ++number) {
    kept.step(number);
    updated.step(number);
  }
  EXPECT_TRUE(retune(*updated.filter, weak));
  updated.step(5);
  EXPECT_NE(test::count_differences(updated.in.view(), updated.out.view()), 0U);
  EXPECT_NE(test::count_differences(kept.out.view(), updated.out.view()), 0U);
  for (int number = 6; number < 80; ++number)
    updated.step(number);
  EXPECT_EQ(test::count_differences(updated.in.view(), updated.out.view()), 0U);
  // Plain from here on, with other bins.
  EqualizeParams plain;
  plain.bins = 77;
  EXPECT_TRUE(retune(*updated.filter, plain));
  updated.step(80);
  Image expected(desc);
  test::reference_equalize_deep(plain, updated.in.view(), expected.view());
  EXPECT_EQ(test::count_differences(expected.view(), updated.out.view()), 0U);
  EXPECT_EQ(updated.filter->save(), "{}");
}

TEST(DeepCurves, AStateOfOtherLevelsIsRefused) {
  DeepStream limited_range(limited_over_time(), {PixelFormat::p010_10le, 32, 32});
  DeepStream gray(limited_over_time(), {PixelFormat::gray16_le, 32, 32});
  limited_range.step_moving(0);
  try {
    gray.filter->load(limited_range.filter->save());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), testing::HasSubstr("220 levels, must be 256"));
  }
}

}  // namespace
}  // namespace equalux
