#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "src/quality/clip_meter.h"
#include "src/quality/over_time/stillness.h"
#include "tests/quality/painted_frames.h"
#include "tests/quality/stability_scenes.h"

/// Figures over time, of clips whose answers are known.
namespace equalux::quality {
namespace {

using test::Grain;
using test::grey;
using test::painted;
using test::Rgb;

constexpr int kWidth = 192;
constexpr int kHeight = 128;

/// A texture that differs from seed to seed, `level` in the mean, 40 % up and down.
Image texture(double level, int seed, int shift = 0) {
  return painted(kWidth, kHeight, [&](int x, int y) {
    const double wave =
        std::sin((x + shift) * (0.09 + 0.013 * seed) + seed) * std::cos(y * (0.11 + 0.017 * seed));
    return grey(static_cast<int>(level * (1 + 0.4 * wave) + 0.5));
  });
}
Image squares(int shift) {
  return painted(kWidth, kHeight, [&](int x, int y) {
    return grey(((x + shift) / 40 + y / 50) % 3 == 0 ? 170 : 90);
  });
}
Image flat(int level) {
  return painted(kWidth, kHeight, [&](int, int) { return grey(level); });
}

ClipFigures measure(const std::vector<Image>& a, const std::vector<Image>* b = nullptr) {
  ClipMeter meter(a.front().desc().width, a.front().desc().height, b != nullptr);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const ConstImageView second = b != nullptr ? (*b)[i].view() : ConstImageView{};
    meter.add(a[i].view(), b != nullptr ? &second : nullptr);
  }
  return meter.figures();
}

TEST(ClipMeter, OneFrameHasNoStepsAndNoCuts) {
  std::vector<Image> a;
  a.push_back(texture(100, 1));
  const ClipFigures figures = measure(a);
  EXPECT_FALSE(figures.a.still_step.has_value());
  EXPECT_FALSE(figures.still_share.has_value());
  EXPECT_FALSE(figures.b.has_value());
  EXPECT_FALSE(figures.pair.has_value());
  EXPECT_TRUE(figures.cuts.empty());
  EXPECT_GT(figures.a.entropy_bits, 5);
}

TEST(ClipMeter, EqualClipsDifferInNothing) {
  std::vector<Image> a;
  Grain grain(4, 9);
  for (int i = 0; i < 4; ++i) {
    a.push_back(
        painted(kWidth, kHeight, [&](int x, int) { return grey(60 + x / 4 + grain.next()); }));
  }
  const ClipFigures figures = measure(a, &a);
  EXPECT_EQ(figures.pair->ambe, 0);
  EXPECT_EQ(figures.pair->ssim, 1.0);
  EXPECT_EQ(figures.pair->noise_gain, 1.0);
  EXPECT_EQ(figures.pair->flicker_transfer, 1.0);
  EXPECT_FALSE(figures.pair->hue_error_deg.has_value());  // grey
  EXPECT_EQ(figures.pair->colour_difference, 0);
  EXPECT_EQ(figures.a.colourfulness, 0);
  EXPECT_FALSE(figures.a.skin_level.has_value());
}

TEST(ClipMeter, SkinIsThatOfAllFramesTogether) {
  // Skin fills a tenth of the first frame, and all of the second.
  const auto frame = [](int level, int columns) {
    return painted(kWidth, kHeight, [=](int x, int) {
      const auto of = [level](int share) { return static_cast<std::uint8_t>(level * share / 20); };
      return x < columns ? Rgb{of(20), of(15), of(12)} : grey(40);
    });
  };
  std::vector<Image> a;
  std::vector<Image> b;
  a.push_back(frame(200, kWidth / 10));
  a.push_back(frame(100, kWidth));
  b.push_back(frame(100, kWidth / 10));
  b.push_back(frame(60, kWidth));
  const ClipFigures figures = measure(a, &b);
  const double first = kWidth / 10;
  const double all = first + kWidth;
  EXPECT_DOUBLE_EQ(*figures.a.skin_level, (200 * first + 100 * kWidth) / all);
  EXPECT_DOUBLE_EQ(*figures.b->skin_level, (100 * first + 60 * kWidth) / all);
  EXPECT_DOUBLE_EQ(*figures.frames[1].b->skin_level, 60);
  EXPECT_GT(figures.a.colourfulness, 5);
  EXPECT_GT(figures.pair->colour_difference, 5);
}

TEST(ClipMeter, MeanBrightnessErrorIsAbsoluteInEachFrame) {
  std::vector<Image> a;
  std::vector<Image> b;
  for (const int offset : {30, -10}) {
    a.push_back(flat(100));
    b.push_back(flat(100 + offset));
  }
  EXPECT_DOUBLE_EQ(measure(a, &b).pair->ambe, 20);
}

TEST(ClipMeter, FlickerOfThreePercentIsAStepOfSix) {
  std::vector<Image> a;
  std::vector<Image> twice;
  std::vector<Image> steady;
  for (int i = 0; i < 6; ++i) {
    a.push_back(flat(i % 2 == 0 ? 103 : 97));
    twice.push_back(flat(i % 2 == 0 ? 206 : 194));
    steady.push_back(flat(150));
  }
  const ClipFigures doubled = measure(a, &twice);
  EXPECT_NEAR(*doubled.a.still_step, 6, 1e-4);
  EXPECT_NEAR(*doubled.b->still_step, 12, 1e-4);
  EXPECT_NEAR(*doubled.pair->flicker_transfer, 2, 1e-5);
  EXPECT_EQ(doubled.still_share, 1.0);
  EXPECT_NEAR(*measure(a, &steady).pair->flicker_transfer, 0, 1e-9);
}

TEST(ClipMeter, NoiseGainIsTheRatioOfSigmas) {
  std::vector<Image> a;
  std::vector<Image> b;
  for (int i = 0; i < 3; ++i) {
    const auto seed = static_cast<std::uint32_t>(20 + i);
    Grain once(4, seed);
    Grain again(4, seed);
    a.push_back(painted(kWidth, kHeight, [&](int, int) { return grey(120 + once.next()); }));
    b.push_back(painted(kWidth, kHeight, [&](int, int) { return grey(120 + 2 * again.next()); }));
  }
  EXPECT_NEAR(*measure(a, &b).pair->noise_gain, 2, 1e-6);
}

TEST(ClipMeter, StepsCountWhereTheOriginalStandsStill) {
  // The right half moves; in the result it also jumps in brightness, which must not count.
  const auto frame = [](int i, int jump) {
    const Image moving = texture(100, 3, 9 * i);
    const Image still = texture(100, 5);
    return painted(kWidth, kHeight, [&](int x, int y) {
      const Image& from = x < 96 ? still : moving;
      const int level = from.view().row(0, y)[3 * x];
      return grey(x < 96 ? level : level + jump * (i % 2));
    });
  };
  std::vector<Image> a;
  std::vector<Image> b;
  for (int i = 0; i < 5; ++i) {
    a.push_back(frame(i, 0));
    b.push_back(frame(i, 60));
  }
  const ClipFigures figures = measure(a, &b);
  EXPECT_EQ(figures.still_share, 0.5);
  EXPECT_EQ(figures.a.still_step, 0.0);
  EXPECT_EQ(figures.b->still_step, 0.0);
  EXPECT_FALSE(figures.pair->flicker_transfer.has_value());  // nothing to divide by
}

TEST(Stillness, LightIsUndone) {
  const Image before = texture(150, 2);
  const Image after = texture(120, 2);
  const BlockGrid grid(kWidth, kHeight);
  const Stillness stillness =
      find_stillness(planes_of(before.view()), planes_of(after.view()), grid);
  EXPECT_NEAR(stillness.light, 0.8, 0.01);
  EXPECT_EQ(stillness.count, grid.count());
  EXPECT_GT(stillness.likeness, 0.99);
}

TEST(Cuts, LightIsNoneAndAnotherPictureIsOne) {
  std::vector<Image> a;
  for (int i = 0; i < 3; ++i)
    a.push_back(texture(60, 1, i));
  a.push_back(texture(130, 1, 3));  // the light goes on
  for (int i = 0; i < 3; ++i)
    a.push_back(squares(i));
  const ClipFigures figures = measure(a);
  ASSERT_EQ(figures.cuts.size(), 1U);
  EXPECT_EQ(figures.cuts[0].frame, 4U);
  EXPECT_TRUE(figures.frames[4].cut);
}

TEST(Cuts, AFadeThroughBlackIsNone) {
  std::vector<Image> a;
  Grain grain(2, 5);
  for (const double light : {8, 6, 4, 2, 0, 2, 4, 6, 8}) {
    a.push_back(painted(kWidth, kHeight, [&](int x, int y) {
      const double wave = std::sin(x * 0.1) * std::cos(y * 0.13);
      const int level = static_cast<int>(light * (1 + 0.6 * wave) + 0.5);
      return grey(std::max(level + grain.next(), 0));
    }));
  }
  EXPECT_TRUE(measure(a).cuts.empty());
}

TEST(Cuts, HistogramsAreComparedAtTheSameMedian) {
  const auto histogram = [](const Image& image) {
    return value_histogram(planes_of(image.view()));
  };
  const LevelHistogram dark = histogram(texture(50, 1));
  EXPECT_EQ(histogram_distance(dark, dark), 0);
  EXPECT_LT(histogram_distance(dark, histogram(texture(150, 1))), 0.02);
  EXPECT_LT(histogram_distance(histogram(texture(150, 1)), dark), 0.02);
  // Half of the pixels at the median, half at twice it, against all at one level.
  const Image halves = painted(64, 4, [](int x, int) { return grey(x < 33 ? 100 : 200); });
  EXPECT_NEAR(histogram_distance(histogram(halves), histogram(flat(100))), 31.0 / 64, 0.02);
  // Their shift is in levels as they are.
  EXPECT_EQ(histogram_shift(dark, dark), 0);
  EXPECT_NEAR(histogram_shift(histogram(halves), histogram(flat(100))), 100 * 31.0 / 64, 1e-6);
  EXPECT_NEAR(histogram_shift(histogram(flat(0)), histogram(flat(255))), 255, 1e-6);
}

/// A result whose tone is off by ten levels a frame until `frames` after the cut.
std::vector<Image> settling_after(std::size_t cut, std::size_t frames, std::size_t length) {
  std::vector<Image> b;
  for (std::size_t i = 0; i < length; ++i) {
    const std::size_t since = i - cut;
    const int off = i >= cut && since < frames ? 10 * static_cast<int>(frames - since) : 0;
    const Image frame = i < cut ? texture(60, 1) : squares(0);
    b.push_back(painted(kWidth, kHeight,
                        [&](int x, int y) { return grey(frame.view().row(0, y)[3 * x] + off); }));
  }
  return b;
}

TEST(Settling, TakesExactlySoManyFrames) {
  const std::vector<Image> a = settling_after(4, 0, 40);
  for (const std::size_t frames : {0, 1, 7}) {
    const std::vector<Image> b = settling_after(4, frames, 40);
    const ClipFigures figures = measure(a, &b);
    ASSERT_EQ(figures.cuts.size(), 1U);
    EXPECT_EQ(figures.cuts[0].frame, 4U);
    EXPECT_EQ(figures.cuts[0].settle_frames, frames);
  }
}

TEST(Settling, ShortShotsSayNothing) {
  const std::vector<Image> a = settling_after(4, 0, 4 + 2 * kSettledOver - 1);
  const ClipFigures figures = measure(a, &a);
  ASSERT_EQ(figures.cuts.size(), 1U);
  EXPECT_FALSE(figures.cuts[0].settle_frames.has_value());
}

TEST(Settling, NeverIsTheWholeTime) {
  std::vector<ToneCurve> curves(60);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    curves[i].pixels[3] = 1000;
    curves[i].level[3] = static_cast<double>(i);
  }
  EXPECT_EQ(frames_to_settle(curves), kSettleWithin);
}

TEST(Settling, FollowsTheOriginalsHistogram) {
  // Pixels wander from one class to another, and equalization of each frame follows at once; the
  // other result is sixty levels too bright for three frames.
  std::vector<ToneCurve> follows(40);
  std::vector<ToneCurve> late(40);
  for (std::size_t i = 0; i < follows.size(); ++i) {
    const auto first = static_cast<std::uint32_t>(600 - 10 * i);
    ToneCurve& curve = follows[i];
    curve.pixels[2] = first;
    curve.pixels[9] = 1000 - first;
    curve.level[2] = 255 * first / 2000.0;
    curve.level[9] = 255 * (first + 1000) / 2000.0;
    late[i] = curve;
    for (double& level : late[i].level)
      level += i < 3 ? 60 : 0;
  }
  EXPECT_NEAR(histogram_move(follows[0], follows[20]), 25.5, 1e-9);
  EXPECT_NEAR(*tone_distance(follows[0], follows[20]), 25.5, 1e-9);
  EXPECT_EQ(frames_to_settle(follows), 0U);
  EXPECT_EQ(frames_to_settle(late), 3U);
}

/// Cuts that are found around the event of a scene.
std::vector<Cut> cuts_around_event(scenes::SceneKind kind) {
  const scenes::StabilityScene scene(kind);
  ClipMeter meter(640, 360, false);
  const int begin = scene.event().begin;
  for (int i = std::max(0, begin - 2); i < begin + 3; ++i)
    meter.add(scene.frame(i).view(), nullptr);
  return meter.figures().cuts;
}

TEST(ClipMeter, OfTheScenesOnlyTheCutHasACut) {
  using scenes::SceneKind;
  for (const SceneKind kind : {SceneKind::logo, SceneKind::letterbox, SceneKind::flicker,
                               SceneKind::object, SceneKind::fade}) {
    EXPECT_TRUE(cuts_around_event(kind).empty()) << scenes::name_of(kind);
  }
  const std::vector<Cut> cuts = cuts_around_event(SceneKind::cut);
  ASSERT_EQ(cuts.size(), 1U);
  EXPECT_EQ(cuts[0].frame, 2U);
}

TEST(ClipMeter, SeesTheScenesAsTheyAreMade) {
  // Without being told which pixels stand still: noise of sigma 3 in each colour is 2.0 in luma,
  // and 0.18 in the mean of 256 pixels from frame to frame.
  const scenes::StabilityScene noise(scenes::SceneKind::noise);
  const scenes::StabilityScene flicker(scenes::SceneKind::flicker);
  ClipMeter quiet(640, 360, false);
  ClipMeter restless(640, 360, false);
  for (int i = 0; i < 6; ++i) {
    quiet.add(noise.frame(i).view(), nullptr);
    restless.add(flicker.frame(i).view(), nullptr);
  }
  const ClipFigures figures = quiet.figures();
  EXPECT_GT(*figures.still_share, 0.95);
  EXPECT_NEAR(*figures.a.still_step, 0.18, 0.01);
  EXPECT_NEAR(*figures.a.noise_sigma, 2.0, 0.2);
  const ClipFigures alternating = restless.figures();
  double largest = 0;
  for (const FrameFigures& frame : alternating.frames)
    largest = std::max(largest, frame.a.still_step.value_or(0));
  EXPECT_GT(*alternating.still_share, 0.9);
  EXPECT_NEAR(largest, 0.06 * 53, 0.15);  // from one side to the other, of an RMS level of 53
}

}  // namespace
}  // namespace equalux::quality
