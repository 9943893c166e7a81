// Strength and limits of the curve: what each does, on frames and on histograms.
#include <array>
#include <cmath>
#include <random>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/cpu/equalize/curve_maker.h"
#include "src/equalize/tone/tone_limits.h"
#include "tests/equalize/wide.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

constexpr double kUnitOfCurve = 1 << tone::kCurveBits;

/// A histogram with two hills, as of a dark room with a lamp in it.
ValueHistogram two_hills() {
  ValueHistogram counts{};
  for (int v = 0; v < 256; ++v) {
    const double dark = 9000 * std::exp(-(v - 40.0) * (v - 40.0) / 200.0);
    const double lamp = 700 * std::exp(-(v - 215.0) * (v - 215.0) / 60.0);
    counts[static_cast<std::size_t>(v)] = static_cast<std::uint32_t>(dark + lamp);
  }
  return counts;
}

/// The curve in levels, for levels 0 to 255 without a history.
std::array<double, 256> curve_of(const ValueHistogram& counts, const EqualizeParams& params) {
  CurveMaker maker;
  maker.configure(255);
  maker.set_bins(params.bins == 0 ? 256 : params.bins);
  tone::Control control(params);
  const CurveTable& table = maker.make(counts, control.next({}));
  std::array<double, 256> curve{};
  for (std::size_t v = 0; v < 256; ++v)
    curve[v] = table[v] / kUnitOfCurve;
  return curve;
}

EqualizeParams with(double EqualizeParams::*field, double value) {
  EqualizeParams params;
  params.*field = value;
  return params;
}

double steepest(const std::array<double, 256>& curve) {
  double most = curve[0];
  for (std::size_t v = 1; v < 256; ++v)
    most = std::max(most, curve[v] - curve[v - 1]);
  return most;
}

TEST(ToneLimits, StrengthGoesFromTheFrameToItsEqualization) {
  const ValueHistogram counts = two_hills();
  const auto none = curve_of(counts, with(&EqualizeParams::strength, 0));
  const auto half = curve_of(counts, with(&EqualizeParams::strength, 0.5));
  // A floor of nearly nothing takes the curve of full strength through the same arithmetic.
  const auto full = curve_of(counts, with(&EqualizeParams::ceiling, 99.9999999));
  std::uint64_t total = 0;
  for (const std::uint32_t count : counts)
    total += count;
  std::uint64_t below = 0;
  for (std::size_t v = 0; v < 256; ++v) {
    below += counts[v];
    EXPECT_DOUBLE_EQ(none[v], static_cast<double>(v));
    EXPECT_NEAR(full[v], 255.0 * static_cast<double>(below) / static_cast<double>(total), 0.001);
    EXPECT_NEAR(half[v], (static_cast<double>(v) + full[v]) / 2, 0.001);
  }
}

TEST(ToneLimits, ClipLimitBoundsTheRise) {
  const ValueHistogram counts = two_hills();
  ASSERT_GT(steepest(curve_of(counts, with(&EqualizeParams::floor, 0.001))), 9);
  for (const double limit : {1.5, 2.0, 3.0, 5.0}) {
    const auto curve = curve_of(counts, with(&EqualizeParams::clip_limit, limit));
    // What four steps leave over stretches the curve by less than two hundredths.
    EXPECT_LE(steepest(curve), limit * 1.02) << limit;
    EXPECT_GE(steepest(curve), limit * 0.98) << limit;
    EXPECT_NEAR(curve[255], 255, 0.02);
  }
  const auto identity = curve_of(counts, with(&EqualizeParams::clip_limit, 1));
  for (std::size_t v = 0; v < 256; ++v)
    EXPECT_NEAR(identity[v], static_cast<double>(v + 1), 12.0);
}

TEST(ToneLimits, ClipLimitMeansTheSameAtAnyBinCount) {
  const ValueHistogram counts = two_hills();
  EqualizeParams params = with(&EqualizeParams::clip_limit, 3);
  const auto usual = curve_of(counts, params);
  for (const int bins : {128, 255, 1000, 65536}) {
    params.bins = bins;
    const auto curve = curve_of(counts, params);
    // No further apart than the curve rises within a bin.
    for (std::size_t v = 0; v < 256; ++v)
      EXPECT_NEAR(curve[v], usual[v], 3 * 256.0 / bins + 0.1);
  }
}

TEST(ToneLimits, FloorAndCeilingArePercentiles) {
  const ValueHistogram counts = two_hills();
  EqualizeParams params;
  params.floor = 10;
  params.ceiling = 90;
  const auto curve = curve_of(counts, params);
  std::uint64_t total = 0;
  for (const std::uint32_t count : counts)
    total += count;
  double below = 0;
  for (std::size_t v = 0; v < 256; ++v) {
    below += counts[v] / static_cast<double>(total);
    EXPECT_NEAR(curve[v], 255 * std::clamp((below - 0.1) / 0.8, 0.0, 1.0), 0.001) << v;
  }
}

TEST(ToneLimits, MaxGainHoldsWhereItIsDarkest) {
  const ValueHistogram counts = two_hills();
  const auto free = curve_of(counts, with(&EqualizeParams::floor, 0.001));
  const auto held = curve_of(counts, with(&EqualizeParams::max_gain, 2));
  ASSERT_GT(free[40] / 40, 2.5);
  for (std::size_t v = 1; v < 256; ++v) {
    EXPECT_LE(held[v], 2 * static_cast<double>(v));
    EXPECT_NEAR(held[v], std::min(free[v], 2 * static_cast<double>(v)), 0.01);
  }
}

TEST(ToneLimits, MinGainHoldsWhatIsBright) {
  const ValueHistogram counts = two_hills();
  EqualizeParams params;
  params.floor = 0.001;
  const auto free = curve_of(counts, params);
  std::size_t darker = 0;
  for (const double least : {0.5, 0.9, 1.0}) {
    params.min_gain = least;
    const auto held = curve_of(counts, params);
    for (std::size_t v = 1; v < 256; ++v) {
      const double floor = least * static_cast<double>(v);
      if (free[v] < floor) ++darker;
      EXPECT_NEAR(held[v], std::max(free[v], floor), 0.01) << v;
    }
  }
  EXPECT_GT(darker, 50U);
}

TEST(ToneLimits, MinGainOfOneIsAllThatASecondCurveAsksFor) {
  // Where both bounds meet, the curve is the identity.
  EqualizeParams params;
  params.max_gain = 1;
  params.min_gain = 1;
  const auto held = curve_of(two_hills(), params);
  for (std::size_t v = 0; v < 256; ++v)
    EXPECT_EQ(held[v], static_cast<double>(v));
}

/// Pixels spread evenly over so many levels from `first` on.
ValueHistogram even(std::size_t first, std::size_t levels) {
  ValueHistogram counts{};
  for (std::size_t v = first; v < first + levels; ++v)
    counts[v] = 1000;
  return counts;
}

TEST(ToneLimits, ContrastIsHowEvenlyLevelsAreUsed) {
  for (const std::uint32_t max_value : {255U, 219U}) {
    const std::uint32_t bins = (max_value + 1) / tone::kEvenBin;
    const auto contrast = [&](std::uint32_t filled) {
      std::uint32_t evenness = 0;
      for (std::uint32_t bin = 0; bin < filled; ++bin)
        evenness += tone::even_part(tone::kWhole / filled, max_value);
      return tone::contrast_of(evenness);
    };
    EXPECT_EQ(contrast(1), 0U);
    EXPECT_EQ(contrast(bins / 2), 0U);
    EXPECT_GT(contrast(bins * 11 / 20), 0U);
    EXPECT_LT(contrast(bins * 13 / 20), tone::kOne);
    EXPECT_EQ(contrast(bins * 15 / 20), tone::kOne);
    EXPECT_EQ(contrast(bins), tone::kOne);
  }
  EXPECT_EQ(tone::even_part(tone::kWhole / 5, 255), tone::kMostEvenness / 64);
  EXPECT_EQ(tone::even_part(100, 255), 100U);
}

TEST(ToneLimits, AutoFollowsTheContrast) {
  EqualizeParams follows;
  follows.floor = 1;
  follows.strength = kAutoStrength;
  follows.min_gain = kAutoMinGain;
  const auto fixed = [](double strength, double min_gain) {
    EqualizeParams params;
    params.floor = 1;
    params.strength = strength;
    params.min_gain = min_gain;
    return params;
  };
  const ValueHistogram flat = even(100, 60);
  const auto expect_near = [](const auto& a, const auto& b) {
    for (std::size_t v = 0; v < 256; ++v)
      EXPECT_NEAR(a[v], b[v], 0.01) << v;
  };
  expect_near(curve_of(flat, follows), curve_of(flat, fixed(0.8, 0)));
  EXPECT_GT(curve_of(flat, fixed(0.8, 0.96))[90], curve_of(flat, follows)[90] + 10);
  const ValueHistogram good = even(60, 190);
  expect_near(curve_of(good, follows), curve_of(good, fixed(0.4, 0.96)));
  EXPECT_GT(curve_of(good, follows)[70], curve_of(good, fixed(0.4, 0))[70] + 1);
  // In between all levels that are neither bounded nor clipped lie between the two.
  const ValueHistogram between = even(100, 152);
  const auto curve = curve_of(between, follows);
  const auto weak = curve_of(between, fixed(0.4, 0));
  const auto strong = curve_of(between, fixed(0.8, 0));
  for (std::size_t v = 200; v < 240; ++v) {
    EXPECT_GE(curve[v], 0.4 * static_cast<double>(v));
    EXPECT_GT(std::abs(curve[v] - weak[v]) + std::abs(curve[v] - strong[v]), 0.1) << v;
  }
}

/// Pixels spread evenly from one level to another, with some room for percentiles.
EqualizeParams stretched(double stretch, double strength) {
  EqualizeParams params;
  params.floor = 0.01;
  params.ceiling = 99.99;
  params.stretch = stretch;
  params.strength = strength;
  return params;
}

TEST(ToneLimits, StretchIsTheStraightLineBetweenTheEnds) {
  ValueHistogram counts = even(100, 101);
  counts[150] = 90000;  // which an equalization would answer to
  const auto curve = curve_of(counts, stretched(4, 0));
  for (std::size_t v = 0; v < 256; ++v) {
    const double line = 255 * (static_cast<double>(v) - 100) / 100;
    EXPECT_NEAR(curve[v], std::clamp(line, 0.0, 255.0), 1e-6) << v;
  }
  // What strength leaves lies on it, to the half.
  EqualizeParams params = stretched(4, 1);
  const auto full = curve_of(counts, params);
  params.strength = 0.5;
  const auto half = curve_of(counts, params);
  ASSERT_GT(std::abs(full[140] - curve[140]), 20);
  for (std::size_t v = 0; v < 256; ++v)
    EXPECT_NEAR(half[v], (full[v] + curve[v]) / 2, 1e-5) << v;
}

TEST(ToneLimits, StretchBoundsItsSlopeAndKeepsBlackAndWhite) {
  const auto slope = [](const auto& curve, std::size_t v) { return curve[v + 1] - curve[v]; };
  // Ten levels, wherever they lie: no steeper than 3, and near where they were.
  for (const std::size_t first : {std::size_t{0}, std::size_t{120}, std::size_t{245}}) {
    const auto curve = curve_of(even(first, 11), stretched(3, 0));
    for (std::size_t v = first; v < first + 10; ++v)
      EXPECT_NEAR(slope(curve, v), 3, 1e-4) << first << " at " << v;
    EXPECT_NEAR(curve[first], 255.0 / 245 * static_cast<double>(first) * (235 - 20) / 245, 45);
  }
  EXPECT_EQ(curve_of(even(0, 11), stretched(3, 0))[0], 0);
  EXPECT_EQ(curve_of(even(245, 11), stretched(3, 0))[255], 255);
  // A picture that has all levels is left alone, and so is one without any stretch.
  for (const auto& curve :
       {curve_of(even(0, 256), stretched(4, 0)), curve_of(even(100, 50), stretched(1, 0))}) {
    for (std::size_t v = 0; v < 256; ++v)
      EXPECT_EQ(curve[v], static_cast<double>(v));
  }
}

TEST(ToneLimits, ClipLimitIsOfTheIdentityButForTheLine) {
  // A quarter of the light: the line rises by 4, and the limit of 2 gives way to it.
  ValueHistogram dark = even(0, 65);
  dark[20] = 90000;
  EqualizeParams params = stretched(5, 1);
  params.clip_limit = 2;
  const auto line = curve_of(dark, params);
  EXPECT_NEAR(steepest(line), 255.0 / 65, 0.05);
  EXPECT_NEAR(line[64], 255, 0.1);
  // Half of the light: 2.9 stays what it is.
  ValueHistogram half = even(0, 128);
  half[20] = 90000;
  params.clip_limit = 2.9;
  EXPECT_NEAR(steepest(curve_of(half, params)), 2.9, 0.06);
  // A lamp: all levels lie between the ends, and the limit is the only one.
  dark[250] = 2000;
  params.clip_limit = 2;
  EXPECT_NEAR(steepest(curve_of(dark, params)), 2, 0.05);
}

TEST(ToneLimits, AutoAsksForTheContrastOfTheStretchedPicture) {
  // Sixty levels, evenly full: flat as they are, full of contrast between their ends.
  const ValueHistogram flat = even(100, 60);
  EqualizeParams follows = stretched(8, kAutoStrength);
  follows.clip_limit = 3;
  EqualizeParams fixed = follows;
  fixed.strength = 0.4;
  const auto expect_near = [](const auto& a, const auto& b) {
    for (std::size_t v = 0; v < 256; ++v)
      EXPECT_NEAR(a[v], b[v], 0.01) << v;
  };
  expect_near(curve_of(flat, follows), curve_of(flat, fixed));
  follows.stretch = fixed.stretch = 1;
  fixed.strength = 0.8;
  expect_near(curve_of(flat, follows), curve_of(flat, fixed));
}

TEST(ToneLimits, EveryCurveRises) {
  std::mt19937 generator(3);
  const auto random = [&] { return static_cast<int>(generator() >> 1); };
  for (int i = 0; i < 300; ++i) {
    ValueHistogram counts{};
    const int filled = 1 + random() % 40;
    for (int k = 0; k < filled; ++k) {
      counts[static_cast<std::size_t>(random() % 256)] +=
          static_cast<std::uint32_t>(random() % 100000 + 1);
    }
    EqualizeParams params;
    params.scaler = static_cast<Scaler>(random() % 3);
    params.bins = random() % 2 == 0 ? 0 : 2 + random() % 300;
    params.strength = random() % 100 / 99.0;
    params.clip_limit = random() % 2 == 0 ? 0 : 1 + random() % 50 / 10.0;
    params.floor = random() % 40;
    params.ceiling = 60 + random() % 41;
    params.max_gain = random() % 2 == 0 ? 0 : 1 + random() % 10;
    params.min_gain = random() % 2 == 0 ? 0 : random() % 100 / 99.0;
    if (random() % 4 == 0) params.strength = kAutoStrength;
    if (random() % 4 == 0) params.min_gain = kAutoMinGain;
    if (random() % 2 == 0) params.stretch = 1 + random() % 151 / 10.0;
    const auto curve = curve_of(counts, params);
    for (std::size_t v = 1; v < 256; ++v)
      ASSERT_GE(curve[v], curve[v - 1]) << i << " at " << v;
    ASSERT_LE(curve[255], 255.001);
  }
}

using test::Wide;

/// Every byte of a filtered frame is floor(c W(v) / (v 2^22) + 1/2).
TEST(ToneLimits, FramesAreScaledExactly) {
  EqualizeParams params;
  params.strength = 0.7;
  params.clip_limit = 2.5;
  params.max_gain = 5;
  params.min_gain = 0.8;
  const ImageDesc desc{PixelFormat::bgr, 211, 97};
  for (const test::Content content :
       {test::Content::natural, test::Content::noise, test::Content::ramp}) {
    Image in(desc);
    test::fill(in.view(), content, 5);
    Image out(desc);
    const auto filter = make_cpu_filter(params, {1});
    filter->configure(desc);
    FrameContext context;
    filter->submit(in.view(), out.view(), context);

    ValueHistogram counts{};
    const auto value_at = [&](int x, int y) {
      const std::uint8_t* p = in.view().row(0, y) + 3 * x;
      return std::max({p[0], p[1], p[2]});
    };
    for (int y = 0; y < desc.height; ++y) {
      for (int x = 0; x < desc.width; ++x)
        ++counts[value_at(x, y)];
    }
    CurveMaker maker;
    maker.configure(255);
    maker.set_bins(256);
    tone::Control control(params);
    const CurveTable& curve = maker.make(counts, control.next({}));
    for (int y = 0; y < desc.height; ++y) {
      for (int x = 0; x < desc.width; ++x) {
        const int v = value_at(x, y);
        for (int c = 0; c < 3; ++c) {
          const int was = in.view().row(0, y)[3 * x + c];
          const Wide whole = Wide{v} << (tone::kCurveBits + 1);
          const auto wanted =
              v == 0
                  ? 0
                  : static_cast<int>(
                        (2 * Wide{was} * curve[static_cast<std::size_t>(v)] + whole / 2) / whole);
          ASSERT_EQ(out.view().row(0, y)[3 * x + c], wanted) << was << " of " << v;
        }
      }
    }
  }
}

std::string error_of(const EqualizeParams& params) {
  try {
    validate(params, Backend::cpu);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "";
}

TEST(ToneLimits, EveryRuleIsNamed) {
  using testing::HasSubstr;
  EXPECT_EQ(error_of(with(&EqualizeParams::strength, 0)), "");
  EXPECT_THAT(error_of(with(&EqualizeParams::strength, 1.5)),
              HasSubstr("strength is 1.5, must be 0 to 1, or auto"));
  EXPECT_THAT(error_of(with(&EqualizeParams::strength, NAN)), HasSubstr("strength is nan"));
  EXPECT_THAT(error_of(with(&EqualizeParams::clip_limit, 0.5)), HasSubstr("clip-limit is 0.5"));
  EXPECT_THAT(error_of(with(&EqualizeParams::stretch, 0)),
              HasSubstr("stretch is 0, must be 1 to 16"));
  EXPECT_THAT(error_of(with(&EqualizeParams::max_gain, 300)), HasSubstr("max-gain is 300"));
  EXPECT_THAT(error_of(with(&EqualizeParams::min_gain, 1.5)),
              HasSubstr("min-gain is 1.5, must be 0 to 1, or auto"));
  EXPECT_THAT(error_of(with(&EqualizeParams::ceiling, 0)), HasSubstr("ceiling is 0"));
  EXPECT_THAT(error_of(with(&EqualizeParams::temporal_ms, -1)), HasSubstr("temporal-ms is -1"));
  EXPECT_THAT(error_of(with(&EqualizeParams::darken_ms, 5)),
              HasSubstr("darken-ms is 5 without temporal-ms"));
  EqualizeParams crossed;
  crossed.floor = 60;
  crossed.ceiling = 40;
  EXPECT_THAT(error_of(crossed), HasSubstr("below ceiling, which is 40"));
  EqualizeParams staged = with(&EqualizeParams::strength, 0.5);
  staged.chain = Chain::staged;
  EXPECT_THAT(error_of(staged), HasSubstr("chain is staged, must be fused with strength"));
}

}  // namespace
}  // namespace equalux
