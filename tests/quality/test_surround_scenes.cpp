// The black around a picture over time: on scenes in which one thing happens, and in the dark.
#include <equalux/filter.h>
#include <gtest/gtest.h>

#include "tests/equalize/seen_surround.h"
#include "tests/quality/scene_meter.h"
#include "tests/quality/stability_scenes.h"
#include "tests/support/filter_changes.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/surround_frames.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using test::closed_share;
using test::Content;
using test::Opening;
using test::picture;
using test::Seen;

/// Pictures without black around them, down to a tenth of their light, with a camera's noise.
TEST(SurroundScenes, IsNoneOnDarkNaturalPictures) {
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    for (const int percent : {100, 40, 15, 4}) {
      const ImageDesc desc{PixelFormat::bgr, 640, 360};
      Seen seen(desc);
      Image picture(desc);
      Image frame(desc);
      test::fill(picture.view(), Content::natural, seed);
      for (int i = 0; i < 33; ++i) {  // longer than a second
        scenes::darken(picture.view(), percent, i, frame.view());
        seen.see(frame.view());
        ASSERT_FALSE(seen.any()) << "seed " << seed << ", " << percent << " %, frame " << i;
      }
    }
  }
}

TEST(SurroundScenes, IsNoneOnTheStabilityScenesButTheBars) {
  for (const scenes::SceneKind kind : scenes::all_scenes()) {
    const scenes::StabilityScene scene(kind);
    const bool bars = kind == scenes::SceneKind::letterbox;
    Seen seen(scenes::StabilityScene::kDesc);
    Image frame(scenes::StabilityScene::kDesc);
    for (int i = 57; i < (bars ? 124 : 92); ++i) {
      scene.draw(i, frame.view());
      seen.see(frame.view());
      const bool event = i >= scene.event().begin && i < scene.event().end;
      ASSERT_EQ(seen.any(), bars && event) << scenes::name_of(kind) << " frame " << i;
    }
  }
}

/// What was found stays while the picture inside is dark or gone, and is not put together from the
/// dark parts of one.
TEST(SurroundScenes, StaysThroughDarkScenes) {
  const ImageDesc desc{PixelFormat::bgr, 640, 480};
  Image frame = picture(desc, 4);
  test::close(frame.view(), Opening::octagon, false);
  Image dark(desc);
  Seen seen(desc);
  for (int i = 0; i < 130; ++i) {
    const int percent = i < 5 ? 100 : (i < 55 ? 100 - 2 * (i - 4) : (i < 95 ? 0 : 60));
    scenes::darken(frame.view(), percent, i, dark.view());
    seen.see(dark.view());
    ASSERT_TRUE(seen.any()) << i;
  }
  EXPECT_NEAR(seen.share(dark.view()), closed_share(Opening::octagon, desc), 0.03);
}

/// How far bars that come and go move the picture between them: found, or told of by a region.
double letterbox_move(EqualizeParams params, Surround surround, bool told = false) {
  const scenes::StabilityScene scene(scenes::SceneKind::letterbox);
  scenes::SceneMeter meter(scene);
  params.surround = surround;
  const auto filter = make_cpu_filter(params, {1});
  filter->configure(scenes::StabilityScene::kDesc);
  Image original(scenes::StabilityScene::kDesc);
  Image result(scenes::StabilityScene::kDesc);
  for (int i = 38; i < 130; ++i) {
    if (told && (i == scene.event().begin || i == scene.event().end)) {
      params.region = i == scene.event().begin ? "0,45,640,270" : "";
      static_cast<void>(retune(*filter, params));
    }
    scene.draw(i, original.view());
    FrameContext context;
    context.pts_ns = scenes::StabilityScene::pts_ns(i);
    filter->submit(original.view(), result.view(), context);
    meter.add(i, original.view(), result.view());
  }
  return meter.figures().largest_move;
}

/// What still moves is that a quarter of the picture is gone.
TEST(SurroundScenes, BarsThatComeAndGoMoveThePictureNoMoreThanWithoutThem) {
  EqualizeParams calm;
  calm.strength = 0.5;
  calm.clip_limit = 3;
  calm.temporal_ms = 1000;
  test::EveryNth second(2);
  for (const EqualizeParams& params : {EqualizeParams{}, calm}) {
    if (second.skips()) continue;
    const double ignored = letterbox_move(params, Surround::ignore);
    EXPECT_LT(ignored, letterbox_move(params, Surround::keep, true) + 0.2);
    EXPECT_LT(ignored, params == calm ? 2 : 3.5);
    EXPECT_GT(letterbox_move(params, Surround::keep), 2 * ignored);
  }
}

}  // namespace
}  // namespace equalux
