#include <random>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <gtest/gtest.h>

#include "src/cpu/equalize/deep/deep_chain.h"
#include "tests/equalize/deep/deep_reference.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using test::Content;
using test::PaddedImage;

/// Writes code(plane, whether it is Cb, sample of the row) to every sample.
template <typename Code>
void fill_codes(const ImageView& view, Code code) {
  const DeepSamples form = deep_samples(view.desc);
  const bool pairs = traits(view.desc.format).planes == 2;
  for (int p = 0; p < traits(view.desc.format).planes; ++p) {
    for (int y = 0; y < plane_rows(view.desc, p); ++y) {
      std::uint8_t* row = view.row(p, y);
      for (std::size_t x = 0; x < row_bytes(view.desc, p) / 2; ++x) {
        const std::uint16_t word = deep_word(form, code(p, pairs ? x % 2 == 0 : p == 1, x));
        row[2 * x] = static_cast<std::uint8_t>(word & 255);
        row[2 * x + 1] = static_cast<std::uint8_t>(word >> 8);
      }
    }
  }
}

/// One frame through the chain of every target, compared with the definition.
void expect_exact(RowExecutor& executor, const EqualizeParams& params, const ImageDesc& desc,
                  Content content, int padding = 0, bool negative = false,
                  FieldOrder order = FieldOrder::progressive) {
  SCOPED_TRACE(test::describe(desc, content) + " bins " + std::to_string(params.bins) + " " +
               std::string(enum_name(params.scaler)));
  PaddedImage expected(desc);
  {
    PaddedImage in(desc);
    test::fill(in.view(), content, 7);
    test::reference_equalize_deep(params, in.view(), expected.view(),
                                  order != FieldOrder::progressive);
  }
  FrameContext context;
  context.field_order = order;
  for (const DeepRows& loops : all_deep_rows()) {
    SCOPED_TRACE(loops.target);
    PaddedImage in(desc, padding, negative, padding % 7);
    PaddedImage out(desc, padding, negative, (padding + 3) % 5);
    test::fill(in.view(), content, 7);
    test::fill(out.view(), Content::noise, 99);
    DeepChain chain(params, executor, loops);
    chain.configure(desc);
    chain.process(in.view(), out.view(), context);
    EXPECT_EQ(test::count_differences(expected.view(), out.view()), 0u);
    EXPECT_TRUE(in.padding_intact());
    EXPECT_TRUE(out.padding_intact());
    chain.process(in.view(), in.view(), context);
    EXPECT_EQ(test::count_differences(expected.view(), in.view()), 0u) << "in place";
    EXPECT_TRUE(in.padding_intact());
  }
}

TEST(DeepChain, EveryFormatAndContentEqualsTheDefinition) {
  RowExecutor one(1);
  test::EveryNth third(3);
  for (const PixelFormat format : test::deep_formats()) {
    for (const Content content : test::all_contents())
      if (!third.skips()) expect_exact(one, {}, {format, 201, 37}, content);
  }
}

TEST(DeepChain, EverySizeStrideAndFieldOrder) {
  RowExecutor two(2);
  test::EveryNth second(2);
  const std::vector<std::pair<int, int>> sizes{{1, 1}, {1, 7}, {7, 1},  {2, 2},
                                               {3, 3}, {5, 6}, {65, 10}};
  for (const PixelFormat format : test::deep_formats()) {
    for (const auto& [width, height] : sizes) {
      for (const int padding : {0, 1, 28}) {
        if (second.skips()) continue;
        const bool negative = padding == 1;
        const FieldOrder order = padding > 1 ? FieldOrder::top_first : FieldOrder::progressive;
        expect_exact(two, {}, {format, width, height}, Content::noise, padding, negative, order);
      }
    }
  }
}

TEST(DeepChain, EveryBinCountAndScaler) {
  RowExecutor one(1);
  for (const PixelFormat format :
       {PixelFormat::i420_10le, PixelFormat::y444_12le, PixelFormat::gray16_le}) {
    for (const int bins : {2, 3, 100, 255, 1024, 5000, 65536}) {
      for (const Scaler scaler : {Scaler::max_abs, Scaler::min_max, Scaler::min_max_nonzero}) {
        for (const Content content : {Content::natural, Content::nearly_flat}) {
          EqualizeParams params;
          params.bins = bins;
          params.scaler = scaler;
          expect_exact(one, params, {format, 97, 31}, content);
        }
      }
    }
  }
}

TEST(DeepChain, EveryMatrixAndRange) {
  RowExecutor one(1);
  for (const PixelFormat format :
       {PixelFormat::p010_10le, PixelFormat::i422_12le, PixelFormat::y444_16le}) {
    for (const ColorMatrix matrix : {ColorMatrix::bt601, ColorMatrix::bt709, ColorMatrix::bt2020}) {
      for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
        for (const Content content : {Content::natural, Content::noise, Content::ramp})
          expect_exact(one, {}, {format, 131, 23, matrix, range}, content);
      }
    }
  }
}

/// Every v is 1 and T(1) is 1: a gain of M, under chroma as far from the middle as v = 1 allows.
TEST(DeepChain, LargestGainsDoNotOverflow) {
  RowExecutor one(1);
  for (const PixelFormat format : test::deep_formats()) {
    for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
      const ImageDesc desc{format, 9, 5, ColorMatrix::bt2020, range};
      SCOPED_TRACE(test::describe(desc, Content::black));
      const DeepSamples form = deep_samples(desc);
      const bool yuv = traits(format).model == ColorModel::yuv;
      const int luma = yuv ? form.weights.luma_offset : 1;
      const int cb = form.chroma_middle - 9;
      PaddedImage in(desc);
      fill_codes(in.view(), [&](int plane, bool is_cb, std::size_t) {
        return plane == 0 ? luma : (is_cb ? cb : form.chroma_middle);
      });
      PaddedImage out(desc);
      PaddedImage expected(desc);
      test::reference_equalize_deep({}, in.view(), expected.view());
      DeepChain chain({}, one, deep_rows());
      chain.configure(desc);
      chain.process(in.view(), out.view(), {});
      EXPECT_EQ(test::count_differences(expected.view(), out.view()), 0u);
      const std::uint8_t* first = out.view().row(yuv && traits(format).planes > 1 ? 1 : 0, 0);
      const int code = deep_code(form, static_cast<std::uint32_t>(first[0] + 256 * first[1]));
      EXPECT_EQ(code, yuv ? 0 : (traits(format).alpha_offset == 0 ? 1 : form.most));
    }
  }
}

/// Bits of a word beside its value are somebody else's: they change nothing and do not come out.
TEST(DeepChain, UnusedBitsAreNotRead) {
  RowExecutor one(1);
  for (const PixelFormat format : test::deep_formats()) {
    const ImageDesc desc{format, 33, 9};
    SCOPED_TRACE(to_string(format));
    const DeepSamples form = deep_samples(desc);
    PaddedImage clean(desc);
    PaddedImage dirty(desc);
    test::fill(clean.view(), Content::natural, 3);
    copy_image(clean.view(), dirty.view());
    const int unused = 0xffff & ~(form.most << form.shift);
    std::mt19937 random(11);
    for (int p = 0; p < traits(format).planes; ++p) {
      for (int y = 0; y < plane_rows(desc, p); ++y) {
        for (std::size_t x = 0; x < row_bytes(desc, p); x += 2) {
          const int bits = static_cast<int>(random()) & unused;
          dirty.view().row(p, y)[x] |= static_cast<std::uint8_t>(bits & 255);
          dirty.view().row(p, y)[x + 1] |= static_cast<std::uint8_t>(bits >> 8);
        }
      }
    }
    DeepChain chain({}, one, deep_rows());
    chain.configure(desc);
    PaddedImage expected(desc);
    PaddedImage out(desc);
    chain.process(clean.view(), expected.view(), {});
    chain.process(dirty.view(), out.view(), {});
    EXPECT_EQ(test::count_differences(expected.view(), out.view()), 0u);
  }
}

/// Luma ramps under chroma of a coarse grid: brighter in is never darker out.
TEST(DeepChain, RampsShowNoInversion) {
  RowExecutor one(1);
  for (const PixelFormat format :
       {PixelFormat::i420_10le, PixelFormat::p010_10le, PixelFormat::y444_12le}) {
    for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
      const int most = (1 << traits(format).depth) - 1;
      for (int cb = 0; cb <= most; cb += most / 3) {
        for (int cr = 0; cr <= most; cr += most / 3) {
          const ImageDesc desc{format, 2 * (most + 1), 2, ColorMatrix::bt709, range};
          const DeepSamples form = deep_samples(desc);
          Image frame(desc);
          fill_codes(frame.view(), [&](int plane, bool is_cb, std::size_t x) {
            return plane == 0 ? static_cast<int>(x / 2) : (is_cb ? cb : cr);
          });
          Image out(desc);
          DeepChain chain({}, one, deep_rows());
          chain.configure(desc);
          chain.process(frame.view(), out.view(), {});
          int before = -1;
          const std::uint8_t* row = out.view().row(0, 0);
          for (int x = 0; x < desc.width; ++x) {
            const int luma = (row[2 * x] + 256 * row[2 * x + 1]) >> form.shift;
            ASSERT_GE(luma, before)
                << to_string(format) << " cb " << cb << " cr " << cr << " x " << x;
            before = luma;
          }
        }
      }
    }
  }
}

/// A frame that uses 8 of its bits only is spread over all of them: nothing goes through 8 bits.
TEST(DeepChain, LevelsBetweenThoseOfEightBitsComeOut) {
  const ImageDesc desc{PixelFormat::gray16_le, 256, 64};
  PaddedImage in(desc);
  PaddedImage out(desc);
  std::mt19937 random(2);
  for (int y = 0; y < desc.height; ++y) {
    for (int x = 0; x < desc.width; ++x) {
      in.view().row(0, y)[2 * x] = 0;
      in.view().row(0, y)[2 * x + 1] = static_cast<std::uint8_t>(random() % 200);
    }
  }
  const auto filter = make_cpu_filter(EqualizeParams{}, {1});
  ASSERT_TRUE(filter->accepts(desc.format));
  filter->configure(desc);
  FrameContext context;
  filter->submit(in.view(), out.view(), context);
  int between = 0;
  for (int x = 0; x < desc.width; ++x)
    between += out.view().row(0, 0)[2 * x] != out.view().row(0, 0)[2 * x + 1] ? 1 : 0;
  EXPECT_GT(between, desc.width / 2);
}

TEST(DeepChain, SeveralFramesAndFormatsGoThroughOneFilter) {
  const auto filter = make_cpu_filter(EqualizeParams{}, {2});
  FrameContext context;
  for (const PixelFormat format :
       {PixelFormat::i420_10le, PixelFormat::i420, PixelFormat::p010_10le, PixelFormat::rgb48_le}) {
    const ImageDesc desc{format, 70, 34};
    EXPECT_EQ(filter->configure(desc), desc);
    for (std::uint32_t seed = 0; seed < 3; ++seed) {
      PaddedImage in(desc);
      PaddedImage out(desc);
      test::fill(in.view(), seed == 1 ? Content::black : Content::natural, seed);
      filter->submit(in.view(), out.view(), context);
      if (!has_deep_samples(format)) continue;
      PaddedImage expected(desc);
      test::reference_equalize_deep({}, in.view(), expected.view());
      EXPECT_EQ(test::count_differences(expected.view(), out.view()), 0u) << to_string(format);
    }
  }
}

TEST(DeepChain, OtherFiltersRefuseDeepFrames) {
  for (const PixelFormat format : test::deep_formats()) {
    for (const FilterInfo& info : filter_list()) {
      if (info.name == "equalize" || info.name == "denoise" || info.name == "clahe") continue;
      FilterSpec spec;
      spec.name = std::string(info.name);
      if (info.name == "convolve") spec.options = {{"kernel", "sharpen"}};
      const auto filter = make_cpu_filter(spec, {}, {1});
      EXPECT_FALSE(filter->accepts(format)) << info.name;
      try {
        filter->configure({format, 64, 64});
        FAIL() << info.name;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        EXPECT_NE(std::string(error.what()).find(to_string(format)), std::string::npos);
      }
    }
    EqualizeParams staged;
    staged.chain = Chain::staged;
    const auto filter = make_cpu_filter(staged, {1});
    EXPECT_FALSE(filter->accepts(format));
    EXPECT_THROW(filter->configure({format, 64, 64}), Error);
  }
}

}  // namespace
}  // namespace equalux
