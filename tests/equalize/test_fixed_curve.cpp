// Tone curves that are kept: their mean, their file, and frames under them.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <equalux/curve.h>
#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/equalize/deep_curve.h"
#include "src/equalize/fixed_curve.h"
#include "tests/support/filter_changes.h"
#include "tests/support/media/moving_frames.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

__extension__ using Unsigned128 = unsigned __int128;

EqualizeParams bounded() {
  EqualizeParams params;
  params.strength = 0.75;
  params.clip_limit = 2;
  params.floor = 1;
  params.ceiling = 99;
  params.max_gain = 3;
  return params;
}

EqualizeParams bounded_over_time() {
  EqualizeParams params = bounded();
  params.temporal_ms = 400;
  return params;
}

EqualizeParams fixed(const ToneCurve& curve) {
  EqualizeParams params;
  params.space = curve.space;
  params.curve = curve;
  return params;
}

Image moving(const ImageDesc& desc, int number, std::uint32_t seed = 1) {
  Image image(desc);
  test::fill_moving(image.view(), number, seed);
  return image;
}

Image filtered(Filter& filter, const Image& in, int number = 0) {
  Image out(in.desc());
  FrameContext context = test::moving_context(number);
  filter.submit(in.view(), out.view(), context);
  return out;
}

Image filtered(const EqualizeParams& params, const Image& in) {
  const auto filter = make_cpu_filter(params, {2});
  filter->configure(in.desc());
  return filtered(*filter, in);
}

/// The sum over frames `first` to before `end` of a stream.
CurveSum collected(const EqualizeParams& params, const ImageDesc& desc, int first, int end,
                   std::uint32_t seed = 1) {
  const auto filter = make_cpu_filter(params, {2});
  EXPECT_TRUE(test::collect_curves(*filter));
  filter->configure(desc);
  for (int i = first; i < end; ++i)
    static_cast<void>(filtered(*filter, moving(desc, i, seed), i));
  return test::curve_sum(*filter).value();
}

/// round(255 cdf / N 2^22) of a gray frame, halves up, in wide integers.
std::vector<std::uint32_t> plain_curve(const ConstImageView& gray) {
  std::array<std::uint64_t, 256> counts{};
  for (int y = 0; y < gray.desc.height; ++y) {
    for (int x = 0; x < gray.desc.width; ++x)
      ++counts[gray.row(0, y)[x]];
  }
  const Unsigned128 pixels =
      static_cast<Unsigned128>(gray.desc.width) * static_cast<Unsigned128>(gray.desc.height);
  std::vector<std::uint32_t> curve;
  Unsigned128 sum = 0;
  for (const std::uint64_t count : counts) {
    sum += count;
    curve.push_back(static_cast<std::uint32_t>((((sum * 255) << 23) + pixels) / (2 * pixels)));
  }
  return curve;
}

TEST(FixedCurve, MeanIsEveryFramesCurveAddedUp) {
  const ImageDesc desc{PixelFormat::gray8, 61, 37};
  std::vector<std::uint64_t> sums(256);
  for (int i = 0; i < 11; ++i) {
    const std::vector<std::uint32_t> curve = plain_curve(moving(desc, i).view());
    for (std::size_t v = 0; v < 256; ++v)
      sums[v] += curve[v];
  }
  const CurveSum sum = collected({}, desc, 0, 11);
  EXPECT_EQ(sum.levels, sums);
  EXPECT_EQ(sum.form.frames, 11U);
  const ToneCurve mean = sum.mean();
  for (std::size_t v = 0; v < 256; ++v) {
    EXPECT_NEAR(mean.levels[v], static_cast<double>(sums[v]) / 11, 0.5) << v;
  }
}

// The plain mean is the curve of all frames' pixels together.
TEST(FixedCurve, MeanOfPlainCurvesEqualizesTheStudy) {
  const ImageDesc desc{PixelFormat::gray8, 64, 48};
  Image all({PixelFormat::gray8, 64, 48 * 5});
  for (int i = 0; i < 5; ++i) {
    const Image frame = moving(desc, i);
    for (int y = 0; y < 48; ++y)
      std::copy_n(frame.view().row(0, y), 64, all.view().row(0, 48 * i + y));
  }
  const std::vector<std::uint32_t> whole = plain_curve(all.view());
  const ToneCurve mean = collected({}, desc, 0, 5).mean();
  for (std::size_t v = 0; v < 256; ++v)
    EXPECT_NEAR(mean.levels[v], whole[v], 1) << v;
}

TEST(FixedCurve, LimitsHoldInTheMean) {
  EqualizeParams params = bounded();
  params.strength = 1;
  params.floor = 0;
  params.ceiling = 100;
  const ToneCurve mean = collected(params, {PixelFormat::bgr, 90, 70}, 0, 40).mean();
  const std::uint32_t unit = ToneCurve::kUnit;
  for (std::size_t v = 1; v < mean.levels.size(); ++v) {
    EXPECT_GE(mean.levels[v], mean.levels[v - 1]) << v;
    // What a curve has left over is given to all levels: less than a hundredth.
    EXPECT_LE(mean.levels[v] - mean.levels[v - 1], unit * 2 + unit / 40) << v;
    EXPECT_LE(mean.levels[v], v * unit * 3) << v;
  }
}

// A frame under its own curve is the frame as it was filtered: in every format, depth and space.
TEST(FixedCurve, AFrameUnderItsOwnCurveIsAsItWas) {
  for (int f = 0; f < kPixelFormatCount; ++f) {
    const auto format = static_cast<PixelFormat>(f);
    for (const Space space : {Space::value, Space::luma, Space::lightness}) {
      for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
        EqualizeParams params = bounded();
        params.space = space;
        if (!make_cpu_filter(params, {1})->accepts(format)) continue;
        const ImageDesc desc{format, 67, 45, ColorMatrix::bt709, range};
        SCOPED_TRACE(std::string(to_string(format)) + " " + std::string(enum_name(space)));
        const CurveSum sum = collected(params, desc, 3, 4);
        const ToneCurve curve = sum.mean();
        const Image in = moving(desc, 3);
        EXPECT_EQ(
            test::count_differences(filtered(params, in).view(), filtered(fixed(curve), in).view()),
            0U);
        EXPECT_EQ(curve_from_text(curve_text(curve), "it"), curve);
      }
    }
  }
}

// The plain curve is rational and not a multiple of 2^-22: what differs are near halves.
TEST(FixedCurve, APlainFrameUnderItsOwnCurveIsWithinALevel) {
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::gray8, PixelFormat::nv12}) {
    const ImageDesc desc{format, 320, 200};
    const Image in = moving(desc, 2);
    const Image own = filtered(EqualizeParams{}, in);
    const Image kept = filtered(fixed(collected({}, desc, 2, 3).mean()), in);
    EXPECT_LE(test::max_difference(own.view(), kept.view()), 1);
    EXPECT_LE(test::count_differences(own.view(), kept.view()),
              test::tight_copy(own.view()).size() / 1000);
  }
}

TEST(FixedCurve, EqualLevelsStayEqualWhateverTheClip) {
  const ToneCurve curve =
      collected(bounded_over_time(), {PixelFormat::gray8, 80, 60}, 0, 30).mean();
  std::array<int, 256> became;
  became.fill(-1);
  const auto filter = make_cpu_filter(fixed(curve), {2});
  const ImageDesc desc{PixelFormat::gray8, 97, 31};
  filter->configure(desc);
  for (const std::uint32_t seed : {1U, 7U, 19U}) {
    for (int i = 0; i < 12; ++i) {
      const Image in = moving(desc, i, seed);
      const Image out = filtered(*filter, in, i);
      for (int y = 0; y < desc.height; ++y) {
        for (int x = 0; x < desc.width; ++x) {
          int& level = became[in.view().row(0, y)[x]];
          const int result = out.view().row(0, y)[x];
          if (level < 0) level = result;
          ASSERT_EQ(level, result);
        }
      }
    }
  }
}

// floor(c W / (v 2^22) + 1/2) of a gray frame, by its definition.
TEST(FixedCurve, LevelsAreTheCurvesRounded) {
  const ToneCurve curve = collected(bounded(), {PixelFormat::gray8, 80, 60}, 0, 9).mean();
  Image ramp({PixelFormat::gray8, 256, 1});
  for (int x = 0; x < 256; ++x)
    ramp.view().row(0, 0)[x] = static_cast<std::uint8_t>(x);
  const Image out = filtered(fixed(curve), ramp);
  EXPECT_EQ(out.view().row(0, 0)[0], 0);
  for (std::size_t v = 1; v < 256; ++v) {
    EXPECT_EQ(out.view().row(0, 0)[v], (curve.levels[v] + (1U << 21)) >> 22) << v;
  }
}

// The same curve looks the same at any depth and range: less than a level of 8 bits apart.
TEST(FixedCurve, FitsEveryDepthAndRange) {
  for (const ColorRange made_of : {ColorRange::limited, ColorRange::full}) {
    const ImageDesc from{PixelFormat::i420, 80, 60, ColorMatrix::bt601, made_of};
    const ToneCurve curve = collected(bounded(), from, 0, 9).mean();
    ASSERT_EQ(curve.levels.size(), made_of == ColorRange::full ? 256U : 220U);
    const auto last = static_cast<double>(curve.levels.size() - 1);
    for (const auto& [format, range] : {std::pair{PixelFormat::y444_16le, ColorRange::limited},
                                        {PixelFormat::y444_16le, ColorRange::full},
                                        {PixelFormat::gray16_le, ColorRange::full},
                                        {PixelFormat::y444, ColorRange::limited},
                                        {PixelFormat::y444, ColorRange::full}}) {
      const bool deep = has_deep_samples(format);
      const bool limited = range == ColorRange::limited;
      const int unit = deep ? 256 : 1;
      const int black = limited ? 16 * unit : 0;
      const int most = limited ? 219 * unit : (deep ? 65535 : 255);
      Image ramp({format, 256, 1, ColorMatrix::bt601, range});
      for (int p = 0; p < traits(format).planes; ++p) {
        for (int x = 0; x < 256; ++x) {
          const int code = p > 0 ? 128 * unit : black + most * x / 255;
          std::uint8_t* at = ramp.view().row(p, 0) + x * (deep ? 2 : 1);
          at[0] = static_cast<std::uint8_t>(code);
          if (deep) at[1] = static_cast<std::uint8_t>(code >> 8);
        }
      }
      const Image out = filtered(fixed(curve), ramp);
      for (int x = 1; x < 256; ++x) {
        const std::uint8_t* at = out.view().row(0, 0) + x * (deep ? 2 : 1);
        const int code = deep ? at[0] + 256 * at[1] : at[0];
        const double v =
            static_cast<double>(most * x / 255) / most * last;  // in the curve's levels
        const auto i = static_cast<std::size_t>(v);
        const double low = i == 0 ? 0 : curve.levels[i];
        const double high = curve.levels[std::min<std::size_t>(i + 1, curve.levels.size() - 1)];
        const double wanted =
            (low + (high - low) * (v - static_cast<double>(i))) / (1 << 22) / last;
        EXPECT_NEAR(static_cast<double>(code - black) / most, wanted, 0.51 / most + 1e-7)
            << to_string(format) << " " << x;
      }
    }
  }
}

// Deep frames add W at the places of the coarse levels, whatever their number of bins.
TEST(FixedCurve, DeepCurvesAreReadAtTheCoarseLevels) {
  for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
    for (const PixelFormat format :
         {PixelFormat::gray16_le, PixelFormat::i420_10le, PixelFormat::y444_16le}) {
      const ImageDesc desc{format, 64, 48, ColorMatrix::bt709, range};
      const CurveSum sum = collected({}, desc, 1, 2);
      const DeepSamples form = deep_samples(desc);
      ASSERT_EQ(sum.levels.size(), coarse_max(form) + 1);
      // Where the curve ends it is at M, and it never falls.
      EXPECT_EQ(sum.levels.back(), std::uint64_t{coarse_max(form)} << 22);
      EXPECT_TRUE(std::is_sorted(sum.levels.begin(), sum.levels.end()));
      // Of the frame as 8 bits it is about the same curve.
      const Image in = moving(desc, 1);
      const Image own = filtered(EqualizeParams{}, in);
      const Image kept = filtered(fixed(sum.mean()), in);
      double difference = 0;
      for (int y = 0; y < 48; ++y) {
        for (int x = 0; x < 64; ++x) {
          const auto code = [&](const Image& image) {
            const std::uint8_t* at = image.view().row(0, y) + 2 * x;
            return at[0] + 256 * at[1];
          };
          difference += std::abs(code(own) - code(kept)) / (64.0 * 48 * form.most);
        }
      }
      EXPECT_LT(difference, 0.02) << to_string(format);
    }
  }
}

TEST(FixedCurve, SumsOfClipsAreTheSumOfAll) {
  const ImageDesc desc{PixelFormat::bgr, 50, 40};
  CurveSum sum;
  sum.add(collected(bounded(), desc, 0, 4));
  sum.add({});  // a clip without frames
  sum.add(collected(bounded(), desc, 4, 10));
  EXPECT_EQ(sum, collected(bounded(), desc, 0, 10));
}

TEST(FixedCurve, ClipsOfAnotherRangeAreTakenAtTheFirstOnesLevels) {
  ToneCurve identity;
  for (std::uint32_t v = 0; v < 220; ++v)
    identity.levels.push_back(v * ToneCurve::kUnit);
  CurveSum sum{{Space::value, 3, {}, {}}, std::vector<std::uint64_t>(256)};
  CurveSum limited{{Space::value, 2, {}, {}}, {}};
  for (std::size_t v = 0; v < 220; ++v)
    limited.levels.push_back(2 * std::uint64_t{identity.levels[v]});
  sum.add(limited);
  EXPECT_EQ(sum.form.frames, 5U);
  ASSERT_EQ(sum.levels.size(), 256U);
  for (std::size_t v = 0; v < 256; ++v)
    EXPECT_EQ(sum.levels[v], 2 * v * ToneCurve::kUnit) << v;
}

TEST(FixedCurve, NothingIsCountedAndNothingCollected) {
  const ToneCurve curve = collected({}, {PixelFormat::gray8, 8, 8}, 0, 1).mean();
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::i420_10le}) {
    const auto filter = make_cpu_filter(fixed(curve), {1});
    EXPECT_FALSE(test::collect_curves(*filter));
    filter->configure({format, 16, 16});
    const Image in = moving({format, 16, 16}, 0);
    Image out(in.desc());
    std::vector<StageTime> stages;
    FrameContext context = test::moving_context(0);
    context.timings = &stages;
    filter->submit(in.view(), out.view(), context);
    ASSERT_EQ(stages.size(), 1U);
    EXPECT_EQ(stages[0].stage, "apply");
    EXPECT_EQ(filter->save(), "{}");
  }
  EXPECT_FALSE(test::curve_sum(*make_cpu_filter(EqualizeParams{})));
}

TEST(FixedCurve, ComesAndGoesWhileFramesRun) {
  for (const auto& [format, space] : {std::pair{PixelFormat::bgr, Space::value},
                                      {PixelFormat::nv12, Space::value},
                                      {PixelFormat::p010_10le, Space::value},
                                      {PixelFormat::gray16_le, Space::value},
                                      {PixelFormat::bgr, Space::lightness},
                                      {PixelFormat::bgr, Space::luma}}) {
    SCOPED_TRACE(std::string(to_string(format)) + " " + std::string(enum_name(space)));
    EqualizeParams own = bounded_over_time();
    own.space = space;
    const ImageDesc desc{format, 64, 40};
    const EqualizeParams kept = fixed(collected(own, desc, 0, 8).mean());
    const auto filter = make_cpu_filter(own, {1});
    filter->configure(desc);
    static_cast<void>(filtered(*filter, moving(desc, 0), 0));
    ASSERT_TRUE(retune(*filter, kept));
    const Image in = moving(desc, 1);
    EXPECT_EQ(test::count_differences(filtered(*filter, in, 1).view(), filtered(kept, in).view()),
              0U);
    // What the curve was before is forgotten, as the frames since had no part in it.
    ASSERT_TRUE(retune(*filter, own));
    EXPECT_EQ(test::count_differences(filtered(*filter, in, 2).view(), filtered(own, in).view()),
              0U);
  }
}

TEST(FixedCurve, StandsAlone) {
  const ToneCurve curve = collected({}, {PixelFormat::gray8, 8, 8}, 0, 1).mean();
  const auto said = [&](auto set) {
    EqualizeParams params = fixed(curve);
    set(params);
    return violations(params, Backend::cpu);
  };
  EXPECT_THAT(said([](EqualizeParams&) {}), ElementsAre());
  EXPECT_THAT(
      said([](EqualizeParams& p) {
        p.strength = 0.5;
        p.temporal_ms = 100;
        p.region = "0,0,4,4";
      }),
      ElementsAre(AllOf(HasSubstr("beside strength, temporal-ms, region"),
                        HasSubstr("must stand alone: the saved curve is applied as it is"))));
  EXPECT_THAT(said([](EqualizeParams& p) {
                p.scaler = Scaler::min_max;
                p.bins = 64;
                p.surround = Surround::ignore;
              }),
              ElementsAre(HasSubstr("beside scaler, bins, surround")));
  EXPECT_THAT(said([](EqualizeParams& p) { p.chain = Chain::staged; }),
              ElementsAre("chain is staged, must be fused with curve-from"));
  EXPECT_THAT(said([](EqualizeParams& p) { p.space = Space::luma; }),
              ElementsAre("space is luma, must be value as in curve-from"));
  EXPECT_THAT(said([](EqualizeParams& p) { p.curve->levels.pop_back(); }),
              ElementsAre("the curve of curve-from has 255 levels, must have 220 or 256"));
}

}  // namespace
}  // namespace equalux
