// Colours of another lightness and the same hue: hue_math.h, its loops, and pictures in lightness.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>

#include <equalux/filter.h>
#include <gtest/gtest.h>

#include "src/cpu/equalize/space/hue_rows.h"
#include "src/cpu/hessian/hessian_rows.h"
#include "src/equalize/hue_math.h"
#include "src/quality/hue.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using Colour = std::array<double, 3>;

double root_of(double x) {
  return x > 216.0 / 24389 ? std::cbrt(x) : x * 24389 / 3132 + 16.0 / 116;
}

double power_of(double f) {
  return f > 6.0 / 29 ? f * f * f : (f - 16.0 / 116) * 3132 / 24389;
}

/// Roots of X, Y and Z relative to white, from IEC 61966-2-1's matrix.
Colour roots_of(const Colour& rgb) {
  const double x = (0.4124 * rgb[0] + 0.3576 * rgb[1] + 0.1805 * rgb[2]) / 0.9505;
  const double y = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
  const double z = (0.0193 * rgb[0] + 0.1192 * rgb[1] + 0.9505 * rgb[2]) / 1.0890;
  return {root_of(x), root_of(y), root_of(z)};
}

/// The matrix's equations solved for R, G and B by Cramer's rule.
Colour colour_from(const Colour& roots) {
  const double x = 0.9505 * power_of(roots[0]);
  const double y = power_of(roots[1]);
  const double z = 1.0890 * power_of(roots[2]);
  const auto det = [](const Colour& a, const Colour& b, const Colour& c) {
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - b[0] * (a[1] * c[2] - a[2] * c[1]) +
           c[0] * (a[1] * b[2] - a[2] * b[1]);
  };
  const Colour red{0.4124, 0.2126, 0.0193};
  const Colour green{0.3576, 0.7152, 0.1192};
  const Colour blue{0.1805, 0.0722, 0.9505};
  const Colour xyz{x, y, z};
  const double all = det(red, green, blue);
  return {det(xyz, green, blue) / all, det(red, xyz, blue) / all, det(red, green, xyz) / all};
}

bool is_srgb(const Colour& rgb, double slack) {
  return std::ranges::all_of(rgb, [&](double c) { return c >= -slack && c <= 1 + slack; });
}

struct Case {
  LinearRgb colour;
  float gain;
};

/// Colours of all 8-bit codes at random, dark ones as often as light ones, and gains either way.
std::vector<Case> random_cases(int count) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> part(0, 1);
  std::vector<Case> cases;
  for (int i = 0; i < count; ++i) {
    const float scale = std::pow(part(random), 3.0F);
    const auto channel = [&] { return std::round(65535 * scale * part(random)) / 65535; };
    cases.push_back({{channel(), channel(), channel()}, std::exp2(8 * part(random) - 2)});
  }
  return cases;
}

TEST(Hue, RootsAreThoseOfCie) {
  for (int i = 0; i <= 100'000; ++i) {
    const auto x = static_cast<float>(i) / 100'000;
    ASSERT_NEAR(lab_root(x), root_of(x), 4e-7) << x;
    ASSERT_NEAR(lab_power(lab_root(x)), x, 1e-6) << x;
  }
}

TEST(Hue, StaysWithLuminanceAndAsMuchChromaAsThereIs) {
  double worst_part = 1;
  int reduced = 0;
  for (const auto& [colour, gain] : random_cases(100'000)) {
    const Colour before = roots_of({colour.red, colour.green, colour.blue});
    const LinearRgb mapped = at_same_hue(colour, gain);
    Colour result{mapped.red, mapped.green, mapped.blue};
    SCOPED_TRACE(testing::Message()
                 << colour.red << " " << colour.green << " " << colour.blue << " times " << gain);
    ASSERT_TRUE(is_srgb(result, 1e-4)) << mapped.red << " " << mapped.green << " " << mapped.blue;
    const bool cut = !is_srgb(result, 2e-5);
    for (double& channel : result)
      channel = std::clamp(channel, 0.0, 1.0);
    const double luminance = std::min(1.0, gain * power_of(before[1]));
    const Colour after = roots_of(result);
    ASSERT_NEAR(power_of(after[1]), luminance, cut ? 1e-4 : 2e-5);

    const double grown = root_of(luminance) / before[1];
    const double a = 500 * (before[0] - before[1]) * grown;
    const double b = 200 * (before[1] - before[2]) * grown;
    const double mapped_a = 500 * (after[0] - after[1]);
    const double mapped_b = 200 * (after[1] - after[2]);
    // The part of the line from gray to (a, b) at which it lies, and how far beside it.
    const double length = std::hypot(a, b);
    if (length < 0.01) continue;
    ASSERT_NEAR((a * mapped_b - b * mapped_a) / length, 0, cut ? 0.1 : 0.02) << "beside its hue";
    const double part = (a * mapped_a + b * mapped_b) / (length * length);
    ASSERT_LT(part, 1 + 1e-3);
    const auto at = [&](double s) {
      const double root = root_of(luminance);
      return colour_from({root + s * a / 500, root, root - s * b / 200});
    };
    if (is_srgb(at(1), 0)) {
      ASSERT_NEAR(part, 1, 1e-3);
    } else {
      double inside = 0;
      double outside = 1;
      for (int i = 0; i < 40; ++i) {
        const double middle = (inside + outside) / 2;
        (is_srgb(at(middle), 1e-9) ? inside : outside) = middle;
      }
      if (inside * length < 0.5) continue;  // next to white nothing is left to see
      worst_part = std::min(worst_part, part / inside);
      ++reduced;
    }
  }
  EXPECT_GT(reduced, 5'000);
  EXPECT_GT(worst_part, 0.9);
}

TEST(Hue, EveryTargetHasTheBitsOfPlainCpp) {
  const std::vector<Case> cases = random_cases(5003);
  struct Rows {
    std::vector<float> red, green, blue, gain;
  } in;
  for (const auto& [colour, gain] : cases) {
    in.red.push_back(colour.red);
    in.green.push_back(colour.green);
    in.blue.push_back(colour.blue);
    in.gain.push_back(gain);
  }
  for (auto* row : {&in.red, &in.green, &in.blue, &in.gain})
    row->resize(cases.size() + kRowSlack);
  const auto mapped_by = [&](const HueRows& loops) {
    Rows rows = in;
    loops.map(rows.red.data(), rows.green.data(), rows.blue.data(), rows.gain.data(), cases.size());
    return rows;
  };
  const Rows expected = mapped_by(scalar_hue_rows());
  ASSERT_EQ(all_hue_rows().back().target, scalar_hue_rows().target);
  for (const HueRows& loops : all_hue_rows()) {
    const Rows rows = mapped_by(loops);
    const auto same = [&](const std::vector<float>& a, const std::vector<float>& b) {
      return std::memcmp(a.data(), b.data(), cases.size() * sizeof(float)) == 0;
    };
    EXPECT_TRUE(same(rows.red, expected.red)) << loops.target;
    EXPECT_TRUE(same(rows.green, expected.green)) << loops.target;
    EXPECT_TRUE(same(rows.blue, expected.blue)) << loops.target;
  }
}

/// Fields of all hues over a lit texture; the mean code is about 90 times `light`, and the channels
/// lie up to `tint` of it away.
Image colourful(const ImageDesc& desc, double light, double tint) {
  Image picture(desc);
  Image detail({PixelFormat::gray8, desc.width, desc.height});
  test::fill(detail.view(), test::Content::natural, 9);
  for (int y = 0; y < desc.height; ++y) {
    for (int x = 0; x < desc.width; ++x) {
      const double gray = detail.view().row(0, y)[x] * light;
      const double hue = 6.2831853 * (x / 40 + 7 * (y / 30)) / 23.0;
      for (int c = 0; c < 3; ++c) {
        picture.view().row(0, y)[3 * x + c] = static_cast<std::uint8_t>(
            std::clamp(gray * (1 + tint * std::cos(hue + 2.0944 * c)), 0.0, 255.0));
      }
    }
  }
  return picture;
}

/// Mean hue error in degrees that equalization in a space leaves.
double hue_error(const Image& in, Space space, double strength) {
  EqualizeParams params;
  params.space = space;
  params.strength = strength;
  Image out(in.desc());
  const auto filter = make_cpu_filter(params, {1});
  filter->configure(in.desc());
  FrameContext context;
  filter->submit(in.view(), out.view(), context);
  const quality::HueDifference hue = quality::hue_difference(in.view(), out.view());
  EXPECT_GT(hue.pixels, 20'000U);
  return hue.sum_deg / static_cast<double>(hue.pixels);
}

TEST(Hue, LightnessKeepsItBetterThanValue) {
  const ImageDesc desc{PixelFormat::bgr, 320, 180};
  const Image lit = colourful(desc, 0.6, 0.85);
  EXPECT_GT(hue_error(lit, Space::value, 0.5), 0.6);
  EXPECT_LT(hue_error(lit, Space::lightness, 0.5), 0.4 * hue_error(lit, Space::value, 0.5));
  const Image dark = colourful(desc, 0.3, 0.5);
  EXPECT_GT(hue_error(dark, Space::value, 1), 1.5);
  EXPECT_LT(hue_error(dark, Space::lightness, 1), 0.7 * hue_error(dark, Space::value, 1));
}

}  // namespace
}  // namespace equalux
