#include <cstdlib>
#include <random>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <gtest/gtest.h>

#include "src/cpu/common/simd_targets.h"
#include "src/cpu/equalize/fused/fused_chain.h"
#include "tests/equalize/reference.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using test::Content;
using test::PaddedImage;

/// One frame through a chain of the given loops, compared with the definition.
void expect_exact(const FusedRows& loops, RowExecutor& executor, const EqualizeParams& params,
                  const ImageDesc& desc, Content content, int padding = 0, bool negative = false,
                  FieldOrder order = FieldOrder::progressive) {
  SCOPED_TRACE(std::string(loops.target) + " " + test::describe(desc, content) + " bins " +
               std::to_string(params.bins) + " " + std::string(enum_name(params.scaler)));
  PaddedImage in(desc, padding, negative, padding % 7);
  PaddedImage out(desc, padding, negative, (padding + 3) % 5);
  PaddedImage expected(desc);
  test::fill(in.view(), content, 7);
  test::fill(out.view(), Content::noise, 99);
  test::reference_equalize(params, in.view(), expected.view(), order != FieldOrder::progressive);
  FusedChain chain(params, executor, loops);
  chain.configure(desc);
  FrameContext context;
  context.field_order = order;
  chain.process(in.view(), out.view(), context);
  EXPECT_EQ(test::count_differences(expected.view(), out.view()), 0u);
  EXPECT_TRUE(in.padding_intact());
  EXPECT_TRUE(out.padding_intact());
  chain.process(in.view(), in.view(), context);
  EXPECT_EQ(test::count_differences(expected.view(), in.view()), 0u) << "in place";
  EXPECT_TRUE(in.padding_intact());
}

class FusedChainTest : public testing::TestWithParam<std::size_t> {
 protected:
  const FusedRows& loops() const {
    static const std::vector<FusedRows> all = all_fused_rows();
    return all[GetParam()];
  }
};

TEST_P(FusedChainTest, EveryFormatAndContentEqualsTheDefinition) {
  RowExecutor one(1);
  for (const PixelFormat format : test::byte_formats()) {
    for (const Content content : test::all_contents()) {
      expect_exact(loops(), one, {}, {format, 201, 37}, content);
    }
  }
}

TEST_P(FusedChainTest, EverySizeStrideAndFieldOrder) {
  RowExecutor two(2);
  const std::vector<std::pair<int, int>> sizes{{1, 1}, {1, 7},  {7, 1},   {2, 2},    {3, 3},
                                               {5, 6}, {64, 4}, {65, 10}, {129, 11}, {257, 5}};
  for (const PixelFormat format : test::byte_formats()) {
    for (const auto& [width, height] : sizes) {
      for (const int padding : {0, 1, 29}) {
        for (const bool negative : {false, true}) {
          const FieldOrder order = negative ? FieldOrder::top_first : FieldOrder::progressive;
          expect_exact(loops(), two, {}, {format, width, height}, Content::noise, padding, negative,
                       order);
        }
      }
    }
  }
}

/// Frames over 1 MiB with aligned rows are written past the caches.
TEST_P(FusedChainTest, StreamedFramesEqualTheDefinition) {
  test::EveryNth fifth(5);
  RowExecutor two(2);
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::bgr, PixelFormat::xrgb,
                                   PixelFormat::nv12, PixelFormat::i420, PixelFormat::y444}) {
    for (const int width : {1216, 1203}) {
      if (fifth.skips()) continue;
      const ImageDesc desc{format, width, 900};
      SCOPED_TRACE(test::describe(desc, Content::noise));
      Image in(desc);
      Image out(desc);
      Image expected(desc);
      test::fill(in.view(), Content::noise, 3);
      test::fill(out.view(), Content::noise, 4);
      test::reference_equalize({}, in.view(), expected.view());
      FusedChain chain({}, two, loops());
      chain.configure(desc);
      chain.process(in.view(), out.view(), {});
      EXPECT_EQ(test::count_differences(expected.view(), out.view()), 0u);
    }
  }
}

TEST_P(FusedChainTest, EveryBinCountAndScaler) {
  RowExecutor one(1);
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::gray8, PixelFormat::i420}) {
    for (const int bins : {2, 3, 100, 255, 256, 257, 1000, 65536}) {
      for (const Scaler scaler : {Scaler::max_abs, Scaler::min_max, Scaler::min_max_nonzero}) {
        for (const Content content : {Content::natural, Content::noise, Content::nearly_flat}) {
          EqualizeParams params;
          params.bins = bins;
          params.scaler = scaler;
          expect_exact(loops(), one, params, {format, 97, 31}, content);
        }
      }
    }
  }
}

TEST_P(FusedChainTest, EveryMatrixAndRange) {
  RowExecutor one(1);
  for (const PixelFormat format : {PixelFormat::i420, PixelFormat::y42b, PixelFormat::y444}) {
    for (const ColorMatrix matrix : {ColorMatrix::bt601, ColorMatrix::bt709, ColorMatrix::bt2020}) {
      for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
        for (const Content content : {Content::natural, Content::noise, Content::ramp}) {
          expect_exact(loops(), one, {}, {format, 131, 23, matrix, range}, content);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, FusedChainTest,
                         testing::Range(std::size_t{0}, all_fused_rows().size()),
                         [](const auto& info) {
                           return std::string(all_fused_rows()[info.param].target);
                         });

TEST(FusedChainTargets, TheTargetAskedForIsTheOneThatRuns) {
  const std::vector<FusedRows> all = all_fused_rows();
  EXPECT_EQ(all.back().target, "scalar");
  const char* const asked = std::getenv("EQUALUX_SIMD");
  EXPECT_EQ(cpu_simd_target(), asked == nullptr ? all.front().target : std::string_view(asked));
  std::vector<std::string_view> targets;
  for (const FusedRows& loops : all)
    targets.push_back(loops.target);
  EXPECT_EQ(targets, simd_targets());
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vnni")) {
    EXPECT_TRUE(all.front().target.substr(0, 4) == "AVX3" && all.front().target != "AVX3")
        << all.front().target;
  }
  if (__builtin_cpu_supports("avx2")) {
    EXPECT_TRUE(
        std::any_of(all.begin(), all.end(), [](const FusedRows& k) { return k.target == "AVX2"; }));
  }
#endif
}

TEST(FusedChainSizes, LargeFramesEqualTheDefinition) {
  RowExecutor two(2);
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::bgra, PixelFormat::nv12}) {
    expect_exact(fused_rows(), two, {}, {format, 641, 479}, Content::natural);
  }
  expect_exact(fused_rows(), two, {}, {PixelFormat::bgr, 3840, 2160}, Content::noise);
}

/// Luma ramps under every chroma of a coarse grid: brighter in is never darker out.
TEST(FusedChainYuv, RampsShowNoInversion) {
  for (const PixelFormat format : {PixelFormat::nv12, PixelFormat::i420, PixelFormat::yuy2,
                                   PixelFormat::uyvy, PixelFormat::y42b, PixelFormat::y444}) {
    for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
      for (int cb = 0; cb < 256; cb += 51) {
        for (int cr = 0; cr < 256; cr += 51) {
          const ImageDesc desc{format, 512, 2, ColorMatrix::bt709, range};
          Image y444({PixelFormat::y444, 512, 2, ColorMatrix::bt709, range});
          Image frame(desc);
          const bool pairs = format == PixelFormat::yuy2 || format == PixelFormat::uyvy;
          const int luma_at = format == PixelFormat::uyvy ? 1 : 0;
          for (int p = 0; p < traits(format).planes; ++p) {
            for (int y = 0; y < plane_rows(desc, p); ++y) {
              std::uint8_t* row = frame.view().row(p, y);
              for (std::size_t x = 0; x < row_bytes(desc, p); ++x) {
                const int chroma = (pairs                         ? (x / 2) % 2
                                    : format == PixelFormat::nv12 ? x % 2
                                                                  : std::size_t(p - 1)) == 0
                                       ? cb
                                       : cr;
                const bool is_luma = pairs ? static_cast<int>(x % 2) == luma_at : p == 0;
                const std::size_t column = pairs ? x / 2 : x;
                row[x] = static_cast<std::uint8_t>(is_luma ? static_cast<int>(column / 2) : chroma);
              }
            }
          }
          Image out(desc);
          const auto filter = make_cpu_filter(EqualizeParams{}, {1});
          filter->configure(desc);
          FrameContext context;
          filter->submit(frame.view(), out.view(), context);
          int before = -1;
          const std::uint8_t* row = out.view().row(0, 0);
          for (int x = 0; x < 512; ++x) {
            const int luma = row[pairs ? 2 * x + luma_at : x];
            ASSERT_GE(luma, before)
                << to_string(format) << " cb " << cb << " cr " << cr << " x " << x;
            before = luma;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace equalux
