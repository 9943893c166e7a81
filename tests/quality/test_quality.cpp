#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <equalux/error.h>
#include <gtest/gtest.h>

#include "src/quality/colourfulness.h"
#include "src/quality/hue.h"
#include "src/quality/noise.h"
#include "src/quality/planes.h"
#include "src/quality/similarity.h"
#include "src/quality/tone.h"
#include "tests/quality/painted_frames.h"

/// Figures of single frames, against answers known by hand or computed another way.
namespace equalux::quality {
namespace {

using test::Grain;
using test::grey;
using test::painted;
using test::Rgb;

Planes planes_of_grey(int width, int height, auto level) {
  return planes_of(painted(width, height, [&](int x, int y) { return grey(level(x, y)); }).view());
}

TEST(QualityPlanes, ValueIsTheLargestColourAndLumaIsWeighted) {
  const Planes planes = planes_of(painted(1, 1, [](int, int) { return Rgb{10, 200, 30}; }).view());
  EXPECT_EQ(planes.value[0], 200);
  EXPECT_NEAR(planes.luma[0], 0.299 * 10 + 0.587 * 200 + 0.114 * 30, 1e-4);
}

TEST(QualityPlanes, OtherFormatsAreRefused) {
  const Image rgb({PixelFormat::rgb, 4, 4});
  EXPECT_THROW((void)planes_of(rgb.view()), Error);
}

TEST(QualityTone, EntropyOfKnownHistograms) {
  const auto bits = [](auto level) {
    return entropy_bits(luma_histogram(planes_of_grey(256, 4, level)));
  };
  EXPECT_DOUBLE_EQ(bits([](int x, int) { return x; }), 8);
  EXPECT_DOUBLE_EQ(bits([](int x, int) { return x / 128; }), 1);
  EXPECT_DOUBLE_EQ(bits([](int x, int) { return x / 64 * 50; }), 2);
  EXPECT_DOUBLE_EQ(bits([](int, int) { return 77; }), 0);
  // A quarter and three quarters.
  EXPECT_NEAR(bits([](int x, int) { return x < 64 ? 1 : 0; }), 0.811278, 1e-6);
}

TEST(QualityTone, EntropyIsOfRoundedLuma) {
  // Two colours of one V; two whose luma rounds to one level.
  const auto bits = [](Rgb left, Rgb right) {
    const Image halves = painted(8, 8, [&](int x, int) { return x < 4 ? left : right; });
    return entropy_bits(luma_histogram(planes_of(halves.view())));
  };
  EXPECT_DOUBLE_EQ(bits({200, 10, 10}, {10, 10, 200}), 1);
  EXPECT_DOUBLE_EQ(bits({10, 10, 10}, {10, 10, 12}), 0);
}

TEST(QualityTone, MeanLevelIsOfValue) {
  const Image half = painted(10, 2, [](int x, int) { return x < 5 ? Rgb{0, 40, 0} : grey(60); });
  EXPECT_DOUBLE_EQ(mean_level(value_histogram(planes_of(half.view()))), 50);
}

TEST(QualityContrast, EmeOfKnownBlocks) {
  // Two whole blocks: levels 1 to 3, ratio 4 / 2; levels 0 to 9, ratio 10 / 1. A ninth column of a
  // third block does not count.
  const Planes planes = planes_of_grey(17, 9, [](int x, int y) {
    if (x == 16 || y == 8) return 255 * (y % 2);
    if (x < 8) return y == 3 ? 3 : 1;
    return y == 5 ? 9 : 0;
  });
  EXPECT_NEAR(eme_db(planes), (20 * std::log10(2.0) + 20) / 2, 1e-9);
  EXPECT_EQ(eme_db(planes_of_grey(40, 30, [](int, int) { return 0; })), 0);
  EXPECT_NEAR(eme_db(planes_of_grey(3, 1, [](int x, int) { return x == 0 ? 0 : 99; })), 40, 1e-9);
}

TEST(QualitySimilarity, OfEqualFramesIsOne) {
  Grain grain(20, 1);
  const Planes planes = planes_of_grey(40, 30, [&](int x, int) { return 60 + x + grain.next(); });
  EXPECT_EQ(ssim(planes, planes), 1.0);
}

TEST(QualitySimilarity, OfFlatFramesIsTheLuminanceTerm) {
  const Planes a = planes_of_grey(20, 20, [](int, int) { return 100; });
  const Planes b = planes_of_grey(20, 20, [](int, int) { return 140; });
  const double c1 = 6.5025;
  EXPECT_NEAR(ssim(a, b).value(), (2.0 * 100 * 140 + c1) / (100.0 * 100 + 140.0 * 140 + c1), 1e-4);
}

/// SSIM of one window, by the paper's formula.
double window_ssim(const Planes& a, const Planes& b, int left, int top) {
  double weight_sum = 0;
  double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
  for (int y = 0; y < 11; ++y) {
    for (int x = 0; x < 11; ++x) {
      const double w = std::exp(-((x - 5) * (x - 5) + (y - 5) * (y - 5)) / (2 * 1.5 * 1.5));
      const double va = a.luma[a.at(left + x, top + y)];
      const double vb = b.luma[b.at(left + x, top + y)];
      weight_sum += w;
      ma += w * va;
      mb += w * vb;
      aa += w * va * va;
      bb += w * vb * vb;
      ab += w * va * vb;
    }
  }
  ma /= weight_sum;
  mb /= weight_sum;
  const double c1 = 6.5025;
  const double c2 = 58.5225;
  const double variances = aa / weight_sum - ma * ma + bb / weight_sum - mb * mb;
  const double covariance = ab / weight_sum - ma * mb;
  return (2 * ma * mb + c1) * (2 * covariance + c2) / ((ma * ma + mb * mb + c1) * (variances + c2));
}

TEST(QualitySimilarity, IsTheMeanOverWindows) {
  Grain grain(15, 2);
  const Planes a =
      planes_of_grey(23, 14, [&](int x, int y) { return 90 + 3 * x + y + grain.next(); });
  const Planes b =
      planes_of_grey(23, 14, [&](int x, int y) { return 70 + 4 * x - y + grain.next(); });
  double sum = 0;
  for (int top = 0; top + 11 <= 14; ++top) {
    for (int left = 0; left + 11 <= 23; ++left)
      sum += window_ssim(a, b, left, top);
  }
  const double expected = sum / (13 * 4);
  EXPECT_LT(expected, 0.9);
  EXPECT_NEAR(ssim(a, b).value(), expected, 1e-4);
}

TEST(QualitySimilarity, NeedsAWindow) {
  const Planes small = planes_of_grey(10, 40, [](int, int) { return 9; });
  EXPECT_FALSE(ssim(small, small).has_value());
}

TEST(QualityNoise, FindsTheSigmaOfNoiseOnASlope) {
  for (const double sigma : {2.0, 6.0}) {
    Grain grain(sigma, 3);
    const Planes planes =
        planes_of_grey(320, 240, [&](int x, int y) { return 60 + (x + y) / 8 + grain.next(); });
    const BlockGrid grid(320, 240);
    // Whole levels add a variance of 1/12 for the slope and another for the noise.
    EXPECT_NEAR(noise_sigma(planes, grid, flat_blocks(planes, grid)).value(),
                std::sqrt(sigma * sigma + 2.0 / 12), 0.04 * sigma);
  }
}

TEST(QualityNoise, DoubledNoiseHasTwiceTheSigma) {
  const auto with = [](int gain) {
    Grain grain(5, 4);
    return planes_of_grey(160, 160, [&](int, int) { return 120 + gain * grain.next(); });
  };
  const Planes once = with(1);
  const Planes twice = with(2);
  const BlockGrid grid(160, 160);
  const BlockMask flat = flat_blocks(once, grid);
  EXPECT_NEAR(noise_sigma(twice, grid, flat).value() / noise_sigma(once, grid, flat).value(), 2,
              1e-6);
}

TEST(QualityNoise, LooksAwayFromStructure) {
  // The left half is a pattern of 4x4 squares, the right half flat; noise of sigma 3 everywhere.
  Grain grain(3, 5);
  const Planes planes = planes_of_grey(256, 128, [&](int x, int y) {
    return 100 + (x < 128 ? 30 * ((x / 4 + y / 4) % 2) : 0) + grain.next();
  });
  const BlockGrid grid(256, 128);
  const BlockMask flat = flat_blocks(planes, grid);
  for (std::size_t block = 0; block < grid.count(); ++block) {
    EXPECT_TRUE(flat[block] == 0 || grid.left(block) >= 128) << block;
  }
  EXPECT_NEAR(noise_sigma(planes, grid, flat).value(), 3, 0.15);
}

TEST(QualityNoise, NothingWhereNoiseIsCutOff) {
  for (const int level : {0, 3, 255}) {
    const Planes planes = planes_of_grey(64, 64, [&](int, int) { return level; });
    const BlockGrid grid(64, 64);
    EXPECT_FALSE(noise_sigma(planes, grid, flat_blocks(planes, grid)).has_value()) << level;
  }
  const Planes small = planes_of_grey(15, 15, [](int, int) { return 90; });
  const BlockGrid grid(15, 15);
  EXPECT_FALSE(noise_sigma(small, grid, flat_blocks(small, grid)).has_value());
}

/// The sRGB colour of L*C*h, by the inverse of CIE's formulas.
Rgb rgb_of(double l, double chroma, double hue_deg) {
  const double h = hue_deg * std::numbers::pi / 180;
  const double fy = (l + 16) / 116;
  const double fx = fy + chroma * std::cos(h) / 500;
  const double fz = fy - chroma * std::sin(h) / 200;
  const auto light = [](double f) {
    return f > 6.0 / 29 ? f * f * f : 3 * (6.0 / 29) * (6.0 / 29) * (f - 4.0 / 29);
  };
  const double x = 0.9505 * light(fx);
  const double y = light(fy);
  const double z = 1.089 * light(fz);
  const auto level = [](double c) {
    const double coded = c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055;
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(coded, 0.0, 1.0)));
  };
  return {level(3.2406 * x - 1.5372 * y - 0.4986 * z), level(-0.9689 * x + 1.8758 * y + 0.0415 * z),
          level(0.0557 * x - 0.2040 * y + 1.0570 * z)};
}

TEST(QualityHue, LabOfKnownColours) {
  const auto expect_lab = [](Lab lab, double l, double a, double b) {
    EXPECT_NEAR(lab.l, l, 0.05);
    EXPECT_NEAR(lab.a, a, 0.1);
    EXPECT_NEAR(lab.b, b, 0.1);
  };
  expect_lab(lab_of(255, 255, 255), 100, 0, 0);
  expect_lab(lab_of(0, 0, 0), 0, 0, 0);
  expect_lab(lab_of(255, 0, 0), 53.24, 80.09, 67.20);
  expect_lab(lab_of(0, 0, 255), 32.30, 79.19, -107.86);
  expect_lab(lab_of(119, 119, 119), 50.03, 0, 0);
}

TEST(QualityHue, RotatedByAKnownAngle) {
  for (const double angle : {0.0, 4.0, 35.0, 170.0}) {
    const auto wheel = [&](double by) {
      return painted(360, 3, [&](int x, int y) { return rgb_of(55 + 5 * y, 28, x + by); });
    };
    const Image a = wheel(0);
    const Image b = wheel(angle);
    const HueDifference hue = hue_difference(a.view(), b.view());
    EXPECT_EQ(hue.pixels, 360U * 3);
    // Levels are whole: each hue is off by a fraction of a degree.
    EXPECT_NEAR(hue.sum_deg / static_cast<double>(hue.pixels), angle, 0.1);
  }
}

TEST(QualityHue, GreyHasNone) {
  const Image a = painted(20, 20, [](int x, int) { return grey(10 * x); });
  const Image b = painted(20, 20, [](int, int) { return Rgb{200, 30, 30}; });
  EXPECT_EQ(hue_difference(a.view(), b.view()).pixels, 0U);
  EXPECT_EQ(hue_difference(b.view(), a.view()).pixels, 0U);
  EXPECT_EQ(hue_difference(b.view(), b.view()).pixels, 400U);
}

/// The pairs of Sharma, Wu and Dalal (2005), Table 1: where hues wrap around, near the neutral
/// axis, and ordinary ones.
TEST(QualityColour, Ciede2000OfThePublishedPairs) {
  struct Pair {
    Lab a;
    Lab b;
    double difference;
  };
  const std::vector<Pair> pairs{
      {{50, 2.6772F, -79.7751F}, {50, 0, -82.7485F}, 2.0425},
      {{50, 3.1571F, -77.2803F}, {50, 0, -82.7485F}, 2.8615},
      {{50, 2.8361F, -74.0200F}, {50, 0, -82.7485F}, 3.4412},
      {{50, -1.3802F, -84.2814F}, {50, 0, -82.7485F}, 1.0000},
      {{50, -0.9009F, -85.5211F}, {50, 0, -82.7485F}, 1.0000},
      {{50, 0, 0}, {50, -1, 2}, 2.3669},
      {{50, 2.49F, -0.001F}, {50, -2.49F, 0.0009F}, 7.1792},
      {{50, 2.49F, -0.001F}, {50, -2.49F, 0.0011F}, 7.2195},
      {{50, -0.001F, 2.49F}, {50, 0.0009F, -2.49F}, 4.8045},
      {{50, -0.001F, 2.49F}, {50, 0.0011F, -2.49F}, 4.7461},
      {{50, 2.5F, 0}, {50, 0, -2.5F}, 4.3065},
      {{50, 2.5F, 0}, {73, 25, -18}, 27.1492},
      {{50, 2.5F, 0}, {61, -5, 29}, 22.8977},
      {{50, 2.5F, 0}, {56, -27, -3}, 31.9030},
      {{50, 2.5F, 0}, {58, 24, 15}, 19.4535},
      {{50, 2.5F, 0}, {50, 3.1736F, 0.5854F}, 1.0000},
      {{60.2574F, -34.0099F, 36.2677F}, {60.4626F, -34.1751F, 39.4387F}, 1.2644},
      {{63.0109F, -31.0961F, -5.8663F}, {62.8187F, -29.7946F, -4.0864F}, 1.2630},
      {{35.0831F, -44.1164F, 3.7933F}, {35.0232F, -40.0716F, 1.5901F}, 1.8645},
      {{22.7233F, 20.0904F, -46.6940F}, {23.0331F, 14.9730F, -42.5619F}, 2.0373},
      {{36.4612F, 47.8580F, 18.3852F}, {36.2715F, 50.5065F, 21.2231F}, 1.4146},
      {{90.9257F, -0.5406F, -0.9208F}, {88.6381F, -0.8985F, -0.7239F}, 1.5381},
      {{6.7747F, -0.2908F, -2.4247F}, {5.8714F, -0.0985F, -2.2286F}, 0.6377},
      {{2.0776F, 0.0795F, -1.1350F}, {0.9033F, -0.0636F, -0.5514F}, 0.9082}};
  for (const Pair& pair : pairs) {
    EXPECT_NEAR(ciede2000(pair.a, pair.b), pair.difference, 1e-4) << pair.difference;
    EXPECT_NEAR(ciede2000(pair.b, pair.a), pair.difference, 1e-4) << pair.difference;
    EXPECT_EQ(ciede2000(pair.a, pair.a), 0);
  }
}

TEST(QualityColour, BlackAndWhiteAreAHundredApart) {
  const Image black = painted(9, 5, [](int, int) { return grey(0); });
  const Image half = painted(9, 5, [](int, int y) { return grey(y == 0 ? 255 : 0); });
  EXPECT_EQ(colour_difference(black.view(), black.view()), 0);
  EXPECT_NEAR(colour_difference(black.view(), half.view()), 20, 0.01);
}

TEST(QualityColour, Colourfulness) {
  EXPECT_EQ(colourfulness(painted(16, 16, [](int x, int) { return grey(16 * x); }).view()), 0);
  // One colour: rg = 60, yb = 110, no variance.
  const Image one = painted(8, 8, [](int, int) { return Rgb{200, 140, 60}; });
  EXPECT_NEAR(colourfulness(one.view()), 0.3 * std::hypot(60.0, 110.0), 1e-9);
  // Two, as often: rg = 60 and -60, yb = 110 and 110.
  const Image two = painted(8, 8, [](int x, int) {
    return x % 2 == 0 ? Rgb{200, 140, 60} : Rgb{140, 200, 60};
  });
  EXPECT_NEAR(colourfulness(two.view()), 60 + 0.3 * 110, 1e-9);
}

TEST(QualityColour, SkinIsFoundInTheOriginalAndReadInBoth) {
  EXPECT_TRUE(is_skin(224, 172, 138));
  EXPECT_TRUE(is_skin(120, 80, 60));
  EXPECT_FALSE(is_skin(120, 120, 120));
  EXPECT_FALSE(is_skin(40, 90, 200));
  const auto scene = [](int face) {
    return painted(10, 10, [face](int x, int) {
      return x < 3 ? Rgb{static_cast<std::uint8_t>(face), static_cast<std::uint8_t>(face * 3 / 4),
                         static_cast<std::uint8_t>(face * 3 / 5)}
                   : grey(30);
    });
  };
  const Image bright = scene(200);
  const Image dark = scene(100);
  const ConstImageView result = dark.view();
  const SkinValues both = skin_values(bright.view(), &result);
  EXPECT_EQ(both.pixels, 30U);
  EXPECT_EQ(both.original / 30, 200);
  EXPECT_EQ(both.result / 30, 100);
  EXPECT_EQ(skin_values(bright.view(), nullptr).result, 0);
}

}  // namespace
}  // namespace equalux::quality
