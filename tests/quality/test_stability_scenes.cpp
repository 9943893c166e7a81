#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/quality/stability_scenes.h"
#include "tests/support/media/test_images.h"

namespace equalux::scenes {
namespace {

/// FNV-1a over the samples.
std::uint64_t hash_of(const Image& image) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const std::uint8_t byte : test::tight_copy(image.view()))
    hash = (hash ^ byte) * 0x100000001B3ULL;
  return hash;
}

/// Mean of all samples of still pixels.
double still_level(const StabilityScene& scene, const Image& frame) {
  double sum = 0;
  double count = 0;
  for (int y = 0; y < StabilityScene::kDesc.height; ++y) {
    const std::uint8_t* row = frame.view().row(0, y);
    for (std::size_t x = 0; x < 640; ++x) {
      if (scene.still_mask()[static_cast<std::size_t>(y) * 640 + x] == 0) continue;
      sum += row[3 * x] + row[3 * x + 1] + row[3 * x + 2];
      count += 3;
    }
  }
  return sum / count;
}

/// Standard deviation of the difference of two frames over the still pixels.
double still_noise(const StabilityScene& scene, const Image& a, const Image& b) {
  double sum = 0;
  double squares = 0;
  double count = 0;
  for (int y = 0; y < StabilityScene::kDesc.height; ++y) {
    for (std::size_t x = 0; x < 640 * 3; ++x) {
      if (scene.still_mask()[static_cast<std::size_t>(y) * 640 + x / 3] == 0) continue;
      const double difference = a.view().row(0, y)[x] - b.view().row(0, y)[x];
      sum += difference;
      squares += difference * difference;
      ++count;
    }
  }
  return std::sqrt(squares / count - sum / count * (sum / count));
}

TEST(StabilityScenes, EveryFrameIsAFunctionOfItsNumber) {
  const StabilityScene scene(SceneKind::flicker);
  const StabilityScene again(SceneKind::flicker);
  EXPECT_EQ(hash_of(scene.frame(7)), hash_of(again.frame(7)));
  EXPECT_EQ(hash_of(scene.frame(7)), hash_of(scene.frame(7)));
  EXPECT_NE(hash_of(scene.frame(7)), hash_of(scene.frame(8)));
}

// The figures in docs/quality.md are of these very bytes.
TEST(StabilityScenes, BytesAreTheSameOnEveryMachine) {
  EXPECT_EQ(hash_of(StabilityScene(SceneKind::noise).frame(0)), 10257725950177624490ULL);
  EXPECT_EQ(hash_of(StabilityScene(SceneKind::object).frame(90)), 16969120664262634611ULL);
  EXPECT_EQ(hash_of(StabilityScene(SceneKind::beat_100hz).frame(100)), 11741122377249437241ULL);
}

TEST(StabilityScenes, NamesDiffer) {
  std::set<std::string_view> names;
  for (const SceneKind kind : all_scenes())
    names.insert(name_of(kind));
  EXPECT_EQ(names.size(), all_scenes().size());
}

TEST(StabilityScenes, NoiseHasItsSigma) {
  for (const SceneKind kind : {SceneKind::noise, SceneKind::object, SceneKind::letterbox}) {
    const StabilityScene scene(kind);
    const int middle = (scene.event().begin + scene.event().end) / 2;
    // Two frames' noise, 3 sqrt(2), and two roundings; a little less where it is cut off at black.
    EXPECT_NEAR(still_noise(scene, scene.frame(middle), scene.frame(middle + 1)), 4.24, 0.08)
        << name_of(kind);
  }
}

TEST(StabilityScenes, NothingMovesTheStillPixelsButLight) {
  for (const SceneKind kind : {SceneKind::object, SceneKind::logo, SceneKind::letterbox}) {
    const StabilityScene scene(kind);
    const int middle = (scene.event().begin + scene.event().end) / 2;
    const Image before = scene.frame(scene.event().begin - 1);
    const Image during = scene.frame(middle);
    EXPECT_NEAR(still_noise(scene, before, during), 4.24, 0.08) << name_of(kind);
    EXPECT_NEAR(still_level(scene, before), still_level(scene, during), 0.02) << name_of(kind);
    EXPECT_GT(test::count_differences(before.view(), during.view()), 0U);
  }
}

TEST(StabilityScenes, LightFlickersByThreePercent) {
  const double level =
      still_level(StabilityScene(SceneKind::noise), StabilityScene(SceneKind::noise).frame(0));
  const StabilityScene scene(SceneKind::flicker);
  int slips = 0;
  double last = still_level(scene, scene.frame(0));
  for (int i = 1; i < 60; ++i) {
    const double now = still_level(scene, scene.frame(i));
    EXPECT_NEAR(std::abs(now / level - 1), 0.03, 0.002) << i;
    slips += std::abs(now - last) < 0.02 * level ? 1 : 0;
    last = now;
  }
  EXPECT_GT(slips, 1);
  EXPECT_LT(slips, 15);
}

TEST(StabilityScenes, FadeEndsAtAQuarter) {
  const StabilityScene scene(SceneKind::fade);
  const double before = still_level(scene, scene.frame(0));
  EXPECT_NEAR(still_level(scene, scene.frame(scene.frames() - 1)) / before, 0.25, 0.01);
}

TEST(StabilityScenes, CutIsOneFrame) {
  const StabilityScene scene(SceneKind::cut);
  const int cut = scene.event().begin;
  EXPECT_NEAR(still_noise(scene, scene.frame(cut - 2), scene.frame(cut - 1)), 4.24, 0.08);
  EXPECT_NEAR(still_noise(scene, scene.frame(cut), scene.frame(cut + 1)), 4.24, 0.08);
  EXPECT_GT(still_noise(scene, scene.frame(cut - 1), scene.frame(cut)), 20);
}

TEST(StabilityScenes, DarkenedClipsHaveTheirLightAndNoise) {
  Image flat({PixelFormat::bgr, 320, 200});
  for (int y = 0; y < 200; ++y)
    std::fill_n(flat.view().row(0, y), 960, std::uint8_t{200});
  Image dark(flat.desc());
  darken(flat.view(), 40, 3, dark.view());
  double sum = 0;
  double squares = 0;
  for (const std::uint8_t level : test::tight_copy(dark.view())) {
    sum += level;
    squares += level * level;
  }
  const double mean = sum / (320 * 200 * 3);
  EXPECT_NEAR(mean, 80, 0.1);
  EXPECT_NEAR(std::sqrt(squares / (320 * 200 * 3) - mean * mean), 3, 0.05);
}

TEST(StabilityScenes, ObjectComesAndGoes) {
  const StabilityScene scene(SceneKind::object);
  const auto moved = [&](int frame) {
    return test::max_difference(scene.frame(frame).view(),
                                StabilityScene(SceneKind::noise).frame(frame).view()) > 0;
  };
  EXPECT_FALSE(moved(scene.event().begin - 1));
  EXPECT_TRUE(moved(scene.event().begin));
  EXPECT_TRUE(moved(scene.event().end - 2));
  EXPECT_FALSE(moved(scene.event().end));
}

}  // namespace
}  // namespace equalux::scenes
