#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <equalux/denoise.h>
#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/format/layout.h"
#include "tests/denoise/denoise_pictures.h"
#include "tests/denoise/reference_denoise.h"
#include "tests/support/dither_matrix.h"
#include "tests/support/filter_chain.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/test_images.h"

/// Fractions of levels between denoise and equalize, and their rounding.
namespace equalux {
namespace {

using test::component_indices;
using test::FilterChain;
using test::Grid;
using test::grids_of;
using test::kDitherMatrix;
using test::PaddedImage;

/// What frames of 8 bits become between two filters, by name.
PixelFormat fine_format(PixelFormat format) {
  const std::vector<std::pair<PixelFormat, PixelFormat>> all{
      {PixelFormat::gray8, PixelFormat::gray16_le}, {PixelFormat::rgb, PixelFormat::rgb48_le},
      {PixelFormat::bgr, PixelFormat::bgr48_le},    {PixelFormat::rgbx, PixelFormat::rgba64_le},
      {PixelFormat::bgrx, PixelFormat::bgra64_le},  {PixelFormat::xrgb, PixelFormat::argb64_le},
      {PixelFormat::xbgr, PixelFormat::abgr64_le},  {PixelFormat::rgba, PixelFormat::rgba64_le},
      {PixelFormat::bgra, PixelFormat::bgra64_le},  {PixelFormat::argb, PixelFormat::argb64_le},
      {PixelFormat::abgr, PixelFormat::abgr64_le},  {PixelFormat::nv12, PixelFormat::p012_le},
      {PixelFormat::i420, PixelFormat::i420_12le},  {PixelFormat::yuy2, PixelFormat::i422_12le},
      {PixelFormat::uyvy, PixelFormat::i422_12le},  {PixelFormat::y42b, PixelFormat::i422_12le},
      {PixelFormat::y444, PixelFormat::y444_12le}};
  for (const auto& [from, to] : all)
    if (from == format) return to;
  ADD_FAILURE() << to_string(format);
  return format;
}

ImageDesc fine_desc(ImageDesc desc) {
  desc.format = fine_format(desc.format);
  return desc;
}

/// A value in sixteenths of a level, of a frame with fractions.
int fine_value(const ConstImageView& view, int component, int x, int y) {
  const FormatTraits& format = traits(view.desc.format);
  const std::uint8_t* at = samples_of(view, component).at(x, y);
  const int word = at[0] | at[1] << 8;
  return word >> (format.depth + format.shift - 12);
}

void set_fine_value(const ImageView& view, int component, int x, int y, int value) {
  const FormatTraits& format = traits(view.desc.format);
  std::uint8_t* at = samples_of(view, component).at(x, y);
  const int word = value << (format.depth + format.shift - 12);
  at[0] = static_cast<std::uint8_t>(word);
  at[1] = static_cast<std::uint8_t>(word >> 8);
}

/// Rounds a frame of more than 12 bits in a word, or of 12, slowly.
void round_slowly(const ConstImageView& fine, Dither dither, const ImageView& out) {
  const FormatTraits& format = traits(fine.desc.format);
  const int bits = format.depth - 8;
  for (const int component : component_indices(fine.desc.format)) {
    const auto from = samples_of(fine, component);
    const auto to = samples_of(out, component);
    for (int y = 0; y < from.rows; ++y) {
      for (int x = 0; x < from.columns; ++x) {
        const int value = (from.at(x, y)[0] | from.at(x, y)[1] << 8) >> format.shift;
        const double threshold =
            dither == Dither::none
                ? std::pow(2, bits - 1)
                : std::floor((kDitherMatrix[y % 8][x % 8] + 0.5) / 64 * (1 << bits));
        const double level = std::floor((value + threshold) / (1 << bits));
        *to.at(x, y) = static_cast<std::uint8_t>(std::min(level, 255.0));
      }
    }
  }
  const int alpha = traits(out.desc.format).alpha_offset;
  for (int y = 0; alpha >= 0 && y < out.desc.height; ++y)
    for (int x = 0; x < out.desc.width; ++x)
      out.row(0, y)[4 * x + alpha] = fine.row(0, y)[8 * x + format.alpha_offset + 1];
}

/// Samples that differ, those of alpha too.
int count_unlike(const ConstImageView& a, const ConstImageView& b) {
  int wrong = 0;
  for (const int component : component_indices(a.desc.format)) {
    const auto from = samples_of(a, component);
    const auto to = samples_of(b, component);
    for (int y = 0; y < from.rows; ++y)
      for (int x = 0; x < from.columns; ++x)
        wrong += *from.at(x, y) != *to.at(x, y) ? 1 : 0;
  }
  const int alpha = traits(a.desc.format).alpha_offset;
  for (int y = 0; alpha >= 0 && y < a.desc.height; ++y)
    for (int x = 0; x < a.desc.width; ++x)
      wrong += a.row(0, y)[4 * x + alpha] != b.row(0, y)[4 * x + alpha] ? 1 : 0;
  return wrong;
}

FilterChain::Filters filters_of(const std::vector<const char*>& specs, int threads = 1) {
  FilterChain::Filters filters;
  for (const char* spec : specs)
    filters.push_back(make_cpu_filter(parse_filter_spec(spec), {}, {threads}));
  return filters;
}

FilterChain chain_of(const std::vector<const char*>& specs, const ImageDesc& desc,
                     int threads = 1) {
  return {filters_of(specs, threads), desc};
}

/// Small frames tell nobody their noise.
const DenoiseParams kNoisy{.noise = 3};

/// A slope with noise, another one each frame.
void fill_noisy(const ImageView& view, int frame, double slope = 0.4, double sigma = 3) {
  std::mt19937 random(static_cast<unsigned>(frame) + 1);
  std::normal_distribution<double> noise(0, sigma);
  test::fill(view, test::Content::noise, 3);  // alpha
  for (const int component : component_indices(view.desc.format)) {
    const auto samples = samples_of(view, component);
    for (int y = 0; y < samples.rows; ++y) {
      for (int x = 0; x < samples.columns; ++x) {
        const double level = 40 + 20 * component + slope * x + noise(random);
        *samples.at(x, y) = static_cast<std::uint8_t>(std::clamp(std::lround(level), 0L, 255L));
      }
    }
  }
}

TEST(Fractions, DenoiseLeavesSixteenthsInEveryFormat) {
  for (const PixelFormat format : test::byte_formats()) {
    for (const auto& [width, height] :
         std::vector<std::pair<int, int>>{{77, 41}, {1, 1}, {2, 35}}) {
      const ImageDesc desc{format, width, height};
      SCOPED_TRACE(std::string(to_string(format)) + " " + std::to_string(width));
      const auto filter = make_cpu_filter(kNoisy, {2});
      ASSERT_TRUE(filter->takes_fractions(desc, {false, true}));
      ASSERT_FALSE(filter->takes_fractions(desc, {true, false}));
      ASSERT_EQ(filter->configure_with(desc, {false, true}), fine_desc(desc));
      test::ReferenceDenoiser reference(kNoisy);
      Image in(desc);
      PaddedImage out(fine_desc(desc), 14, format == PixelFormat::nv12, 2);
      for (int i = 0; i < 3; ++i) {
        fill_noisy(in.view(), i);
        test::fill(out.view(), test::Content::noise, 9);
        std::vector<Grid> expected = reference.process(grids_of(std::as_const(in).view()), 8, 12);
        FrameContext context;
        filter->submit(std::as_const(in).view(), out.view(), context);
        for (std::size_t c = 0; c < expected.size(); ++c) {
          const int component = component_indices(format)[c];
          for (int y = 0; y < expected[c].rows; ++y)
            for (int x = 0; x < expected[c].columns; ++x)
              ASSERT_EQ(fine_value(out.view(), component, x, y), expected[c](x, y))
                  << x << "," << y;
        }
        const int alpha = traits(format).alpha_offset;
        for (int x = 0; alpha >= 0 && x < width; ++x) {
          const std::uint8_t* word =
              out.view().row(0, 0) + 8 * x + traits(fine_format(format)).alpha_offset;
          ASSERT_EQ(word[0] | word[1] << 8, in.view().row(0, 0)[4 * x + alpha] << 8);
        }
        ASSERT_TRUE(out.padding_intact());
      }
    }
  }
}

TEST(Fractions, EqualizeRoundsThemInEveryFormat) {
  std::mt19937 random(5);
  for (const PixelFormat format : test::byte_formats()) {
    for (const auto& [width, height] :
         std::vector<std::pair<int, int>>{{130, 43}, {1, 1}, {3, 2}, {33, 17}}) {
      for (const FieldOrder order : {FieldOrder::progressive, FieldOrder::top_first}) {
        for (const Dither dither : {Dither::none, Dither::ordered}) {
          const ImageDesc desc{format, width, height, ColorMatrix::bt601,
                               width % 2 == 0 ? ColorRange::full : ColorRange::limited};
          SCOPED_TRACE(std::string(to_string(format)) + " " + std::to_string(width));
          EqualizeParams params;
          params.strength = width == 33 ? 0.7 : 1;
          const bool coloured = traits(format).model != ColorModel::gray;
          params.saturation = coloured && width != 130 ? 1.5 : 1;
          if (width == 33 && traits(format).model == ColorModel::yuv) params.space = Space::luma;
          const auto rounding = make_cpu_filter(params, {3});
          ASSERT_TRUE(rounding->takes_fractions(desc, {true, false}));
          ASSERT_EQ(rounding->configure_with(desc, {true, false}), desc);
          const auto whole = make_cpu_filter(params, {1});
          ASSERT_EQ(whole->configure(fine_desc(desc)), fine_desc(desc));
          Image in(fine_desc(desc));
          Image fine(fine_desc(desc));
          Image expected(desc);
          PaddedImage out(desc, 5, width == 33, 3);
          test::fill(in.view(), test::Content::noise, 7);
          const int alpha = traits(fine_format(format)).alpha_offset;
          for (int y = 0; alpha >= 0 && y < height; ++y)
            for (int x = 0; x < width; ++x)
              in.view().row(0, y)[8 * x + alpha] = 0;
          for (const int component : component_indices(format)) {
            const auto samples = samples_of(in.view(), component);
            for (int y = 0; y < samples.rows; ++y)
              for (int x = 0; x < samples.columns; ++x)
                set_fine_value(in.view(), component, x, y, static_cast<int>(random() % 4096));
          }
          FrameContext context;
          context.field_order = order;
          context.dither = dither;
          whole->submit(std::as_const(in).view(), fine.view(), context);
          round_slowly(std::as_const(fine).view(), dither, expected.view());
          rounding->submit(std::as_const(in).view(), out.view(), context);
          ASSERT_EQ(count_unlike(std::as_const(expected).view(), out.view()), 0);
          ASSERT_TRUE(out.padding_intact());
        }
      }
    }
  }
}

TEST(Fractions, AChainHandsThemOnWhereTheNextFilterTakesThem) {
  const ImageDesc desc{PixelFormat::nv12, 64, 48};
  const auto formats = [&desc](const std::vector<const char*>& specs, PixelFormat format) {
    ImageDesc of = desc;
    of.format = format;
    std::vector<PixelFormat> all;
    const FilterChain::Filters filters = filters_of(specs);
    for (const ImageDesc& each : configure_chain(filters, of))
      all.push_back(each.format);
    return all;
  };
  using F = PixelFormat;
  using testing::ElementsAre;
  EXPECT_THAT(formats({"denoise", "equalize"}, F::nv12), ElementsAre(F::p012_le, F::nv12));
  EXPECT_THAT(formats({"denoise", "equalize", "equalize", "clahe"}, F::nv12),
              ElementsAre(F::p012_le, F::p012_le, F::nv12, F::nv12));
  EXPECT_THAT(formats({"equalize", "denoise", "equalize"}, F::yuy2),
              ElementsAre(F::yuy2, F::i422_12le, F::yuy2));
  EXPECT_THAT(formats({"denoise", "sharpen", "equalize"}, F::nv12),
              ElementsAre(F::nv12, F::nv12, F::nv12));
  EXPECT_THAT(formats({"denoise", "clahe"}, F::nv12), ElementsAre(F::nv12, F::nv12));
  EXPECT_THAT(formats({"denoise"}, F::nv12), ElementsAre(F::nv12));
  // Where only a part of the frame counts, too; lightness and the staged chain take 8 bits alone.
  EXPECT_THAT(formats({"denoise", "equalize:surround=ignore"}, F::nv12),
              ElementsAre(F::p012_le, F::nv12));
  EXPECT_THAT(formats({"denoise", "equalize:region=10%,10%,50%,50%"}, F::i420),
              ElementsAre(F::i420_12le, F::i420));
  EXPECT_THAT(formats({"denoise", "equalize:space=lightness"}, F::bgr),
              ElementsAre(F::bgr, F::bgr));
  EXPECT_THAT(formats({"denoise", "equalize:chain=staged"}, F::bgr), ElementsAre(F::bgr, F::bgr));
  EXPECT_THAT(formats({"denoise", "equalize:space=luma"}, F::i420),
              ElementsAre(F::i420_12le, F::i420));
  // More than 8 bits are as they were.
  EXPECT_THAT(formats({"denoise", "equalize"}, F::p010_10le),
              ElementsAre(F::p010_10le, F::p010_10le));
  EXPECT_THAT(formats({}, F::nv12), ElementsAre());
}

TEST(Fractions, FramesOfMoreThanEightBitsHaveNone) {
  for (const char* const spec : {"denoise", "equalize", "clahe"}) {
    const auto filter = make_cpu_filter(parse_filter_spec(spec));
    for (const PixelFormat format : {PixelFormat::p010_10le, PixelFormat::gray16_le}) {
      const ImageDesc desc{format, 64, 48};
      for (const Fractions fractions : {Fractions{true, false}, {false, true}, {true, true}})
        EXPECT_FALSE(filter->takes_fractions(desc, fractions)) << spec;
      EXPECT_TRUE(filter->takes_fractions(desc, {})) << spec;
    }
  }
}

TEST(Fractions, LevelsThatNothingChangesComeOutAsTheyWere) {
  for (const PixelFormat format : test::byte_formats()) {
    for (const char* denoise : {"denoise:strength=0", "denoise:strength=0,dither=ordered"}) {
      for (const ColorRange range : {ColorRange::full, ColorRange::limited}) {
        SCOPED_TRACE(std::string(to_string(format)) + " " + denoise);
        const ImageDesc desc{format, 99, 35, ColorMatrix::bt709, range};
        FilterChain chain = chain_of({denoise, "equalize:strength=0"}, desc);
        ASSERT_EQ(chain.behind(0).desc.format, fine_format(format));
        Image in(desc);
        test::fill(in.view(), test::Content::noise, 2);  // every level, white too
        ASSERT_EQ(count_unlike(std::as_const(in).view(), chain.process(std::as_const(in).view())),
                  0);
      }
    }
  }
}

TEST(Fractions, DenoiseAloneRoundsItself) {
  for (const PixelFormat format : {PixelFormat::i420, PixelFormat::bgr, PixelFormat::yuy2}) {
    const ImageDesc desc{format, 75, 42};
    for (const FieldOrder order : {FieldOrder::progressive, FieldOrder::bottom_first}) {
      SCOPED_TRACE(to_string(format));
      const auto dithered = make_cpu_filter(parse_filter_spec("denoise:noise=3,dither=ordered"));
      const auto whole = make_cpu_filter(kNoisy);
      dithered->configure(desc);
      // The reference of what dither starts from has 14 bits; sixteenths do not tell enough.
      test::ReferenceDenoiser reference(kNoisy);
      whole->configure(desc);
      Image in(desc);
      Image out(desc);
      Image plain(desc);
      int differ = 0;
      for (int i = 0; i < 3; ++i) {
        fill_noisy(in.view(), i);
        FrameContext context;
        context.field_order = order;
        whole->submit(std::as_const(in).view(), plain.view(), context);
        EXPECT_EQ(context.dither, Dither::none);
        dithered->submit(std::as_const(in).view(), out.view(), context);
        EXPECT_EQ(context.dither, Dither::ordered);
        for (const int component : component_indices(format)) {
          const auto a = samples_of(std::as_const(plain).view(), component);
          const auto b = samples_of(std::as_const(out).view(), component);
          for (int y = 0; y < a.rows; ++y) {
            for (int x = 0; x < a.columns; ++x) {
              ASSERT_LE(std::abs(*a.at(x, y) - *b.at(x, y)), 1);
              differ += *a.at(x, y) != *b.at(x, y) ? 1 : 0;
            }
          }
        }
        if (order != FieldOrder::progressive) continue;
        std::vector<Grid> expected = reference.process(grids_of(std::as_const(in).view()), 8, 14);
        for (std::size_t c = 0; c < expected.size(); ++c) {
          const auto samples = samples_of(std::as_const(out).view(), component_indices(format)[c]);
          for (int y = 0; y < samples.rows; ++y)
            for (int x = 0; x < samples.columns; ++x)
              ASSERT_EQ(*samples.at(x, y),
                        std::min((expected[c](x, y) + kDitherMatrix[y % 8][x % 8]) / 64, 255));
        }
      }
      EXPECT_GT(differ, 0);
    }
  }
}

TEST(Fractions, OptionsChangeAndStatesResumeWithinAChain) {
  const ImageDesc desc{PixelFormat::i420, 80, 60};
  const std::vector<const char*> specs{"denoise:noise=3", "equalize:temporal-ms=500"};
  FilterChain all = chain_of(specs, desc);
  FilterChain first = chain_of(specs, desc);
  FilterChain second = chain_of(specs, desc, 2);
  ASSERT_EQ(all.behind(0).desc.format, PixelFormat::i420_12le);
  Image in(desc);
  FrameContext context;
  const auto at = [&context](int i) {
    context.index = static_cast<std::uint64_t>(i);
    context.pts_ns = i * 40'000'000LL;
    return context;
  };
  for (int i = 0; i < 8; ++i) {
    fill_noisy(in.view(), i);
    if (i == 2 || i == 6) {
      const OptionValues values{{"dither", i == 2 ? "ordered" : "none"}};
      for (FilterChain* chain : {&all, i < 4 ? &first : &second})
        ASSERT_TRUE(chain->filter(0).update(values));
    }
    if (i == 4) {
      ASSERT_TRUE(second.filter(0).update({{"dither", "ordered"}}));
      for (std::size_t k = 0; k < 2; ++k)
        second.filter(k).load(first.filter(k).save());
    }
    const ConstImageView whole = all.process(std::as_const(in).view(), at(i));
    FilterChain& part = i < 4 ? first : second;
    const ConstImageView resumed = part.process(std::as_const(in).view(), at(i));
    ASSERT_EQ(count_unlike(whole, resumed), 0) << "frame " << i;
  }
}

/// Levels between the 1st and the 99th per cent of pixels that no pixel has, as a share.
double empty_levels(const ConstImageView& view) {
  std::array<int, 256> counts{};
  const auto samples = samples_of(view, 0);
  for (int y = 0; y < samples.rows; ++y)
    for (int x = 0; x < samples.columns; ++x)
      ++counts[*samples.at(x, y)];
  const int all = samples.rows * samples.columns;
  int below = 0;
  int empty = 0;
  int levels = 0;
  for (const int count : counts) {
    const bool inside = below >= all / 100 && below < all - all / 100;
    levels += inside ? 1 : 0;
    empty += inside && count == 0 ? 1 : 0;
    below += count;
  }
  return static_cast<double>(empty) / levels;
}

TEST(Fractions, ADarkSlopeHasNoSteps) {
  const ImageDesc desc{PixelFormat::i420, 640, 360};
  Image in(desc);
  using Case = std::pair<const char*, double>;
  test::EveryNth second(2);
  for (const auto& [equalize, least_without] :
       {Case{"equalize", 0.5}, Case{"equalize:clip-limit=2.6,floor=1.5,max-gain=8", 0.1}}) {
    if (second.skips()) continue;
    // Rounded in between.
    FilterChain stepped = chain_of({"denoise", "gaussian:sigma=0.3", equalize}, desc);
    FilterChain smooth = chain_of({"denoise", equalize}, desc);
    FilterChain dithered = chain_of({"denoise:dither=ordered", equalize}, desc);
    for (int i = 0; i < 24; ++i) {
      fill_noisy(in.view(), i, 0.05, 1.5);
      stepped.process(std::as_const(in).view());
      smooth.process(std::as_const(in).view());
      dithered.process(std::as_const(in).view());
    }
    EXPECT_GT(empty_levels(stepped.behind(2)), least_without) << equalize;
    EXPECT_LT(empty_levels(smooth.behind(1)), 0.05) << equalize;
    EXPECT_LT(empty_levels(dithered.behind(1)), 0.05) << equalize;
  }
}

}  // namespace
}  // namespace equalux
