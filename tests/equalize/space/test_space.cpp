// What is equalized: luma and lightness beside value.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/cpu/equalize/curve_maker.h"
#include "src/equalize/space.h"
#include "src/format/layout.h"
#include "tests/equalize/deep/deep_reference.h"
#include "tests/support/filter_changes.h"
#include "tests/support/media/moving_frames.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using test::Content;
using test::PaddedImage;

EqualizeParams in_space(Space space) {
  EqualizeParams params;
  params.space = space;
  return params;
}

double linear(double code) {
  const double c = code / 255;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

double encoded(double light) {
  return 255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055);
}

double lightness_of(double luminance) {
  return luminance <= 216.0 / 24389 ? luminance * 24389 / 27 : 116 * std::cbrt(luminance) - 16;
}

double luminance_of_lightness(double lightness) {
  return lightness <= 8 ? lightness * 27 / 24389 : std::pow((lightness + 16) / 116, 3);
}

/// Every entry of the steps is the function rounded.
TEST(Space, TablesAreTheFunctionsRounded) {
  const SpaceTables tables = make_space_tables(Space::lightness);
  for (std::uint32_t x = 0; x < 65536; ++x) {
    const double part = x / 65535.0;
    ASSERT_EQ(tables.codes.at(x), std::lround(encoded(part))) << x;
    ASSERT_EQ(tables.levels.at(x), std::lround(lightness_of(part) * 2.55)) << x;
  }
  for (std::uint32_t code = 0; code < 256; ++code) {
    EXPECT_EQ(tables.light[code], std::lround(65535 * linear(code)));
    EXPECT_EQ(tables.codes.at(tables.light[code]), code) << "there and back";
    EXPECT_EQ(space_level(Space::luma, make_space_tables(Space::luma), code, code, code), code);
  }
}

TEST(Space, LuminanceOfACurveIsExactEnough) {
  double before = -1;
  for (std::uint64_t w = 0; w <= tone::unchanged(255); w += 5001) {
    const double luminance = static_cast<double>(luminance_of(w)) / (1 << 30);
    const double lightness = static_cast<double>(w) * 100 / 255 / (1 << tone::kCurveBits);
    ASSERT_NEAR(luminance, luminance_of_lightness(lightness), 1e-8) << w;
    ASSERT_GE(luminance, before);
    before = luminance;
  }
  EXPECT_EQ(luminance_of(tone::unchanged(255)), std::uint64_t{1} << 30);
}

/// The channels of a pixel.
struct Pixel {
  int r, g, b;
};

Pixel pixel_at(const ConstImageView& view, int x, int y) {
  const RgbLayout at = rgb_layout(view.desc.format);
  const std::uint8_t* p = view.row(0, y) + at.step * x;
  return {p[at.r], p[at.g], p[at.b]};
}

/// v from real numbers.
int level_of_pixel(Space space, const Pixel& p) {
  if (space == Space::luma) {
    return static_cast<int>((13933 * p.r + 46871 * p.g + 4732 * p.b + 32768) / 65536);
  }
  const double luminance = 0.2126 * linear(p.r) + 0.7152 * linear(p.g) + 0.0722 * linear(p.b);
  return static_cast<int>(std::lround(2.55 * lightness_of(luminance)));
}

/// What a pixel becomes, channel by channel; `curve` is W. What keeps its hue, and at what chroma
/// sRGB ends, is tested in test_hue.cpp.
std::array<double, 3> scaled_pixel(Space space, const Pixel& pixel, std::uint32_t v,
                                   std::uint32_t curve) {
  const std::array<int, 3> codes{pixel.r, pixel.g, pixel.b};
  std::array<double, 3> scaled{};
  if (v == 0 || curve == tone::unchanged(v)) {
    std::ranges::copy(codes, scaled.begin());
  } else if (space == Space::luma) {
    const double level = curve / static_cast<double>(1 << tone::kCurveBits);
    std::ranges::transform(codes, scaled.begin(),
                           [&](int code) { return std::min(255.0, code * level / v); });
  } else {
    const auto light = [](int code) {
      return static_cast<float>(std::lround(65535 * linear(code))) / 65535;
    };
    const LinearRgb mapped = at_same_hue({light(pixel.r), light(pixel.g), light(pixel.b)},
                                         light_gain(space_gain(space, v, curve)));
    scaled = {encoded(std::clamp(mapped.red, 0.0F, 1.0F)),
              encoded(std::clamp(mapped.green, 0.0F, 1.0F)),
              encoded(std::clamp(mapped.blue, 0.0F, 1.0F))};
  }
  return scaled;
}

/// One frame, compared with the formula in real numbers: off by the rounding at most.
void expect_formula(const EqualizeParams& params, const ImageDesc& desc, Content content,
                    int padding = 0, bool negative = false) {
  SCOPED_TRACE(std::string(to_string(desc.format)) + " " + test::name_of(content) + " " +
               std::string(enum_name(params.space)) + " " + std::to_string(desc.width) + "x" +
               std::to_string(desc.height));
  PaddedImage in(desc, padding, negative, padding % 5);
  PaddedImage out(desc, padding, negative, padding % 3);
  test::fill(in.view(), content, 6);
  const auto filter = make_cpu_filter(params, {2});
  filter->configure(desc);
  FrameContext context;
  filter->submit(in.view(), out.view(), context);
  EXPECT_TRUE(out.padding_intact());

  const SpaceTables tables = make_space_tables(params.space);
  ValueHistogram counts{};
  int unlike = 0;
  for (int y = 0; y < desc.height; ++y) {
    for (int x = 0; x < desc.width; ++x) {
      const Pixel p = pixel_at(in.view(), x, y);
      const auto v = space_level(params.space, tables, static_cast<std::uint32_t>(p.r),
                                 static_cast<std::uint32_t>(p.g), static_cast<std::uint32_t>(p.b));
      ++counts[v];
      const int wanted = level_of_pixel(params.space, p);
      ASSERT_LE(std::abs(static_cast<int>(v) - wanted), 1);
      unlike += static_cast<int>(v) != wanted ? 1 : 0;
    }
  }
  // Weights and light of 16 bits put hardly a pixel on the other side of a half.
  EXPECT_LE(unlike, params.space == Space::luma ? 0 : desc.width * desc.height / 50 + 1);
  CurveMaker maker;
  maker.configure(255);
  maker.set_bins(params.bins == 0 ? 256 : params.bins);
  tone::Control control(params);
  const CurveTable& curve = maker.make(counts, control.next({}));
  const RgbLayout at = rgb_layout(desc.format);
  for (int y = 0; y < desc.height; ++y) {
    for (int x = 0; x < desc.width; ++x) {
      const Pixel p = pixel_at(in.view(), x, y);
      const Pixel q = pixel_at(out.view(), x, y);
      const auto v = space_level(params.space, tables, static_cast<std::uint32_t>(p.r),
                                 static_cast<std::uint32_t>(p.g), static_cast<std::uint32_t>(p.b));
      const std::array<double, 3> wanted = scaled_pixel(params.space, p, v, curve[v]);
      const std::array<int, 3> codes{p.r, p.g, p.b};
      const std::array<int, 3> results{q.r, q.g, q.b};
      for (std::size_t c = 0; c < 3; ++c) {
        // Half a unit of light of 16 bits is 0.03 of a dark code.
        const double light = params.space == Space::luma ? 0 : 0.035;
        ASSERT_NEAR(results[c], wanted[c], 0.501 + light) << codes[c] << " at level " << v;
      }
      if (at.alpha >= 0) {
        ASSERT_EQ(in.view().row(0, y)[at.step * x + at.alpha],
                  out.view().row(0, y)[at.step * x + at.alpha]);
      }
    }
  }
  filter->reset();
  filter->submit(in.view(), in.view(), context);
  EXPECT_EQ(test::count_differences(in.view(), out.view()), 0U) << "in place";
}

TEST(Space, EveryPackedFormatAndContentFollowsTheFormula) {
  for (const PixelFormat format : test::rgb_formats()) {
    for (const Space space : {Space::luma, Space::lightness}) {
      for (const Content content : test::all_contents()) {
        expect_formula(in_space(space), {format, 97, 41}, content);
      }
      expect_formula(in_space(space), {format, 1, 1}, Content::noise);
      expect_formula(in_space(space), {format, 33, 7}, Content::noise, 5, true);
    }
  }
}

TEST(Space, OptionsOfTheCurveApply) {
  for (const Space space : {Space::luma, Space::lightness}) {
    EqualizeParams params = in_space(space);
    params.strength = 0.6;
    params.clip_limit = 3;
    params.max_gain = 4;
    params.bins = 90;
    params.scaler = Scaler::min_max_nonzero;
    expect_formula(params, {PixelFormat::bgr, 120, 67}, Content::natural);
    params.strength = 0;
    const ImageDesc desc{PixelFormat::rgb, 64, 32};
    Image in(desc);
    Image out(desc);
    test::fill(in.view(), Content::noise, 8);
    const auto filter = make_cpu_filter(params, {1});
    filter->configure(desc);
    FrameContext context;
    filter->submit(in.view(), out.view(), context);
    EXPECT_EQ(test::count_differences(in.view(), out.view()), 0U) << enum_name(space);
  }
}

/// A deep or shallow YUV frame from the definition, for one luma sample a chroma sample.
TEST(Space, LumaOfYuvCountsLumaAlone) {
  for (const PixelFormat format : {PixelFormat::y444, PixelFormat::y444_10le,
                                   PixelFormat::y444_12le, PixelFormat::y444_16le}) {
    for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
      for (const Content content : {Content::natural, Content::noise, Content::nearly_flat}) {
        const ImageDesc desc{format, 83, 31, ColorMatrix::bt709, range};
        SCOPED_TRACE(std::string(to_string(format)) + " " + test::name_of(content));
        const bool deep = has_deep_samples(format);
        const int depth = traits(format).depth;
        const int black = range == ColorRange::limited ? 16 << (depth - 8) : 0;
        const int most = (1 << depth) - 1;
        const int m = range == ColorRange::limited ? 219 << (depth - 8) : most;
        const int middle = 1 << (depth - 1);
        Image in(desc);
        Image out(desc);
        test::fill(in.view(), content, 3);
        const auto filter = make_cpu_filter(in_space(Space::luma), {1});
        filter->configure(desc);
        FrameContext context;
        filter->submit(in.view(), out.view(), context);
        const auto code = [&](const ImageView& view, int plane, int x, int y) {
          const std::uint8_t* row = view.row(plane, y);
          return deep ? row[2 * x] + 256 * row[2 * x + 1] : row[x];
        };
        const auto value = [&](int luma) { return std::clamp(luma - black, 0, m); };
        std::vector<int> cdf(static_cast<std::size_t>(m) + 1);
        for (int y = 0; y < desc.height; ++y) {
          for (int x = 0; x < desc.width; ++x)
            ++cdf[static_cast<std::size_t>(value(code(in.view(), 0, x, y)))];
        }
        for (std::size_t v = 1; v < cdf.size(); ++v)
          cdf[v] += cdf[v - 1];
        for (int y = 0; y < desc.height; ++y) {
          for (int x = 0; x < desc.width; ++x) {
            const int luma = code(in.view(), 0, x, y);
            const int v = value(luma);
            const double curve =
                1.0 * m * cdf[static_cast<std::size_t>(v)] / (desc.width * desc.height);
            const double gain = luma < black || v == 0 ? 1 : curve / v;
            const double wanted = std::min<double>(most, black + (luma - black) * gain);
            ASSERT_NEAR(code(out.view(), 0, x, y), wanted, 0.5001);
            for (int plane = 1; plane < 3; ++plane) {
              const double c = middle + (code(in.view(), plane, x, y) - middle) * gain;
              ASSERT_NEAR(code(out.view(), plane, x, y), std::clamp<double>(c, 0, most), 0.5001);
            }
          }
        }
      }
    }
  }
}

/// Every YUV layout scales luma as 4:4:4 does, and gray is its own luma.
TEST(Space, LumaIsTheSameInEveryLayout) {
  const auto luma_of = [](PixelFormat format, Space space) {
    const ImageDesc desc{format, 64, 34, ColorMatrix::bt709, ColorRange::full};
    Image in(desc);
    Image out(desc);
    test::fill(in.view(), Content::noise, 5);
    for (int y = 0; y < desc.height; ++y) {
      for (int x = 0; x < desc.width; ++x)
        in.view().row(0, y)[x] = static_cast<std::uint8_t>(x * y);
    }
    const auto filter = make_cpu_filter(in_space(space), {1});
    filter->configure(desc);
    FrameContext context;
    filter->submit(in.view(), out.view(), context);
    const std::vector<std::uint8_t> bytes = test::tight_copy(out.view());
    return std::vector<std::uint8_t>(bytes.begin(), bytes.begin() + 64 * 34);
  };
  const auto expected = luma_of(PixelFormat::y444, Space::luma);
  EXPECT_EQ(luma_of(PixelFormat::i420, Space::luma), expected);
  EXPECT_EQ(luma_of(PixelFormat::nv12, Space::luma), expected);
  EXPECT_EQ(luma_of(PixelFormat::y42b, Space::luma), expected);
  EXPECT_EQ(luma_of(PixelFormat::gray8, Space::luma), expected);
  EXPECT_EQ(luma_of(PixelFormat::gray8, Space::value), expected);
  EXPECT_NE(luma_of(PixelFormat::y444, Space::value), expected);
}

TEST(Space, StateGoesOnInAnotherFilter) {
  EqualizeParams params = in_space(Space::lightness);
  params.temporal_ms = 400;
  params.clip_limit = 2;
  const ImageDesc desc{PixelFormat::rgba, 73, 37};
  const auto make = [&] {
    auto filter = make_cpu_filter(params, {1});
    filter->configure(desc);
    return filter;
  };
  const auto whole = make();
  auto part = make();
  const auto step = [&](Filter& filter, int number) {
    Image in(desc);
    Image out(desc);
    test::fill_moving(in.view(), number);
    FrameContext context;
    context.pts_ns = number * std::int64_t{40'000'000};
    filter.submit(in.view(), out.view(), context);
    return test::tight_copy(out.view());
  };
  for (int number = 0; number < 20; ++number) {
    ASSERT_EQ(step(*whole, number), step(*part, number));
  }
  const std::string state = part->save();
  part = make();
  part->load(state);
  for (int number = 20; number < 30; ++number) {
    ASSERT_EQ(step(*whole, number), step(*part, number)) << number;
  }
  part->reset();
  EXPECT_EQ(step(*part, 3), step(*make(), 3));
  params.strength = 0.5;
  EXPECT_TRUE(retune(*part, params));
  params.space = Space::luma;
  EXPECT_FALSE(retune(*part, params)) << "takes a new filter";
}

std::string error_in_space(const EqualizeParams& params, const ImageDesc& desc) {
  try {
    validate(params, Backend::cpu, &desc);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "";
}

TEST(Space, FramesThatDoNotFitAreRefused) {
  using testing::HasSubstr;
  EXPECT_THAT(
      error_in_space(in_space(Space::lightness), {PixelFormat::nv12, 8, 8}),
      HasSubstr("format is nv12, must be gray8 or packed RGB of 8 bits for space lightness"));
  EXPECT_THAT(error_in_space(in_space(Space::lightness), {PixelFormat::rgb48_le, 8, 8}),
              HasSubstr("rgb48_le, must be gray8 or packed RGB of 8 bits"));
  EXPECT_THAT(error_in_space(in_space(Space::luma), {PixelFormat::rgb48_le, 8, 8}),
              HasSubstr("must be gray, YUV, or packed RGB of 8 bits for space luma"));
  EXPECT_EQ(error_in_space(in_space(Space::luma), {PixelFormat::p010_10le, 8, 8}), "");
  EqualizeParams staged = in_space(Space::luma);
  staged.chain = Chain::staged;
  EXPECT_THAT(error_in_space(staged, {PixelFormat::rgb, 8, 8}),
              HasSubstr("chain is staged, must be fused with space luma"));
  const auto lightness = make_cpu_filter(in_space(Space::lightness), {1});
  EXPECT_TRUE(lightness->accepts(PixelFormat::bgrx));
  EXPECT_FALSE(lightness->accepts(PixelFormat::i420));
}

}  // namespace
}  // namespace equalux
