// The limits of docs/quality.md: what preset `stable` makes of the scenes stays calm.
#include <algorithm>
#include <fstream>
#include <string>

#include <equalux/filter.h>
#include <gtest/gtest.h>

#include "tests/quality/scene_meter.h"
#include "tests/quality/stability_scenes.h"

namespace equalux {
namespace {

using scenes::SceneFigures;
using scenes::SceneKind;
using scenes::SceneMeter;
using scenes::StabilityScene;

/// Parameters of equalization as a preset's file has them; what else it sets is left out.
EqualizeParams preset(const std::string& name) {
  EqualizeParams params;
  std::ifstream file(std::string(EQUALUX_CONFIGS "/").append(name).append(".toml"));
  EXPECT_TRUE(file.is_open()) << name;
  for (std::string line; std::getline(file, line);) {
    const std::size_t equals = line.find(" = ");
    if (line.starts_with('#') || equals == std::string::npos) continue;
    const std::string key = line.substr(0, equals);
    if (find_option(equalize_options(), key) == nullptr) continue;
    set_option(params, key, line.substr(equals + 3, line.find(' ', equals + 3) - equals - 3));
  }
  EXPECT_GT(params.temporal_ms, 0) << name;
  return params;
}

struct Figures {
  SceneFigures result;
  SceneFigures source;
};

/// The frames of a scene from `begin` on, the first to be measured too.
Figures figures_of(const EqualizeParams& params, SceneKind kind, int begin, int end) {
  const StabilityScene scene(kind);
  SceneMeter result(scene);
  SceneMeter source(scene);
  const auto filter = make_cpu_filter(params);
  filter->configure(StabilityScene::kDesc);
  Image out(StabilityScene::kDesc);
  for (int i = begin; i < std::min(end, scene.frames()); ++i) {
    const Image in = scene.frame(i);
    FrameContext context;
    context.pts_ns = StabilityScene::pts_ns(i);
    filter->submit(in.view(), out.view(), context);
    result.add(i, in.view(), out.view());
    source.add(i, in.view(), in.view());
  }
  return {result.figures(), source.figures()};
}

TEST(Stability, FlickerIsAtMostAQuarterOfTheSources) {
  const Figures f = figures_of(preset("stable"), SceneKind::flicker, 0, 60);
  EXPECT_GT(f.source.step, 2.5);
  EXPECT_LE(step_over_source(f.result, f.source), 0.25);
}

TEST(Stability, AnObjectThatEntersMovesTheRestByATenthAtMost) {
  const Figures f = figures_of(preset("stable"), SceneKind::object, 0, 180);
  const auto over_frozen = step_over_frozen(f.result);
  ASSERT_TRUE(over_frozen.has_value());
  EXPECT_LE(*over_frozen, 1.1);
}

TEST(Stability, ACutSettlesInOneFrame) {
  const Figures f = figures_of(preset("stable"), SceneKind::cut, 60, 130);
  ASSERT_TRUE(f.result.settle_frames.has_value());
  EXPECT_LE(*f.result.settle_frames, 1U);
}

TEST(Stability, AFadeHasNoStepOfTwoLevelsBeyondTheSources) {
  const Figures f = figures_of(preset("stable"), SceneKind::fade, 40, 200);
  EXPECT_LE(step_beyond_source(f.result, f.source), 2);
}

TEST(Stability, ALogoMovesTheRestByThreeLevelsAtMost) {
  const Figures f = figures_of(preset("stable"), SceneKind::logo, 30, 150);
  EXPECT_LE(f.result.largest_move, 3);
  EXPECT_GT(f.result.largest_move, 0);
}

/// The same limits refuse what equalizes each frame by itself, so that they mean something.
TEST(Stability, EachFrameByItselfIsNotCalm) {
  EXPECT_GT(figures_of({}, SceneKind::logo, 30, 100).result.largest_move, 3);
  const auto over_frozen = step_over_frozen(figures_of({}, SceneKind::object, 0, 90).result);
  ASSERT_TRUE(over_frozen.has_value());
  EXPECT_GT(*over_frozen, 1.1);
}

TEST(Stability, EveryPresetUndoesFlicker) {
  for (const char* name :
       {"webcam", "low-light", "fog", "underwater", "endoscopy", "surveillance", "archive-film"}) {
    const Figures f = figures_of(preset(name), SceneKind::flicker, 0, 40);
    EXPECT_LE(step_over_source(f.result, f.source), 0.25) << name;
  }
}

}  // namespace
}  // namespace equalux
