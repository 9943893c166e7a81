#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "tests/quality/scene_meter.h"

/// The meter of the stability scenes, on results whose figures are known.
namespace equalux::scenes {
namespace {

/// Curve of a frame: the level that a level becomes.
using Curve = std::function<int(int frame, int level)>;

/// Figures of frames [first, end) under a curve.
SceneFigures measure(SceneKind kind, int first, int end, const Curve& curve) {
  const StabilityScene scene(kind);
  SceneMeter meter(scene);
  Image original(StabilityScene::kDesc);
  Image result(StabilityScene::kDesc);
  for (int i = first; i < end; ++i) {
    scene.draw(i, original.view());
    std::array<std::uint8_t, 256> table{};
    for (int level = 0; level < 256; ++level)
      table[static_cast<std::size_t>(level)] = static_cast<std::uint8_t>(curve(i, level));
    for (int y = 0; y < StabilityScene::kDesc.height; ++y) {
      const std::uint8_t* in = original.view().row(0, y);
      std::transform(in, in + row_bytes(StabilityScene::kDesc, 0), result.view().row(0, y),
                     [&](std::uint8_t level) { return table[level]; });
    }
    meter.add(i, original.view(), result.view());
  }
  return meter.figures();
}

int same(int /*frame*/, int level) {
  return level;
}

TEST(SceneMeter, SourcesHaveThePublishedSteps) {
  // Luma's noise is 3 sqrt(0.299^2 + 0.587^2 + 0.114^2); means of 256 pixels, and two of them.
  const double expected = 3 * std::sqrt(0.089401 + 0.344569 + 0.012996) * std::sqrt(2.0) / 16;
  const SceneFigures noise = measure(SceneKind::noise, 0, 15, same);
  EXPECT_NEAR(noise.step, expected, 0.005);
  EXPECT_LT(noise.largest_move, 0.3);
  EXPECT_NEAR(measure(SceneKind::flicker, 0, 40, same).step, 3.0, 0.1);
}

TEST(SceneMeter, GainScalesSteps) {
  const SceneFigures source = measure(SceneKind::flicker, 0, 12, same);
  const SceneFigures half =
      measure(SceneKind::flicker, 0, 12, [](int, int level) { return (level + 1) / 2; });
  EXPECT_NEAR(step_over_source(half, source), 0.5, 0.01);
}

TEST(SceneMeter, AFrozenCurveIsItsOwnMeasure) {
  const auto dimmed = [](int, int level) { return (60 * level + 50) / 100; };
  const SceneFigures frozen = measure(SceneKind::object, 15, 27, dimmed);
  ASSERT_TRUE(frozen.frozen_step.has_value());
  EXPECT_NEAR(*step_over_frozen(frozen), 1, 0.03);
  // The same curve, a tenth brighter in every other frame: three levels each time.
  const SceneFigures restless = measure(SceneKind::object, 15, 27, [](int frame, int level) {
    return ((frame % 2 == 0 ? 60 : 66) * level + 50) / 100;
  });
  EXPECT_NEAR(restless.step, 0.06 * 53, 0.4);
  EXPECT_NEAR(*restless.frozen_step, *frozen.frozen_step * 1.05, 0.02);
}

TEST(SceneMeter, WithoutACurveNothingIsFrozen) {
  // Of a negative, pixels of one V have whatever luma their other colours give.
  const SceneFigures figures =
      measure(SceneKind::object, 15, 20, [](int, int level) { return 255 - level; });
  EXPECT_FALSE(step_over_frozen(figures).has_value());
}

TEST(SceneMeter, MovesAreLevelsFromBeforeTheEvent) {
  const SceneFigures figures = measure(SceneKind::logo, 45, 77, [](int frame, int level) {
    return std::min(255, level + (frame == 75 ? 7 : 0));
  });
  EXPECT_NEAR(figures.largest_move, 7, 0.3);
  EXPECT_EQ(figures.moves[30], figures.largest_move);
  EXPECT_LT(figures.moves[29], 0.3);
}

TEST(SceneMeter, StepsBeyondTheSourcesAreFound) {
  const SceneFigures source = measure(SceneKind::fade, 95, 105, same);
  const SceneFigures jumping = measure(SceneKind::fade, 95, 105, [](int frame, int level) {
    return std::min(255, level + (frame < 100 ? 0 : 5));
  });
  EXPECT_NEAR(step_beyond_source(jumping, source), 5 - source.steps[4], 0.3);
  EXPECT_EQ(step_beyond_source(source, source), 0);
}

TEST(SceneMeter, CutsSettleAfterExactlySoManyFrames) {
  const int cut = StabilityScene(SceneKind::cut).event().begin;
  const int end = cut + 30;
  EXPECT_EQ(measure(SceneKind::cut, cut - 1, end, same).settle_frames, 0U);
  const SceneFigures late = measure(SceneKind::cut, cut - 1, end, [&](int frame, int level) {
    return std::min(255, level + (frame >= cut && frame < cut + 3 ? 8 : 0));
  });
  EXPECT_EQ(late.settle_frames, 3U);
  EXPECT_FALSE(measure(SceneKind::noise, 0, 3, same).settle_frames.has_value());
}

}  // namespace
}  // namespace equalux::scenes
