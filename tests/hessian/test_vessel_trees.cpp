#include <cstdio>

#include <equalux/hessian.h>
#include <gtest/gtest.h>

#include "tests/hessian/vessel_trees.h"
#include "tests/support/long_counts.h"

/// `vessel` on trees whose mask is known.
namespace equalux {
namespace {

Image mask_of(const ConstImageView& in, const VesselParams& params) {
  const auto filter = make_cpu_filter(params, {1});
  Image out(filter->configure(in.desc));
  FrameContext context;
  filter->submit(in, out.view(), context);
  return out;
}

std::uint32_t seeds() {
  return test::wants_every_count() ? 200 : 25;
}

double worst_dice(VesselParams params) {
  double worst = 1;
  double sum = 0;
  for (std::uint32_t seed = 1; seed <= seeds(); ++seed) {
    const auto tree = test::vessel_tree(420, 310, seed, params.polarity == Polarity::bright);
    const double found =
        test::dice(mask_of(std::as_const(tree.image).view(), params).view(), tree.mask);
    EXPECT_GE(found, 0.85) << "seed " << seed;
    worst = std::min(worst, found);
    sum += found;
  }
  std::printf("Dice: mean %.3f, worst %.3f of %u trees\n", sum / seeds(), worst, seeds());
  return worst;
}

TEST(VesselTrees, TheDefaultsFindDarkVessels) {
  worst_dice({});
}

TEST(VesselTrees, TheDefaultsFindBrightVessels) {
  VesselParams params;
  params.polarity = Polarity::bright;
  worst_dice(params);
}

TEST(VesselTrees, FrangisMeasureFindsThemToo) {
  VesselParams params;
  params.measure = VesselMeasure::frangi;
  worst_dice(params);
}

TEST(VesselTrees, NoiseWithoutVesselsIsEmpty) {
  Image ground({PixelFormat::gray8, 420, 310});
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    std::uint32_t state = seed;
    for (int y = 0; y < 310; ++y) {
      for (int x = 0; x < 420; ++x) {
        int sum = 0;
        for (int i = 0; i < 4; ++i) {
          state = state * 1664525 + 1013904223;
          sum += static_cast<int>(state >> 29);
        }
        ground.view().row(0, y)[x] = static_cast<std::uint8_t>(100 + sum);
      }
    }
    const Image mask = mask_of(std::as_const(ground).view(), {});
    const std::vector<std::uint8_t> all(420 * 310, 1);
    EXPECT_EQ(test::dice(mask.view(), all), 0) << "seed " << seed;
  }
}

}  // namespace
}  // namespace equalux
