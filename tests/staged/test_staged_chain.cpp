#include <equalux/error.h>
#include <gtest/gtest.h>

#include "src/cpu/equalize/fused/fused_chain.h"
#include "src/cpu/staged/staged_chain.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using test::Content;
using test::PaddedImage;

Image run_staged(const EqualizeParams& params, const ConstImageView& in, int threads) {
  RowExecutor executor(threads);
  StagedChain chain(params, executor);
  chain.configure(in.desc);
  Image out(in.desc);
  test::fill(out.view(), Content::noise, 42);
  chain.process(in, out.view(), {});
  return out;
}

Image run_fused(const EqualizeParams& params, const ConstImageView& in) {
  RowExecutor executor(1);
  FusedChain chain(params, executor, fused_rows());
  chain.configure(in.desc);
  Image out(in.desc);
  chain.process(in, out.view(), {});
  return out;
}

EqualizeParams staged_params(std::optional<ScanVariant> scan, std::optional<EqualizeVariant> how) {
  EqualizeParams params;
  params.chain = Chain::staged;
  params.staged.scan = scan;
  params.staged.equalize = how;
  return params;
}

TEST(StagedChain, EveryVariantAndThreadCountGivesTheSameBytes) {
  const ImageDesc desc{PixelFormat::bgr, 97, 61};
  for (const Content content : test::all_contents()) {
    Image in(desc);
    test::fill(in.view(), content);
    const Image first = run_staged(staged_params({}, {}), in.view(), 1);
    for (const ScanVariant scan : {ScanVariant::baseline, ScanVariant::two_ended,
                                   ScanVariant::kogge_stone, ScanVariant::brent_kung}) {
      for (const EqualizeVariant how : {EqualizeVariant::divide, EqualizeVariant::curve}) {
        const Image other = run_staged(staged_params(scan, how), in.view(), 2);
        EXPECT_EQ(test::count_differences(first.view(), other.view()), 0u)
            << enum_name(scan) << " " << test::name_of(content);
      }
    }
  }
}

TEST(StagedChain, StridesOffsetsAndAlphaAreKept) {
  for (const PixelFormat format : test::rgb_formats()) {
    for (const bool negative : {false, true}) {
      const ImageDesc desc{format, 33, 17};
      PaddedImage in(desc, 13, negative, 3);
      PaddedImage out(desc, 5, !negative, 1);
      test::fill(in.view(), Content::natural);
      RowExecutor executor(2);
      StagedChain chain(staged_params({}, {}), executor);
      chain.configure(desc);
      chain.process(in.view(), out.view(), {});
      EXPECT_TRUE(out.padding_intact());
      const Image tight = run_staged(staged_params({}, {}), in.view(), 1);
      EXPECT_EQ(test::count_differences(out.view(), tight.view()), 0u) << to_string(format);
      chain.process(in.view(), in.view(), {});
      EXPECT_EQ(test::count_differences(in.view(), tight.view()), 0u) << "in place";
    }
  }
}

/// Contract 2: at most 1 level apart, on at most 0.05 % of the values of natural images.
TEST(StagedChain, DiffersFromFusedByOneLevelOnFewValues) {
  const ImageDesc desc{PixelFormat::bgr, 800, 600};
  for (const std::uint32_t seed : {1u, 2u, 3u}) {
    Image in(desc);
    test::fill(in.view(), Content::natural, seed);
    for (const Scaler scaler : {Scaler::max_abs, Scaler::min_max, Scaler::min_max_nonzero}) {
      EqualizeParams params = staged_params({}, {});
      params.scaler = scaler;
      const Image staged = run_staged(params, in.view(), 2);
      params.chain = Chain::fused;
      const Image fused = run_fused(params, in.view());
      EXPECT_LE(test::max_difference(staged.view(), fused.view()), 1);
      EXPECT_LE(test::count_differences(staged.view(), fused.view()),
                tight_bytes(desc) * 5 / 10000);
    }
  }
}

TEST(StagedChain, BlackStaysBlackAndOneColourIsKeptByMinMax) {
  const ImageDesc desc{PixelFormat::rgb, 16, 16};
  Image in(desc);
  test::fill(in.view(), Content::black);
  const Image out = run_staged(staged_params({}, {}), in.view(), 1);
  EXPECT_EQ(test::count_differences(in.view(), out.view()), 0u);
  EqualizeParams params = staged_params({}, {});
  params.scaler = Scaler::min_max_nonzero;
  test::fill(in.view(), Content::single_bin);
  const Image same = run_staged(params, in.view(), 1);
  EXPECT_EQ(test::count_differences(in.view(), same.view()), 0u);
}

TEST(StagedChain, YuvIsAParameterError) {
  EqualizeParams params = staged_params({}, {});
  const auto filter = make_cpu_filter(params, {1});
  EXPECT_FALSE(filter->accepts(PixelFormat::i420));
  EXPECT_TRUE(filter->accepts(PixelFormat::bgra));
  EXPECT_THROW(filter->configure({PixelFormat::i420, 64, 64}), Error);
}

TEST(StagedChain, TimesEveryStageOnlyWhenAsked) {
  const ImageDesc desc{PixelFormat::bgr, 64, 64};
  Image in(desc);
  Image out(desc);
  test::fill(in.view(), Content::natural);
  const auto filter = make_cpu_filter(staged_params({}, {}), {1});
  filter->configure(desc);
  FrameContext context;
  filter->submit(in.view(), out.view(), context);
  std::vector<StageTime> times;
  context.timings = &times;
  filter->submit(in.view(), out.view(), context);
  std::vector<std::string_view> names;
  for (const StageTime& time : times)
    names.push_back(time.stage);
  EXPECT_EQ(names, (std::vector<std::string_view>{"rgb_to_hsv", "histogram", "cdf_scan", "equalize",
                                                  "hsv_to_rgb"}));
}

}  // namespace
}  // namespace equalux
