// The limits of docs/quality.md: what preset `stable` makes of the scenes stays calm.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <equalux/filter.h>
#include <gtest/gtest.h>

#include "src/quality/clip_meter.h"
#include "src/quality/colourfulness.h"
#include "src/quality/noise.h"
#include "tests/quality/painted_frames.h"
#include "tests/quality/scene_meter.h"
#include "tests/quality/stability_scenes.h"
#include "tests/support/filter_chain.h"
#include "tests/support/long_counts.h"

namespace equalux {
namespace {

using scenes::SceneFigures;
using scenes::SceneKind;
using scenes::SceneMeter;
using scenes::StabilityScene;
using test::EveryNth;
using test::FilterChain;

/// Filters as a preset's file has them.
struct Preset {
  std::vector<FilterSpec> filters{{"equalize", {}}};
  EqualizeParams equalize;
};

Preset preset(const std::string& name) {
  Preset preset;
  std::ifstream file(std::string(EQUALUX_CONFIGS "/").append(name).append(".toml"));
  EXPECT_TRUE(file.is_open()) << name;
  for (std::string line; std::getline(file, line);) {
    const std::size_t equals = line.find(" = ");
    if (line.starts_with('#') || equals == std::string::npos) continue;
    const std::string key = line.substr(0, equals);
    if (key == "filter") {
      preset.filters.clear();
      std::size_t end = equals;
      for (std::size_t begin = 0; (begin = line.find('"', end + 1)) != std::string::npos;) {
        end = line.find('"', begin + 1);
        preset.filters.push_back(parse_filter_spec(line.substr(begin + 1, end - begin - 1)));
      }
    }
    if (find_option(equalize_options(), key) == nullptr) continue;
    std::string value = line.substr(equals + 3, line.find(' ', equals + 3) - equals - 3);
    std::erase(value, '"');
    set_option(preset.equalize, key, value);
  }
  EXPECT_GT(preset.equalize.temporal_ms, 0) << name;
  return preset;
}

/// A preset's filters, frame by frame.
class PresetChain {
 public:
  explicit PresetChain(const Preset& preset) : chain_(filters_of(preset), StabilityScene::kDesc) {}

  ConstImageView process(int number, const ConstImageView& in) {
    FrameContext context;
    context.pts_ns = StabilityScene::pts_ns(number);
    return chain_.process(in, context);
  }

 private:
  static FilterChain::Filters filters_of(const Preset& preset) {
    FilterChain::Filters filters;
    for (const FilterSpec& spec : preset.filters)
      filters.push_back(make_cpu_filter(spec, preset.equalize));
    return filters;
  }

  FilterChain chain_;
};

/// Figures of the frames of a scene from `begin` on, the first to be measured too. Those of the
/// frames as they were, which take as long again, where they are asked for.
SceneFigures figures_of(const Preset& preset, SceneKind kind, int begin, int end,
                        SceneFigures* of_source = nullptr) {
  const StabilityScene scene(kind);
  SceneMeter result(scene);
  SceneMeter source(scene);
  PresetChain chain(preset);
  for (int i = begin; i < std::min(end, scene.frames()); ++i) {
    const Image in = scene.frame(i);
    result.add(i, in.view(), chain.process(i, in.view()));
    if (of_source != nullptr) source.add(i, in.view(), in.view());
  }
  if (of_source != nullptr) *of_source = source.figures();
  return result.figures();
}

TEST(Stability, FlickerIsAtMostAQuarterOfTheSources) {
  SceneFigures source;
  const SceneFigures result = figures_of(preset("stable"), SceneKind::flicker, 0, 60, &source);
  EXPECT_GT(source.step, 2.5);
  EXPECT_LE(step_over_source(result, source), 0.25);
}

TEST(Stability, AnObjectThatEntersMovesTheRestByATenthAtMost) {
  const auto over_frozen =
      step_over_frozen(figures_of(preset("stable"), SceneKind::object, 0, 180));
  ASSERT_TRUE(over_frozen.has_value());
  EXPECT_LE(*over_frozen, 1.1);
}

TEST(Stability, ACutSettlesInOneFrame) {
  const auto settled = figures_of(preset("stable"), SceneKind::cut, 60, 130).settle_frames;
  ASSERT_TRUE(settled.has_value());
  EXPECT_LE(*settled, 1U);
}

TEST(Stability, AFadeHasNoStepOfTwoLevelsBeyondTheSources) {
  SceneFigures source;
  const SceneFigures result = figures_of(preset("stable"), SceneKind::fade, 40, 200, &source);
  EXPECT_LE(step_beyond_source(result, source), 2);
}

TEST(Stability, ALogoMovesTheRestByThreeLevelsAtMost) {
  const double move = figures_of(preset("stable"), SceneKind::logo, 30, 150).largest_move;
  EXPECT_LE(move, 3);
  EXPECT_GT(move, 0);
}

/// The same limits refuse what equalizes each frame by itself, so that they mean something.
TEST(Stability, EachFrameByItselfIsNotCalm) {
  EXPECT_GT(figures_of({}, SceneKind::logo, 30, 100).largest_move, 3);
  const auto over_frozen = step_over_frozen(figures_of({}, SceneKind::object, 0, 90));
  ASSERT_TRUE(over_frozen.has_value());
  EXPECT_GT(*over_frozen, 1.1);
}

TEST(Stability, EveryPresetUndoesFlicker) {
  EveryNth preset_in_two(2);
  for (const char* name : {"webcam", "low-light", "fog", "haze", "underwater", "endoscopy",
                           "surveillance", "archive-film"}) {
    if (preset_in_two.skips()) continue;
    SceneFigures source;
    const SceneFigures result = figures_of(preset(name), SceneKind::flicker, 0, 40, &source);
    EXPECT_LE(step_over_source(result, source), 0.25) << name;
  }
}

/// A face in good light: half of the picture, before a bright wall.
TEST(Stability, ALitFaceStaysAsItIs) {
  const ImageDesc desc = StabilityScene::kDesc;
  test::Grain grain(1.5, 3);
  const Image frame = test::painted(desc.width, desc.height, [&](int x, int y) {
    if (x < desc.width / 2)
      return test::grey(static_cast<int>(10 + 240 * std::sqrt(double(y) / desc.height)) +
                        grain.next());
    const int light = 150 + 30 * x / desc.width;
    const auto share = [light](int part) { return static_cast<std::uint8_t>(light * part / 20); };
    return test::Rgb{share(20), share(15), share(12)};
  });
  const auto face_of = [&](const Preset& preset) {
    PresetChain chain(preset);
    ConstImageView result;
    for (int i = 0; i < 10; ++i)
      result = chain.process(i, frame.view());
    const quality::SkinValues face = quality::skin_values(frame.view(), &result);
    EXPECT_GE(face.pixels, static_cast<std::uint64_t>(desc.width) * desc.height / 2);
    return face.result / face.original;
  };
  for (const char* name : {"webcam", "low-light", "surveillance"}) {
    Preset filters = preset(name);
    EXPECT_GE(face_of(filters), 0.95) << name;
    filters.equalize.min_gain = 0;
    EXPECT_LT(face_of(filters), 0.93) << name;
  }
}

/// By how much a preset moves the mean, and the structural similarity that is left.
std::pair<double, double> change_by(const Preset& preset, const Image& frame) {
  PresetChain chain(preset);
  ConstImageView result;
  for (int i = 0; i < 10; ++i)
    result = chain.process(i, frame.view());
  quality::ClipMeter meter(frame.desc().width, frame.desc().height, true);
  meter.add(frame.view(), &result);
  const quality::PairFigures both = meter.figures().pair.value();
  return {both.ambe, both.ssim.value()};
}

/// What has contrast is left nearly as it is; the same under a veil gets it back.
TEST(Stability, AGoodPictureChangesLittle) {
  const ImageDesc desc = StabilityScene::kDesc;
  test::Grain grain(1.5, 3);
  const auto scene = [&](double contrast, int veil) {
    return test::painted(desc.width, desc.height, [&](int x, int y) {
      const double light = 128 + 70 * std::sin(x / 37.0) + 50 * std::cos((x + 2 * y) / 23.0);
      return test::grey(static_cast<int>(veil + contrast * light) + grain.next());
    });
  };
  for (const char* name : {"stable", "surveillance"}) {
    const auto [moved, kept] = change_by(preset(name), scene(1, 0));
    EXPECT_LT(moved, 4) << name;
    EXPECT_GT(kept, 0.95) << name;
    EXPECT_LT(change_by(preset(name), scene(0.3, 120)).second, 0.8) << name;
  }
}

constexpr const char* kDenoising[] = {"webcam", "low-light", "surveillance", "endoscopy",
                                      "archive-film"};

/// Those for the dark hold all of the limits with noise reduction too.
TEST(Stability, PresetsAgainstNoiseAreAsCalm) {
  EveryNth preset_in_two(2);
  for (const char* name : {"webcam", "low-light"}) {
    if (preset_in_two.skips()) continue;
    SCOPED_TRACE(name);
    const Preset filters = preset(name);
    ASSERT_EQ(filters.filters.back().name, "denoise");
    // Results are no function of V, so that nothing can be frozen: calmer than the curve alone.
    Preset curve = filters;
    curve.filters = {{"equalize", {}}};
    EXPECT_LE(figures_of(filters, SceneKind::object, 0, 180).step,
              figures_of(curve, SceneKind::object, 0, 180).step);
    const auto settled = figures_of(filters, SceneKind::cut, 60, 130).settle_frames;
    ASSERT_TRUE(settled.has_value());
    EXPECT_LE(*settled, 1U);
    SceneFigures source;
    const SceneFigures fade = figures_of(filters, SceneKind::fade, 40, 200, &source);
    EXPECT_LE(step_beyond_source(fade, source), 2);
    EXPECT_LE(figures_of(filters, SceneKind::logo, 30, 150).largest_move, 3);
  }
}

/// What becomes of frame `number` of a scene, from frame `begin` on.
struct Outcome {
  quality::Planes source;
  quality::Planes result;
};
Outcome outcome_of(const Preset& preset, SceneKind kind, int begin, int number) {
  const StabilityScene scene(kind);
  PresetChain chain(preset);
  for (int i = begin;; ++i) {
    const Image in = scene.frame(i);
    const ConstImageView out = chain.process(i, in.view());
    if (i == number) return {quality::planes_of(in.view()), quality::planes_of(out)};
  }
}

/// Noise of a result's flat blocks over that of the source.
double noise_gain(const Outcome& outcome) {
  const quality::BlockGrid grid(outcome.source.width, outcome.source.height);
  const quality::BlockMask flat = quality::flat_blocks(outcome.source, grid);
  return quality::noise_sigma(outcome.result, grid, flat).value() /
         quality::noise_sigma(outcome.source, grid, flat).value();
}

TEST(Stability, PresetsAgainstNoiseDoNotEnlargeIt) {
  for (const char* name : kDenoising) {
    Preset filters = preset(name);
    EXPECT_LE(noise_gain(outcome_of(filters, SceneKind::noise, 0, 20)), 1) << name;
    filters.filters = {{"equalize", {}}};
    EXPECT_GT(noise_gain(outcome_of(filters, SceneKind::noise, 0, 20)), 1.3) << name;
  }
}

TEST(Stability, TheSecondFrameBehindACutHasNothingOfThePictureBefore) {
  const int cut = StabilityScene(SceneKind::cut).event().begin;
  for (const char* name : kDenoising) {
    const Outcome after = outcome_of(preset(name), SceneKind::cut, cut - 20, cut + 1);
    const Outcome alone = outcome_of(preset(name), SceneKind::cut, cut, cut + 1);
    // Of blocks, in which what noise is left averages out.
    const quality::BlockGrid grid(after.result.width, after.result.height);
    EXPECT_LE(quality::rms_difference(quality::block_means(after.result, grid),
                                      quality::block_means(alone.result, grid),
                                      quality::BlockMask(grid.count(), 1)),
              0.3)
        << name;
  }
}

}  // namespace
}  // namespace equalux
