// Adaptive equalization of frames of more than 8 bits.
#include <array>
#include <cmath>
#include <cstring>
#include <random>

#include <equalux/clahe.h>
#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/clahe/deep_tiles.h"
#include "src/common/filter_recipe.h"
#include "src/cpu/clahe/deep_clahe_chain.h"
#include "tests/clahe/reference_deep_clahe.h"
#include "tests/clahe/tile_checks.h"
#include "tests/equalize/deep/deep_reference.h"
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
void expect_deep(const DeepTileRows& loops, RowExecutor& executor, const ClaheParams& params,
                 const ImageDesc& desc, Content content, int padding = 0, bool negative = false) {
  SCOPED_TRACE(std::string(loops.target) + " " + test::describe(params, desc, content));
  test::expect_defined(DeepClaheChain(params, executor, loops), desc, content, padding, negative,
                       [&](const ConstImageView& in, const ImageView& out, bool interlaced) {
                         test::reference_deep_clahe(params, in, out, interlaced);
                       });
}

class DeepClaheTargets : public testing::TestWithParam<std::size_t> {
 protected:
  static const DeepTileRows& loops() {
    static const std::vector<DeepTileRows> all = all_deep_tile_rows();
    return all[GetParam()];
  }
};

TEST_P(DeepClaheTargets, EveryFormatContentAndRangeEqualsTheDefinition) {
  RowExecutor one(1);
  for (const PixelFormat format : test::deep_formats()) {
    for (const Content content : test::all_contents()) {
      const ColorRange range = content == Content::ramp || content == Content::noise
                                   ? ColorRange::full
                                   : ColorRange::limited;
      expect_deep(loops(), one, {}, {format, 203, 37, ColorMatrix::bt709, range}, content);
    }
  }
}

TEST_P(DeepClaheTargets, EverySizeStrideAndFieldOrder) {
  RowExecutor two(2);
  const std::vector<std::pair<int, int>> sizes{{1, 1}, {1, 7},  {7, 1},   {2, 2},    {3, 3},
                                               {5, 6}, {64, 4}, {65, 10}, {129, 11}, {1057, 6}};
  for (const PixelFormat format : test::deep_formats()) {
    for (const auto& [width, height] : sizes) {
      const CellCount cells = cells_of({format, width, height});
      for (const int padding : {0, 29}) {
        const ClaheParams params =
            with_tiles(std::min(cells.columns, width > 1000 ? 2 : 3), std::min(cells.rows, 2));
        expect_deep(loops(), two, params, {format, width, height}, Content::noise, padding,
                    padding != 0);
      }
    }
  }
}

TEST_P(DeepClaheTargets, EveryTileCountMatrixAndRange) {
  RowExecutor two(2);
  for (const auto& [x, y] : {std::pair{1, 1}, {1, 16}, {16, 1}, {16, 16}, {13, 7}}) {
    for (const PixelFormat format : {PixelFormat::gray16_le, PixelFormat::bgr48_le,
                                     PixelFormat::p010_10le, PixelFormat::y444_16le}) {
      for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
        expect_deep(loops(), two, with_tiles(x, y), {format, 167, 39, ColorMatrix::bt2020, range},
                    Content::natural);
      }
    }
  }
}

TEST_P(DeepClaheTargets, WithoutLimitsTheCurvesArePlain) {
  RowExecutor two(2);
  for (const Scaler scaler : {Scaler::max_abs, Scaler::min_max, Scaler::min_max_nonzero}) {
    for (const PixelFormat format :
         {PixelFormat::rgb48_le, PixelFormat::gray16_le, PixelFormat::i420_12le}) {
      ClaheParams params = with_tiles(4, 4);
      params.curve.clip_limit = 0;
      params.curve.scaler = scaler;
      for (const Content content : {Content::natural, Content::noise, Content::constant})
        expect_deep(loops(), two, params, {format, 192, 64}, content);
    }
  }
}

/// Frames over 1 MiB are written past the caches.
TEST_P(DeepClaheTargets, StreamedFramesEqualTheDefinition) {
  RowExecutor two(2);
  expect_deep(loops(), two, {}, {PixelFormat::rgba64_le, 603, 222}, Content::noise);
  expect_deep(loops(), two, {}, {PixelFormat::p010_10le, 803, 445}, Content::natural);
  expect_deep(loops(), two, {}, {PixelFormat::i422_10le, 801, 333}, Content::noise);
}

INSTANTIATE_TEST_SUITE_P(Targets, DeepClaheTargets,
                         testing::Range(std::size_t{0}, all_deep_tile_rows().size()),
                         [](const auto& info) {
                           return std::string(all_deep_tile_rows()[info.param].target);
                         });

/// A target that quietly fell back to plain C++ would pass all of the above.
TEST(DeepClahe, EveryVectorTargetHasLoopsOfItsOwn) {
  std::vector<std::string_view> with_loops;
  for (const DeepTileRows& loops : all_deep_tile_rows()) {
    with_loops.push_back(loops.target);
    if (loops.target == "scalar") continue;
    EXPECT_NE(loops.apply_yuv, scalar_deep_tile_rows().apply_yuv) << loops.target;
  }
  EXPECT_EQ(with_loops.size(), all_deep_rows().size());
}

/// Calls use(a, b) for every pair of samples of two frames whose planes have the same samples, as
/// values without unused bits.
template <typename Use>
void for_samples(const ConstImageView& a, const ConstImageView& b, const Use& use) {
  const auto at = [](const ConstImageView& view, int plane, int y, std::size_t i) {
    const FormatTraits& t = traits(view.desc.format);
    const std::uint8_t* row = view.row(plane, y);
    if (t.depth == 8) return static_cast<int>(row[i]);
    std::uint16_t word;
    std::memcpy(&word, row + 2 * i, sizeof word);
    return word >> t.shift;
  };
  for (int plane = 0; plane < traits(a.desc.format).planes; ++plane) {
    const auto n = row_bytes(a.desc, plane) / static_cast<std::size_t>(sample_bytes(a.desc.format));
    for (int y = 0; y < plane_rows(a.desc, plane); ++y) {
      for (std::size_t i = 0; i < n; ++i)
        use(at(a, plane, y, i), at(b, plane, y, i));
    }
  }
}

/// The farthest that two frames are apart, in levels of 8 bits.
double farthest(const ConstImageView& a, const ConstImageView& b) {
  int most = 0;
  for_samples(a, b, [&](int x, int y) { most = std::max(most, std::abs(x - y)); });
  return most / static_cast<double>(1 << (traits(a.desc.format).depth - 8));
}

/// What the steps' roundings cost: weights are rounded down to 256ths of the way.
TEST(DeepClahe, IsNearTheExactMean) {
  for (const PixelFormat format : {PixelFormat::rgb48_le, PixelFormat::gray16_le,
                                   PixelFormat::p010_10le, PixelFormat::y444_12le}) {
    for (const Content content : {Content::natural, Content::noise, Content::ramp}) {
      Image in({format, 319, 201});
      Image exact(in.desc());
      test::fill(in.view(), content, 3);
      const ClaheParams params = with_tiles(5, 4);
      test::exact_deep_clahe(params, in.view(), exact.view());
      const Image out = filtered(params, in.view());
      EXPECT_LE(farthest(exact.view(), out.view()), 1)
          << to_string(format) << " " << test::name_of(content);
    }
  }
}

TEST(DeepClahe, OneTileIsEqualizationButForARoundedCurve) {
  for (const PixelFormat format : test::deep_formats()) {
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
      // A 256th of a level in the curve, times what chroma may have of v.
      const double step = 1.0 / (1 << (traits(format).depth - 8));
      EXPECT_LE(farthest(expected.view(), out.view()), std::max(step, 0.05))
          << to_string(format) << " " << test::name_of(content);
    }
  }
}

TEST(DeepClahe, StrengthZeroLeavesTheFrame) {
  ClaheParams params;
  params.curve.strength = 0;
  for (const PixelFormat format : test::deep_formats()) {
    for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
      for (const Content content : test::all_contents()) {
        Image in({format, 203, 77, ColorMatrix::bt601, range});
        test::fill(in.view(), content, 9);
        EXPECT_EQ(test::count_differences(in.view(), filtered(params, in.view()).view()), 0U)
            << test::describe(in.desc(), content);
      }
    }
  }
}

/// A frame of 8 bits, and the same picture in a format of more: samples times `times`.
struct SamePicture {
  SamePicture(const ImageDesc& desc, PixelFormat format, int times, bool coloured)
      : eight(desc), deep({format, desc.width, desc.height, desc.matrix, desc.range}) {
    test::fill(eight.view(), Content::natural, 4);
    for (int plane = 0; plane < traits(desc.format).planes; ++plane) {
      for (int y = 0; y < plane_rows(desc, plane); ++y) {
        std::uint8_t* row = eight.view().row(plane, y);
        if (plane > 0 && !coloured) std::fill_n(row, row_bytes(desc, plane), std::uint8_t{128});
        for (std::size_t i = 0; i < row_bytes(desc, plane); ++i) {
          const auto word = static_cast<std::uint16_t>((row[i] * times) << traits(format).shift);
          std::memcpy(deep.view().row(plane, y) + 2 * i, &word, sizeof word);
        }
      }
    }
  }
  Image eight;
  Image deep;
};

/// 10-bit samples that are four times those of 8 bits, and the like: the same picture.
TEST(DeepClahe, ThePictureOfEightBitsLooksTheSame) {
  struct Same {
    PixelFormat eight;
    PixelFormat deep;
    ColorRange range;
    int times;
  };
  constexpr auto kLimited = ColorRange::limited;
  constexpr auto kFull = ColorRange::full;
  for (const Same& same : {Same{PixelFormat::nv12, PixelFormat::p010_10le, kLimited, 4},
                           Same{PixelFormat::nv12, PixelFormat::p012_le, kLimited, 16},
                           Same{PixelFormat::nv12, PixelFormat::p016_le, kLimited, 256},
                           Same{PixelFormat::i420, PixelFormat::i420_10le, kLimited, 4},
                           Same{PixelFormat::y42b, PixelFormat::i422_12le, kLimited, 16},
                           Same{PixelFormat::y444, PixelFormat::y444_16le, kLimited, 256},
                           Same{PixelFormat::gray8, PixelFormat::gray16_le, kFull, 257},
                           Same{PixelFormat::rgb, PixelFormat::rgb48_le, kFull, 257},
                           Same{PixelFormat::argb, PixelFormat::argb64_le, kFull, 257}}) {
    for (const bool coloured : {true, false}) {
      const SamePicture in({same.eight, 320, 180, ColorMatrix::bt709, same.range}, same.deep,
                           same.times, coloured);
      const Image out = filtered({}, in.eight.view());
      const Image deep = filtered({}, in.deep.view());
      double most = 0;
      double sum = 0;
      double count = 0;
      for_samples(out.view(), deep.view(), [&](int level, int code) {
        const double off = std::abs(static_cast<double>(code) / same.times - level);
        most = std::max(most, off);
        sum += off;
        ++count;
      });
      // V of colours in YCbCr is rounded to a level in 8 bits, and a curve of clip limit 2 makes
      // two of it.
      const bool v_is_rounded = coloured && traits(same.eight).model == ColorModel::yuv;
      EXPECT_LT(most, v_is_rounded ? 3.2 : 0.54) << to_string(same.deep) << coloured;
      EXPECT_LT(sum / count, v_is_rounded ? 0.5 : 0.27) << to_string(same.deep) << coloured;
    }
  }
}

/// Brighter in is never darker out at the same place, whatever is mixed there.
TEST(DeepClahe, KeepsTheOrderOfGray) {
  std::mt19937 random(5);
  for (const PixelFormat format :
       {PixelFormat::gray16_le, PixelFormat::p010_10le, PixelFormat::i420_12le}) {
    for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
      const deep_tiles::Form form = deep_tiles::form_of({format, 8, 8, ColorMatrix::bt709, range});
      const auto last = static_cast<std::size_t>(coarse_max(form.samples));
      for (int round = 0; round < 20; ++round) {
        // Curves that rise, with steps and flat parts, and end at white.
        std::array<std::array<std::uint32_t, 257>, 2> curve{};
        for (auto& levels : curve) {
          for (std::size_t i = 1; i <= last; ++i)
            levels[i] =
                random() % 3 == 0 ? static_cast<std::uint32_t>(random() % 65281) : levels[i - 1];
          std::sort(levels.begin(), levels.begin() + static_cast<std::ptrdiff_t>(last) + 1);
          levels[last] = static_cast<std::uint32_t>(last) * deep_tiles::kLevel;
          for (std::size_t i = 0; i <= last; ++i)
            levels[i] = std::min(levels[i], levels[last]);
          levels[last + 1] = levels[last];
        }
        const auto of_right = static_cast<std::uint32_t>(random() % 257);
        std::int32_t before = 0;
        for (std::int32_t v = 0; v <= form.samples.weights.luma_max; ++v) {
          const deep_tiles::Place place = deep_tiles::place_of(form, v);
          const auto i = static_cast<std::size_t>(place.level);
          const float value = deep_tiles::value_of(
              form, {curve[0][i], curve[1][i], curve[0][i + 1], curve[1][i + 1]}, place.beyond,
              of_right);
          const float gain = deep_tiles::gain_of(value, v);
          const std::int32_t gray = deep_tiles::scaled(v, v, value, gain);
          ASSERT_GE(gray, before) << "v " << v;
          ASSERT_LE(gray, form.samples.weights.luma_max) << "v " << v;
          ASSERT_EQ(deep_tiles::scaled(0, v, value, gain), 0) << "v " << v;
          before = gray;
        }
        EXPECT_EQ(before, form.samples.weights.luma_max);
      }
    }
  }
}

ClaheParams calm_deep() {
  ClaheParams params = with_tiles(4, 3);
  params.curve.temporal_ms = 1000;
  params.curve.brighten_ms = 400;
  params.curve.max_gain = 6;
  params.curve.min_gain = 0.5;
  return params;
}

TEST(DeepClaheOverTime, GoesOnFromSavedState) {
  for (const PixelFormat format :
       {PixelFormat::p010_10le, PixelFormat::rgb48_le, PixelFormat::i420_12le}) {
    test::expect_goes_on_from_saved_state(calm_deep(), {format, 160, 90});
  }
}

/// The history is one of coarse levels: that of 8 bits fits frames of 10 of the same range.
TEST(DeepClaheOverTime, AStateOfEightBitsGoesOn) {
  const ImageDesc eight{PixelFormat::nv12, 160, 90};
  ImageDesc ten = eight;
  ten.format = PixelFormat::p010_10le;
  const auto before = make_cpu_filter(calm_deep(), {1});
  before->configure(eight);
  Image in(eight);
  for (int i = 0; i < 5; ++i) {
    test::fill_moving(in.view(), i + 20);
    FrameContext context = test::moving_context(i);
    before->submit(in.view(), in.view(), context);
  }
  const auto after = make_cpu_filter(calm_deep(), {1});
  after->configure(ten);
  after->load(before->save());
  EXPECT_EQ(after->save(), before->save());
  ten.range = ColorRange::full;
  after->configure(ten);
  EXPECT_THROW(after->load(before->save()), Error);
}

TEST(DeepClaheOverTime, TakesOtherParametersBetweenFrames) {
  const ImageDesc desc{PixelFormat::p010_10le, 160, 90};
  ClaheParams other = with_tiles(4, 3);
  other.curve.clip_limit = 6;
  other.curve.strength = 0.5;
  const auto filter = make_cpu_filter(with_tiles(4, 3), {1});
  filter->configure(desc);
  Image in(desc);
  Image out(desc);
  test::fill(in.view(), Content::natural, 3);
  FrameContext context;
  filter->submit(in.view(), out.view(), context);
  EXPECT_GT(test::count_differences(out.view(), filtered(other, in.view()).view()), 1000U);
  ASSERT_TRUE(retune(*filter, other));
  filter->submit(in.view(), out.view(), context);
  EXPECT_EQ(test::count_differences(out.view(), filtered(other, in.view()).view()), 0U);
}

TEST(DeepClaheOptions, EveryFormatOfPicturesIsTaken) {
  for (int f = 0; f < kPixelFormatCount; ++f) {
    const auto format = static_cast<PixelFormat>(f);
    const ImageDesc desc{format, 64, 64};
    if (traits(format).model == ColorModel::real) {
      EXPECT_THAT(violations(ClaheParams{}, Backend::cpu, &desc),
                  ElementsAre(HasSubstr("must be gray, packed RGB or YUV")));
    } else {
      EXPECT_THAT(violations(ClaheParams{}, Backend::cpu, &desc), IsEmpty());
      ClaheParams coloured;
      coloured.curve.saturation = 1.5;
      EXPECT_THAT(violations(coloured, Backend::cpu, &desc), IsEmpty());
      EXPECT_THAT(violations(coloured, Backend::cuda, &desc), IsEmpty());
    }
  }
  const ImageDesc small{PixelFormat::p010_10le, 9, 6};
  EXPECT_THAT(violations(with_tiles(6, 3), Backend::cpu, &small),
              ElementsAre(HasSubstr("must be at most 5,3")));
}

}  // namespace
}  // namespace equalux
