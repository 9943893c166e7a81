#include <cmath>
#include <functional>
#include <memory>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "src/quality/clip_meter.h"
#include "tests/quality/painted_frames.h"

/// Temporal noise, texture kept and ghosting, of clips whose answers are known.
namespace equalux::quality {
namespace {

using test::Grain;
using test::grey;
using test::painted;

// Neither is a multiple of a cell's or a block's side.
constexpr int kOddWidth = 203;
constexpr int kOddHeight = 131;

/// Level of a clip in frame `i`; levels are rounded and must be within 0 and 255.
using Scene = std::function<double(int x, int y, int i)>;

std::vector<Image> clip_of(int frames, const Scene& level, int width = kOddWidth,
                           int height = kOddHeight) {
  std::vector<Image> clip;
  for (int i = 0; i < frames; ++i) {
    clip.push_back(painted(width, height, [&](int x, int y) {
      return grey(static_cast<int>(std::lround(level(x, y, i))));
    }));
  }
  return clip;
}

ClipFigures figures_of(const std::vector<Image>& a, const std::vector<Image>& b) {
  ClipMeter meter(a.front().desc().width, a.front().desc().height, true);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const ConstImageView result = b[i].view();
    meter.add(a[i].view(), &result);
  }
  return meter.figures();
}

double waves(int x, int y) {
  return 100 + 25 * std::sin(0.35 * x) * std::cos(0.27 * y);
}

/// The scene with noise that is new in every pixel of every frame.
Scene noisy(const Scene& scene, double sigma, std::uint32_t seed) {
  return [scene, grain = std::make_shared<Grain>(sigma, seed)](int x, int y, int i) {
    return scene(x, y, i) + grain->next();
  };
}
double still(int x, int y, int /*i*/) {
  return waves(x, y);
}

TEST(TemporalNoise, IsTheSigmaOfNoiseThatIsNewInEveryFrame) {
  for (const double sigma : {2.0, 5.0}) {
    const ClipFigures figures =
        figures_of(clip_of(5, noisy(still, sigma, 1)), clip_of(5, noisy(still, sigma / 2, 2)));
    // Rounding the grain to whole levels adds a variance of 1/12.
    EXPECT_NEAR(figures.a.temporal_noise.value(), std::sqrt(sigma * sigma + 1 / 12.0),
                0.02 * sigma);
    EXPECT_NEAR(figures.b->temporal_noise.value(), std::sqrt(sigma * sigma / 4 + 1 / 12.0),
                0.02 * sigma);
    EXPECT_FALSE(figures.frames.front().a.temporal_noise.has_value());
    EXPECT_TRUE(figures.frames.back().b->temporal_noise.has_value());
  }
}

TEST(TemporalNoise, GrainThatStandsStillHasNone) {
  const auto one = clip_of(1, noisy(still, 4, 3));
  const auto repeated =
      clip_of(3, [&](int x, int y, int) { return one[0].view().row(0, y)[3 * x]; });
  const ClipFigures figures = figures_of(repeated, repeated);
  EXPECT_EQ(figures.a.temporal_noise, 0.0);
  EXPECT_GT(figures.a.noise_sigma.value(), 3);
}

TEST(TemporalNoise, LightThatChangesIsNone) {
  const auto a = clip_of(6, [](int, int, int i) { return i % 2 == 0 ? 103 : 97; });
  const ClipFigures figures = figures_of(a, a);
  EXPECT_NEAR(figures.a.still_step.value(), 6, 1e-4);
  EXPECT_NEAR(figures.a.temporal_noise.value(), 0, 1e-3);
}

TEST(TemporalNoise, WhatMovesSlowlyWithinNoiseIsNone) {
  // Soft edges creep by half a pixel a frame: from one frame to the next they hide in the noise.
  const Scene creeping = [](int x, int, int i) {
    return 100 + 25 * std::tanh(3 * std::sin(0.1 * (x + 0.5 * i)));
  };
  const ClipFigures figures = figures_of(clip_of(16, noisy(creeping, 4, 4)), clip_of(16, creeping));
  EXPECT_NEAR(figures.a.temporal_noise.value(), 4, 0.1);
  EXPECT_LT(figures.b->temporal_noise.value(), 0.3);
}

TEST(TemporalNoise, MovingThingsDoNotCount) {
  const Scene square = [](int x, int y, int i) {
    return x >= 6 * i && x < 6 * i + 50 && y > 30 && y < 90 ? 180 : waves(x, y);
  };
  const auto a = clip_of(12, square);
  EXPECT_EQ(figures_of(a, a).a.temporal_noise, 0.0);
}

TEST(TextureKept, IsTheGainOfDetail) {
  const auto a = clip_of(2, [](int x, int, int) { return 100 + 40 * ((x / 2) % 2); });
  const auto half = clip_of(2, [](int x, int, int) { return 110 + 20 * ((x / 2) % 2); });
  const auto twice = clip_of(2, [](int x, int, int) { return 60 + 80 * ((x / 2) % 2); });
  EXPECT_EQ(figures_of(a, a).pair->texture_kept, 1.0);
  EXPECT_NEAR(figures_of(a, half).pair->texture_kept.value(), 0.5, 1e-4);
  EXPECT_NEAR(figures_of(a, twice).pair->texture_kept.value(), 2, 1e-4);
}

TEST(TextureKept, OfABlurIsItsResponse) {
  // The mean of three pixels passes (1 + 2 cos(2 pi / n)) / 3 of a wave of n pixels.
  for (const double period : {4.0, 5.0, 7.0}) {
    const auto wave = [&](int x) { return 120 + 50 * std::sin(2 * std::numbers::pi * x / period); };
    const auto a = clip_of(1, [&](int x, int, int) { return wave(x); });
    const auto b =
        clip_of(1, [&](int x, int, int) { return (wave(x - 1) + wave(x) + wave(x + 1)) / 3; });
    EXPECT_NEAR(figures_of(a, b).pair->texture_kept.value(),
                (1 + 2 * std::cos(2 * std::numbers::pi / period)) / 3, 0.01)
        << period;
  }
}

TEST(TextureKept, DoesNotSeeNoiseOfTheResult) {
  // The right half is flat: texture all over would be taken for noise.
  const Scene checks = [](int x, int y, int) {
    return 100 + (x < 100 ? 30 * ((x / 3 + y / 3) % 2) : 0);
  };
  const auto a = clip_of(2, checks);
  EXPECT_NEAR(figures_of(a, clip_of(2, noisy(checks, 8, 5))).pair->texture_kept.value(), 1, 0.01);
}

TEST(TextureKept, NoiseOfTheOriginalIsNoTexture) {
  const Scene flat = [](int, int, int) { return 100; };
  EXPECT_FALSE(
      figures_of(clip_of(2, noisy(flat, 5, 6)), clip_of(2, flat)).pair->texture_kept.has_value());
  EXPECT_FALSE(figures_of(clip_of(2, flat), clip_of(2, flat)).pair->texture_kept.has_value());
}

/// A square of 40 pixels comes in from the left and moves by a cell a frame.
double passing(int x, int y, int i) {
  const bool covered = x >= 8 * i - 40 && x < 8 * i && y >= 24 && y < 88;
  return covered ? 160 : 90;
}
/// Whether a pixel has changed within so many frames.
bool changed_lately(int x, int y, int i) {
  for (int k = 1; k <= std::min<int>(i, kCellFrames); ++k) {
    if (passing(x, y, i) != passing(x, y, i - k)) return true;
  }
  return false;
}
/// The square with a shadow of `levels` where it was.
Scene shadowed(double levels) {
  return [=](int x, int y, int i) {
    return passing(x, y, i) + (changed_lately(x, y, i) ? levels : 0);
  };
}

TEST(Ghosting, IsTheErrorWhereThePictureIsNew) {
  const auto a = clip_of(16, passing);
  const ClipFigures figures = figures_of(a, clip_of(16, shadowed(7)));
  EXPECT_NEAR(figures.pair->ghosting.value(), 7, 1e-3);
  EXPECT_NEAR(figures.frames[10].pair->ghosting.value(), 7, 1e-3);
  EXPECT_FALSE(figures.frames.back().pair->ghosting.has_value());
  EXPECT_EQ(figures_of(a, a).pair->ghosting, 0.0);
}

TEST(Ghosting, OfARecursiveFilterIsWhatItLeavesBehind) {
  constexpr int kFrames = 18;
  std::vector<std::vector<double>> result(kFrames);
  double squares = 0;
  double pixels = 0;
  for (int i = 0; i < kFrames; ++i) {
    for (int y = 0; y < kOddHeight; ++y) {
      for (int x = 0; x < kOddWidth; ++x) {
        const double last = i == 0 ? passing(x, y, 0) : result[i - 1][y * kOddWidth + x];
        const double now = 0.4 * passing(x, y, i) + 0.6 * last;
        result[i].push_back(now);
        // Whole cells only, and those that the next frame shows again.
        if (x >= kOddWidth / kCell * kCell || !changed_lately(x, y, i)) continue;
        if (i + 1 == kFrames || passing(x, y, i) != passing(x, y, i + 1)) continue;
        squares += std::pow(now - passing(x, y, i), 2);
        ++pixels;
      }
    }
  }
  const auto b =
      clip_of(kFrames, [&](int x, int y, int i) { return result[i][y * kOddWidth + x]; });
  const double expected = std::sqrt(squares / pixels);
  EXPECT_GT(expected, 10);
  // Errors long after are under half a level, which whole levels do not show.
  EXPECT_NEAR(figures_of(clip_of(kFrames, passing), b).pair->ghosting.value(), expected, 0.15);
}

TEST(Ghosting, NoiseIsNoGhost) {
  const auto a = clip_of(16, noisy(passing, 3, 7));
  // A filter that begins again where the picture is new has more noise left there.
  const Scene restarted = [loud = noisy(passing, 6, 8)](int x, int y, int i) {
    return changed_lately(x, y, i) ? loud(x, y, i) : passing(x, y, i);
  };
  EXPECT_LT(figures_of(a, clip_of(16, restarted)).pair->ghosting.value(), 0.4);
  EXPECT_NEAR(figures_of(a, clip_of(16, noisy(shadowed(7), 2, 9))).pair->ghosting.value(), 7, 0.2);
}

TEST(Ghosting, AnErrorThatIsEverywhereIsNone) {
  const auto brighter = clip_of(16, [](int x, int y, int i) { return passing(x, y, i) + 9; });
  EXPECT_NEAR(figures_of(clip_of(16, passing), brighter).pair->ghosting.value(), 0, 1e-3);
}

TEST(Ghosting, WhereNothingMovesThereIsNothingToSay) {
  const auto a = clip_of(4, still);
  EXPECT_FALSE(figures_of(a, a).pair->ghosting.has_value());
}

TEST(Ghosting, LightThatChangesUncoversNothing) {
  const auto a = clip_of(6, [](int x, int y, int i) { return waves(x, y) * (1 - 0.08 * i); });
  EXPECT_FALSE(figures_of(a, a).pair->ghosting.has_value());
}

TEST(Ghosting, APictureBehindACutIsNotAGhost) {
  const Scene cut = [](int x, int y, int i) {
    return i < 3 ? waves(x, y) : 90 + (x / 40 + y / 50) % 3 * 60;
  };
  const Scene late = [&](int x, int y, int i) { return i == 3 ? 120 : cut(x, y, i); };
  const ClipFigures figures = figures_of(clip_of(6, cut), clip_of(6, late));
  ASSERT_EQ(figures.cuts.size(), 1U);
  EXPECT_FALSE(figures.pair->ghosting.has_value());
}

TEST(NoiseOverTime, OneFrameAndFramesUnderACellHaveNoFigures) {
  const auto one = clip_of(1, noisy(still, 3, 10));
  const ClipFigures single = figures_of(one, one);
  EXPECT_FALSE(single.a.temporal_noise.has_value());
  EXPECT_FALSE(single.pair->ghosting.has_value());
  for (const int side : {1, 7}) {
    const auto small = clip_of(3, noisy(still, 3, 11), side, 2 * side);
    const ClipFigures figures = figures_of(small, small);
    EXPECT_FALSE(figures.b->temporal_noise.has_value()) << side;
    EXPECT_FALSE(figures.pair->texture_kept.has_value()) << side;
    EXPECT_FALSE(figures.pair->ghosting.has_value()) << side;
  }
}

}  // namespace
}  // namespace equalux::quality
