// Saturation in streams with any options: the vector loops of every target beside the plain ones.
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "src/cpu/common/parallel.h"
#include "src/cpu/common/stores.h"
#include "src/cpu/equalize/deep/deep_chain.h"
#include "src/cpu/equalize/deep/deep_rows.h"
#include "src/cpu/equalize/fused/fused_chain.h"
#include "src/cpu/equalize/fused/fused_rows.h"
#include "tests/equalize/saturation/saturated_params.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/moving_frames.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

constexpr int kStreamFrames = 6;

/// A stream by Chain, whose loops are `rows`, beside the plain loops. The options change halfway,
/// so that levels have factors between those of both.
template <typename Chain, typename Rows>
void expect_as_plain(const Rows& rows, const Rows& plain, const ImageDesc& desc,
                     const EqualizeParams& first, const EqualizeParams& second,
                     std::uint32_t seed) {
  RowExecutor one(1);
  Chain chain(first, one, rows);
  Chain by_plain(first, one, plain);
  chain.configure(desc);
  by_plain.configure(desc);
  Image in(desc);
  Image out(desc);
  Image expected(desc);
  for (int i = 0; i < kStreamFrames; ++i) {
    test::fill_bands(in.view(), i, seed);
    if (i == kStreamFrames / 2) {
      chain.update(second);
      by_plain.update(second);
    }
    chain.process(in.view(), out.view(), test::moving_context(i));
    by_plain.process(in.view(), expected.view(), test::moving_context(i));
    ASSERT_EQ(test::count_differences(expected.view(), out.view()), 0U) << "frame " << i;
  }
}

TEST(SaturatedStreams, EveryTargetAsThePlainLoops) {
  const std::vector<FusedRows> fused = all_fused_rows();
  const std::vector<DeepRows> deep = all_deep_rows();
  std::mt19937 random(9);
  test::EveryNth third(3);
  for (std::uint32_t i = 0; i < 300; ++i) {
    const EqualizeParams first = test::drawn_params(random);
    EqualizeParams second = first;
    second.saturation = random() % 2 == 0 ? 1 : 3;
    second.saturation_max = EqualizeParams{}.saturation_max;
    const ImageDesc desc = test::drawn_form(random);
    if (third.skips()) continue;
    if (has_deep_samples(desc.format)) {
      for (const DeepRows& rows : deep) {
        SCOPED_TRACE(std::to_string(i) + " " + std::string(to_string(desc.format)) + " by " +
                     std::string(rows.target));
        expect_as_plain<DeepChain>(rows, scalar_deep_rows(), desc, first, second, i);
      }
    } else {
      for (const FusedRows& rows : fused) {
        SCOPED_TRACE(std::to_string(i) + " " + std::string(to_string(desc.format)) + " by " +
                     std::string(rows.target));
        expect_as_plain<FusedChain>(rows, scalar_fused_rows(), desc, first, second, i);
      }
    }
  }
}

// Loops choose the kind of stores once, or vector by vector where few vectors come.
TEST(SaturatedStreams, LargeFramesAsThePlainLoops) {
  std::mt19937 random(10);
  test::EveryNth third(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    const EqualizeParams params = test::drawn_params(random);
    for (const auto& [format, height] :
         {std::pair{PixelFormat::i420, 560}, {PixelFormat::y42b, 416}, {PixelFormat::y444, 276}}) {
      const ImageDesc desc{format, i % 2 == 0 ? 1280 : 1294, height};
      ASSERT_GT(tight_bytes(desc), kStreamingBytes);
      if (third.skips()) continue;
      for (const FusedRows& rows : all_fused_rows()) {
        SCOPED_TRACE(std::to_string(i) + " " + std::string(to_string(format)) + " by " +
                     std::string(rows.target));
        expect_as_plain<FusedChain>(rows, scalar_fused_rows(), desc, params, params, i);
      }
    }
  }
}

}  // namespace
}  // namespace equalux
