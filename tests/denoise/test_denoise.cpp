#include <cmath>
#include <random>

#include <equalux/denoise.h>
#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "src/common/base64.h"
#include "src/denoise/noise_estimate.h"
#include "src/format/layout.h"
#include "tests/denoise/denoise_pictures.h"
#include "tests/denoise/reference_denoise.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/moving_frames.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using test::code_at;
using test::component_indices;
using test::Grid;
using test::GridComponent;
using test::grids_of;
using test::PaddedImage;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The number of samples that are not as expected.
int count_wrong(const std::vector<Grid>& expected, const ConstImageView& view, int first = 0,
                int step = 1) {
  const std::vector<GridComponent> is = grids_of(view, first, step);
  int wrong = 0;
  for (std::size_t c = 0; c < is.size(); ++c)
    for (std::size_t i = 0; i < is[c].samples.at.size(); ++i)
      wrong += is[c].samples.at[i] != expected[c].at[i] ? 1 : 0;
  return wrong;
}

/// Frames of a scene, one after another.
class Scene {
 public:
  Scene(double dx, double dy, double sigma) : Scene(test::Scene{dx, dy, sigma}) {}
  explicit Scene(const test::Scene& scene) : scene_(scene), random_(7) {}

  /// Writes the next frame; noise of it is left out where `noise` is false.
  void next(const ImageView& out, bool noise = true) {
    test::Scene scene = scene_;
    if (!noise) scene.sigma = 0;
    test::draw_scene(out, scene, number_++, random_, normal_);
  }

 private:
  test::Scene scene_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  int number_ = 0;
};

/// Root of the mean square of differences in the first component, in levels of 8 bits.
double rms(const ConstImageView& a, const ConstImageView& b) {
  const int first = component_indices(a.desc.format).front();
  double sum = 0;
  for (int y = 0; y < a.desc.height; ++y)
    for (int x = 0; x < a.desc.width; ++x)
      sum += std::pow(code_at(a, first, x, y) - code_at(b, first, x, y), 2);
  return std::sqrt(sum / a.desc.width / a.desc.height) / (1 << (traits(a.desc.format).depth - 8));
}

void expect_defined(const DenoiseParams& params, const ImageDesc& desc, Scene scene, int frames,
                    int threads, int padding, bool negative) {
  SCOPED_TRACE(std::string(to_string(desc.format)) + " " + std::to_string(desc.width) + "x" +
               std::to_string(desc.height));
  const auto filter = make_cpu_filter(params, {threads});
  ASSERT_EQ(filter->configure(desc), desc);
  test::ReferenceDenoiser reference(params);
  PaddedImage in(desc, padding, negative, padding % 7);
  PaddedImage out(desc, padding, negative, (padding + 3) % 5);
  test::fill(in.view(), test::Content::noise, 5);  // the fourth sample of RGB, too
  for (int i = 0; i < frames; ++i) {
    SCOPED_TRACE("frame " + std::to_string(i));
    scene.next(in.view());
    const std::vector<Grid> expected =
        reference.process(grids_of(in.view()), traits(desc.format).depth);
    FrameContext context;
    context.index = static_cast<std::uint64_t>(i);
    if (i % 2 == 0) {
      test::fill(out.view(), test::Content::noise, 99);
      filter->submit(in.view(), out.view(), context);
    } else {
      copy_image(in.view(), out.view());
      filter->submit(out.view(), out.view(), context);
    }
    ASSERT_EQ(count_wrong(expected, out.view()), 0);
    const int alpha = traits(desc.format).alpha_offset;
    for (int x = 0; alpha >= 0 && x < desc.width; ++x)
      ASSERT_EQ(in.view().row(0, 0)[4 * x + alpha], out.view().row(0, 0)[4 * x + alpha]);
    const bool pairs = samples_of(in.view(), 0).step == 2 && traits(desc.format).planes == 1;
    for (int y = 0; pairs && desc.width % 2 != 0 && y < desc.height; ++y) {
      ASSERT_EQ(*samples_of(in.view(), 0).at(desc.width, y),
                *samples_of(out.view(), 0).at(desc.width, y))
          << "the luma behind an odd width";
    }
    ASSERT_TRUE(in.padding_intact());
    ASSERT_TRUE(out.padding_intact());
  }
}

TEST(Denoise, EveryFormatEqualsTheDefinition) {
  test::EveryNth second(2);
  for (const PixelFormat format : test::denoised_formats()) {
    if (second.skips()) continue;
    const ImageDesc desc{format, 75, 43};
    expect_defined({}, desc, Scene(1.3, 0.4, 3), 4, 1, 0, false);
  }
}

TEST(Denoise, EverySizeStrideAndNumberOfThreadsEqualsTheDefinition) {
  int padding = 0;
  test::EveryNth second(2);
  for (const auto& [width, height] : std::vector<std::pair<int, int>>{{1, 1},
                                                                      {1, 40},
                                                                      {40, 1},
                                                                      {2, 2},
                                                                      {3, 5},
                                                                      {16, 16},
                                                                      {17, 33},
                                                                      {64, 8},
                                                                      {65, 90},
                                                                      {130, 31},
                                                                      {33, 300},
                                                                      {20, 403}}) {
    for (const PixelFormat format : {PixelFormat::i420, PixelFormat::yuy2, PixelFormat::bgr}) {
      ++padding;
      if (second.skips()) continue;
      const ImageDesc desc{format, width, height};
      expect_defined({}, desc, Scene(-2.2, 1.1, 4), 3, 1 + padding % 3, padding, padding % 4 > 1);
    }
  }
}

TEST(Denoise, EveryOptionEqualsTheDefinition) {
  const ImageDesc desc{PixelFormat::nv12, 98, 66};
  test::EveryNth second(2);
  for (const DenoiseParams& params : test::denoise_option_cases()) {
    if (second.skips()) continue;
    SCOPED_TRACE(option_text(params, "noise"));
    expect_defined(params, desc, Scene(0.5, -0.7, 3), 5, 2, 0, false);
  }
}

TEST(Denoise, StillPannedFastAndHardContentEqualsTheDefinition) {
  const ImageDesc desc{PixelFormat::i420, 160, 112};
  for (const auto& [dx, dy, sigma] : std::vector<std::array<double, 3>>{
           {0, 0, 3}, {9.6, -5.2, 2}, {-26, 13, 1}, {0, 0, 0}, {3, 3, 60}})
    expect_defined({}, desc, Scene(dx, dy, sigma), 6, 1, 0, false);
}

TEST(Denoise, NoiseThatNeighboursShareEqualsTheDefinition) {
  for (const PixelFormat format : {PixelFormat::i420, PixelFormat::p010_10le, PixelFormat::bgr}) {
    for (const double speed : {0.0, 2.3})
      expect_defined({}, {format, 161, 115}, Scene({speed, -speed / 2, 3, 1000, 3}), 8, 2, 0,
                     false);
  }
}

TEST(Denoise, BlotchesOfLumaEqualTheDefinition) {
  using enum PixelFormat;
  for (const PixelFormat format : {gray8, i420, p010_10le, bgr}) {
    for (const double speed : {0.0, 2.3}) {
      expect_defined({}, {format, 233, 135}, Scene({speed, -speed / 2, 3, 6, 7}), 12, 2, 0, false);
    }
  }
}

TEST(Denoise, BlotchesOfColourEqualTheDefinition) {
  using enum PixelFormat;
  for (const PixelFormat format : {i420, y42b, y444, p010_10le, bgr}) {
    for (const double speed : {0.0, 2.3}) {
      expect_defined({}, {format, 233, 135}, Scene({speed, -speed / 2, 3, 1000, 1, 9}), 9, 2, 0,
                     false);
    }
  }
}

TEST(Denoise, CutsFlickerAndFlatFramesEqualTheDefinition) {
  const ImageDesc desc{PixelFormat::y42b, 70, 50};
  const auto filter = make_cpu_filter(DenoiseParams{}, {1});
  filter->configure(desc);
  test::ReferenceDenoiser reference({});
  Image frame(desc);
  FrameContext context;
  for (int i = 0; i < 40; ++i) {
    test::fill_moving(frame.view(), i);
    const auto expected = reference.process(grids_of(frame.view()), 8);
    filter->submit(frame.view(), frame.view(), context);
    ASSERT_EQ(count_wrong(expected, frame.view()), 0) << "frame " << i;
  }
}

TEST(Denoise, FieldsArePicturesOfTheirOwn) {
  const ImageDesc desc{PixelFormat::i420, 66, 63};
  const auto filter = make_cpu_filter(DenoiseParams{}, {1});
  filter->configure(desc);
  std::array<test::ReferenceDenoiser, 2> fields{test::ReferenceDenoiser({}),
                                                test::ReferenceDenoiser({})};
  Scene scene(1, 0.5, 3);
  Image frame(desc);
  for (int i = 0; i < 4; ++i) {
    scene.next(frame.view());
    FrameContext context;
    context.field_order = FieldOrder::bottom_first;
    std::array<std::vector<Grid>, 2> expected;
    for (int parity = 0; parity < 2; ++parity) {
      expected[static_cast<std::size_t>(parity)] =
          fields[static_cast<std::size_t>(parity)].process(grids_of(frame.view(), parity, 2), 8);
    }
    filter->submit(frame.view(), frame.view(), context);
    for (int parity = 0; parity < 2; ++parity) {
      ASSERT_EQ(count_wrong(expected[static_cast<std::size_t>(parity)], frame.view(), parity, 2), 0)
          << "frame " << i;
    }
  }
}

TEST(Denoise, FieldsBehindFramesAndFramesBehindFieldsStartAnew) {
  const ImageDesc desc{PixelFormat::nv12, 66, 63};
  const auto filter = make_cpu_filter(DenoiseParams{}, {2});
  filter->configure(desc);
  Scene scene(0.8, 0.3, 3);
  Image frame(desc);
  Image other(desc);
  using enum FieldOrder;
  for (const FieldOrder order : {progressive, top_first, progressive, bottom_first}) {
    const auto anew = make_cpu_filter(DenoiseParams{}, {2});
    anew->configure(desc);
    FrameContext context;
    context.field_order = order;
    for (int i = 0; i < 3; ++i) {
      scene.next(frame.view());
      anew->submit(frame.view(), other.view(), context);
      filter->submit(frame.view(), frame.view(), context);
      ASSERT_EQ(test::count_differences(frame.view(), other.view()), 0U) << i;
    }
    EXPECT_EQ(filter->save(), anew->save());
  }
}

TEST(Denoise, ASavedStateGoesOnWithTheSameBytes) {
  for (const FieldOrder order : {FieldOrder::progressive, FieldOrder::top_first}) {
    const ImageDesc desc{PixelFormat::p010_10le, 83, 57};
    const auto first = make_cpu_filter(DenoiseParams{}, {1});
    first->configure(desc);
    EXPECT_EQ(first->save(), "{}");
    Scene scene(0.8, 0.3, 3);
    Image frame(desc);
    Image other(desc);
    FrameContext context;
    context.field_order = order;
    for (int i = 0; i < 5; ++i) {
      scene.next(frame.view());
      first->submit(frame.view(), frame.view(), context);
    }
    const auto second = make_cpu_filter(DenoiseParams{}, {3});
    second->configure(desc);
    second->load(first->save());
    EXPECT_EQ(second->save(), first->save());
    for (int i = 0; i < 3; ++i) {
      scene.next(frame.view());
      second->submit(frame.view(), other.view(), context);
      first->submit(frame.view(), frame.view(), context);
      EXPECT_EQ(test::count_differences(frame.view(), other.view()), 0U) << i;
    }
    second->reset();
    EXPECT_EQ(second->save(), "{}");
  }
}

/// Filter that has filtered the first frame of a scene.
std::unique_ptr<Filter> after_one_frame(const ImageDesc& desc, Scene scene) {
  auto filter = make_cpu_filter(DenoiseParams{}, {1});
  filter->configure(desc);
  Image frame(desc);
  FrameContext context;
  scene.next(frame.view());
  filter->submit(frame.view(), frame.view(), context);
  return filter;
}

/// States of version 1 have no coarse textures, those of version 2 no residuals, those of version 3
/// no swings, those of version 4 no changes and no trends, and no frame has given any after the
/// first picture.
TEST(Denoise, StatesOfTheVersionsBeforeAreRead) {
  const auto filter = after_one_frame({PixelFormat::i420, 83, 57}, {0.8, 0.3, 3});
  const std::string state = filter->save();
  for (const std::size_t version : {1, 2, 3, 4}) {
    nlohmann::json old = nlohmann::json::parse(state);
    old["version"] = version;
    for (nlohmann::json& component : old["frames"]["components"]) {
      std::optional<std::string> noise = base64_bytes(component["noise"].get<std::string>());
      ASSERT_TRUE(noise);
      noise->resize(noise->size() / 5 * version);
      component["noise"] = base64_text(*noise);
      component.erase("trends");
    }
    filter->reset();
    filter->load(old.dump());
    EXPECT_EQ(filter->save(), state) << version;
  }
}

/// Frames whose noise is given leave it to be measured, also where a state is saved between them.
TEST(Denoise, NoiseThatIsNoLongerGivenIsMeasuredBeforeItIsUsed) {
  const ImageDesc desc{PixelFormat::i420, 98, 66};
  DenoiseParams params;
  params.noise = 2;
  const auto filter = make_cpu_filter(params, {1});
  filter->configure(desc);
  test::ReferenceDenoiser reference(params);
  Scene scene(0.4, 0, 3);
  Image frame(desc);
  FrameContext context;
  for (int i = 0; i < 8; ++i) {
    if (i == 2) {
      const std::string state = filter->save();
      filter->reset();
      filter->load(state);
      EXPECT_EQ(filter->save(), state);
    }
    for (const auto& [at, noise] : {std::pair(3, "0"), {5, "2"}, {6, "0"}}) {
      if (i != at) continue;
      EXPECT_TRUE(filter->update({{"noise", noise}}));
      params.noise = *noise - '0';
      reference.set_params(params);
    }
    scene.next(frame.view());
    const auto expected = reference.process(grids_of(frame.view()), 8);
    filter->submit(frame.view(), frame.view(), context);
    ASSERT_EQ(count_wrong(expected, frame.view()), 0) << i;
  }
}

TEST(Denoise, AStateOfSomethingElseIsRefusedAndChangesNothing) {
  const auto filter = after_one_frame({PixelFormat::gray8, 20, 20}, {0, 0, 3});
  const std::string state = filter->save();

  const auto refused = [&](const std::string& text, const char* part) {
    try {
      filter->load(text);
      ADD_FAILURE() << "taken: " << text.substr(0, 80);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), HasSubstr(part));
    }
    EXPECT_EQ(filter->save(), state);
  };
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = state;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  refused("[]", "state");
  refused("{\"version\":5}", "state cannot be read: key 'format' not found; must be of a filter");
  refused(with("\"version\":5", "\"version\":2"), "its noise has the wrong size");
  refused(with("\"version\":5", "\"version\":1"), "its noise has the wrong size");
  refused(with("\"version\":5", "\"version\":6"), "version 6, must be 1 to 5");
  refused(with("[20,20]", "[20,21]"), "must be of \"gray8\" [20,20]");
  refused(with("\"estimate\":\"", "\"estimate\":\"AAAA"), "wrong size");
  refused(with("\"estimate\":\"", "\"estimate\":\"!"), "base64");
  refused(with("\"weight\":\"AQEB", "\"weight\":\"AQEg"), "a sample is 32, must be 0 to 31");
  refused(with("\"vectors\":\"AAAA", "\"vectors\":\""), "other components");
  refused(with("\"noise\":\"AAAA", "\"noise\":\""), "noise has the wrong size");
  refused(with("\"trends\":\"AAA=", "\"trends\":\"AAAA"), "trends have the wrong size");
  refused(with("\"trends\":\"AAA=", "\"trends\":\"AAM="), "a trend is 3, must be 0 to 2");
  nlohmann::json without_noise = nlohmann::json::parse(state);
  without_noise["frames"]["components"][0]["noise"] = "";
  refused(without_noise.dump(), "trends have the wrong size");
  for (const char* const number : {"0", "-1", "1.5", "4294967296"}) {
    refused(with("\"pictures\":1", std::string("\"pictures\":") + number),
            "must be a whole number from 1 to 4294967295");
  }
}

TEST(Denoise, BottomFieldsOfFramesOfOneRowAreRefused) {
  const ImageDesc desc{PixelFormat::gray8, 20, 1};
  const auto filter = make_cpu_filter(DenoiseParams{}, {1});
  filter->configure(desc);
  Image frame(desc);
  FrameContext context;
  context.field_order = FieldOrder::top_first;
  filter->submit(frame.view(), frame.view(), context);
  std::string state = filter->save();
  filter->load(state);
  const std::string_view kind = "\"top-fields\"";
  ASSERT_NE(state.find(kind), std::string::npos);
  state.replace(state.find(kind), kind.size(), "\"bottom-fields\"");
  try {
    filter->load(state);
    ADD_FAILURE() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("frames of one row have no bottom fields"));
  }
}

TEST(Denoise, ADamagedStatesNoiseIsNoMoreThanTheOptionMayBe) {
  denoise::NoiseEstimate noise(64, 64, false);
  // Every count in the bins of textures that no frame has.
  const std::size_t segment = sizeof(std::uint32_t) * denoise::kTextureBins;
  std::string bytes(denoise::kTextureRows * segment, '\0');
  for (std::size_t i = segment; i <= bytes.size(); i += segment)
    bytes[i - 2] = 1;
  ASSERT_TRUE(noise.set_bytes(bytes));
  const denoise::NoiseCurves& curves = noise.curves();
  for (int level = 0; level <= denoise::kSampleMost; ++level) {
    ASSERT_EQ(curves.sigma.at(level), 64 * denoise::kLevel);
    ASSERT_EQ(curves.inverse.at(level), 16);
  }
}

/// Frames of a clip, filtered; what `look` says of the results.
template <typename Look>
void filter_scene(const DenoiseParams& params, Scene noisy, Scene clean, const ImageDesc& desc,
                  int frames, Look look) {
  const auto filter = make_cpu_filter(params, {1});
  filter->configure(desc);
  Image in(desc);
  Image out(desc);
  Image wanted(desc);
  FrameContext context;
  for (int i = 0; i < frames; ++i) {
    noisy.next(in.view());
    clean.next(wanted.view(), false);
    filter->submit(in.view(), out.view(), context);
    look(i, in.view(), out.view(), wanted.view());
  }
}

TEST(Denoise, NoiseOfStillScenesFallsToAThird) {
  const ImageDesc desc{PixelFormat::i420, 192, 128};
  filter_scene({}, Scene(0, 0, 3), Scene(0, 0, 3), desc, 30,
               [](int i, const auto& in, const auto& out, const auto& clean) {
                 if (i < 20) return;
                 EXPECT_LT(rms(out, clean), rms(in, clean) / 3) << i;
               });
}

/// The noise of cameras, whose colours are interpolated between samples.
TEST(Denoise, NoiseThatNeighboursShareFalls) {
  const ImageDesc desc{PixelFormat::i420, 192, 128};
  for (const double speed : {0.0, 1.5}) {
    const Scene scene({speed, 0.6 * speed, 3, 1000, 3});
    filter_scene({}, scene, scene, desc, 30,
                 [](int i, const auto& in, const auto& out, const auto& clean) {
                   if (i < 20) return;
                   EXPECT_LT(rms(out, clean), 0.75 * rms(in, clean)) << i;
                 });
  }
}

/// Standard deviation of a component's noise at a level of 8 bits that a filter has measured, in
/// such levels.
double measured_sigma(const Filter& filter, const ImageDesc& desc, int level,
                      std::size_t component = 0) {
  const nlohmann::json state = nlohmann::json::parse(filter.save());
  denoise::NoiseEstimate noise(desc.width, desc.height, component != 0);
  const nlohmann::json& saved = state["frames"]["components"][component]["noise"];
  EXPECT_TRUE(noise.set_bytes(*base64_bytes(saved.get<std::string>())));
  return noise.curves().sigma.at(level * denoise::kLevel) / static_cast<double>(denoise::kLevel);
}

TEST(Denoise, WhiteNoiseIsMeasuredAsItIs) {
  for (const ImageDesc& desc :
       {ImageDesc{PixelFormat::gray8, 384, 256}, ImageDesc{PixelFormat::gray8, 64, 48}}) {
    for (const double sigma : {1.0, 3.0, 8.0}) {
      const auto filter = make_cpu_filter(DenoiseParams{}, {1});
      filter->configure(desc);
      std::mt19937 random(9);
      std::normal_distribution<double> noise(120, sigma);
      Image frame(desc);
      FrameContext context;
      for (int i = 0; i < 30; ++i) {
        for (int y = 0; y < desc.height; ++y)
          for (int x = 0; x < desc.width; ++x)
            frame.view().row(0, y)[x] = static_cast<std::uint8_t>(std::lround(noise(random)));
        filter->submit(frame.view(), frame.view(), context);
      }
      const double share = measured_sigma(*filter, desc, 120) / sigma;
      EXPECT_NEAR(share, 1, desc.width == 64 ? 0.15 : 0.07) << desc.width << " " << sigma;
    }
  }
}

TEST(Denoise, NoiseThatACodecHasLeftEqualsTheDefinition) {
  using enum PixelFormat;
  struct Case {
    ImageDesc desc;
    bool inter;
    double speed;
  };
  const ImageDesc gray{gray8, 178, 117};
  const Case cases[] = {
      {gray, false, 0},           {gray, false, 2.3},          {gray, true, 0},
      {gray, true, 2.3},          {{i420, 208, 136}, true, 0}, {{i420, 208, 136}, false, 2.3},
      {{y444, 124, 90}, true, 0}, {{bgr, 124, 90}, true, 0}};
  for (const auto& [desc, inter, speed] : cases) {
    SCOPED_TRACE(to_string(desc.format));
    test::BlockCodec codec(desc, inter ? test::Coding::inter : test::Coding::intra, 4);
    const auto filter = make_cpu_filter(DenoiseParams{}, {2});
    filter->configure(desc);
    test::ReferenceDenoiser reference({});
    Scene scene(speed, -speed / 2, 4);
    Image frame(desc);
    FrameContext context;
    for (int i = 0; i < 9; ++i) {
      scene.next(frame.view());
      codec.code(frame.view());
      const auto expected = reference.process(grids_of(frame.view()), 8);
      filter->submit(frame.view(), frame.view(), context);
      ASSERT_EQ(count_wrong(expected, frame.view()), 0) << i;
    }
  }
}

/// Numbers of rows like those of streets and photographs before and after H.264 and Motion JPEG.
TEST(Denoise, NoiseOfALevelIsThatOfTheBlocksWhichACodecHasLeftIt) {
  // From a 16th of the blocks to an 8th.
  EXPECT_EQ(denoise::residual_share(1600, 100), 0);
  EXPECT_EQ(denoise::residual_share(1600, 150), 128);
  EXPECT_EQ(denoise::residual_share(1600, 200), 256);
  EXPECT_EQ(denoise::residual_share(1600, 1600), 256);
  EXPECT_EQ(denoise::residual_share(std::uint64_t{1} << 50, std::uint64_t{3} << 45), 128);
  // White noise, with residuals or without.
  EXPECT_EQ(denoise::segment_sigma(149, 148, 133, 151, 256, false), 149);
  EXPECT_EQ(denoise::segment_sigma(149, 148, denoise::kUnknown, denoise::kUnknown, 256, false),
            149);
  EXPECT_EQ(denoise::segment_sigma(denoise::kUnknown, 148, 133, 151, 256, false),
            denoise::kUnknown);
  // Noise that neighbours share: 7/4 of the coarse textures less the fine ones.
  EXPECT_EQ(denoise::segment_sigma(67, 151, 145, 175, 256, false), 197);
  // Flat blocks lack noise: 5/4 of nine tenths of the residuals, 72, as far as they count.
  EXPECT_EQ(denoise::segment_sigma(13, 6, 38, 58, 256, false), 72);
  EXPECT_EQ(denoise::segment_sigma(13, 6, 38, 58, 128, false), 13 + (72 - 13) / 2);
  EXPECT_EQ(denoise::segment_sigma(13, 6, 38, 58, 0, false), 13);
  EXPECT_EQ(denoise::segment_sigma(100, 100, 109, 139, 256, false),
            110);  // 5 (122 - 100), where that begins
  // Flat blocks have as much as half of the residuals tell, but others have more.
  EXPECT_EQ(denoise::segment_sigma(22, 66, 84, 112, 256, false), 140);
  EXPECT_EQ(denoise::segment_sigma(22, 66, 84, 111, 256, false),
            108);  // 32 111 - 41 84, where that begins
  EXPECT_EQ(denoise::segment_sigma(22, 66, 84, 110, 256, false), 93);
  EXPECT_EQ(denoise::segment_sigma(3000, 3000, 3800, 4096, 256, false), denoise::kMostSigma);
  // Beyond twice the half lies what has moved.
  EXPECT_EQ(denoise::segment_sigma(22, 66, 84, 300, 256, false), 2 * 84 * 5 / 4);
  // Uneven residuals, where textures lack no noise: a person who walks past leaves, and fur.
  EXPECT_EQ(denoise::segment_sigma(215, 196, 171, 231, 256, false), 215);
  EXPECT_EQ(denoise::segment_sigma(241, 284, 219, 342, 256, false), 241);
  // Where they begin to lack some, 5 times what coarse textures tell more than fine ones.
  EXPECT_EQ(denoise::segment_sigma(100, 131, 90, 126, 256, false), 124);
  EXPECT_EQ(denoise::segment_sigma(100, 132, 90, 126, 256, false), 5 * (128 - 100));
  EXPECT_EQ(denoise::segment_sigma(100, 133, 90, 126, 256, false), 5 * 126 / 4);
}

/// Sums of blocks with noise of 3 levels, beside the mean of n frames.
TEST(Denoise, ResidualsTellNothingWhereTheyMayBeTexture) {
  const auto residual = [](const denoise::NoiseSums& sums, std::size_t n) {
    EXPECT_TRUE(denoise::is_noisy(sums));
    return denoise::residual_texture(sums, denoise::weight_tables().certainty[n]);
  };
  constexpr double kNoise = 0.8 * 3 * 64 * 64;
  constexpr auto kSpread = static_cast<int>(kNoise * 1.5);
  for (const int n : {1, 2, 5, 24}) {
    const auto change = static_cast<int>(kNoise * std::sqrt(1 + 1.0 / n));
    const auto before = static_cast<int>(kNoise / std::sqrt(n));
    const int told = residual({kSpread, change, change, static_cast<int>(kNoise), before, 0},
                              static_cast<std::size_t>(n));
    if (n == 1) {
      EXPECT_EQ(told, denoise::kNoResidual);
    } else {
      EXPECT_NEAR(told, kNoise * 39 / 16, kNoise / 40) << n;
    }
  }
  // Texture beside the same texture, a little moved.
  EXPECT_EQ(residual({kSpread, 10000, 10000, 10000, 10000, 0}, 24), denoise::kNoResidual);
  // At the limit: 8 certainties of the residual, 9 of the estimate.
  EXPECT_EQ(residual({kSpread, 9216, 9216, 9216, 8032, 0}, 24), 9036 * 39 / 16);
  EXPECT_EQ(residual({kSpread, 9216, 9216, 9216, 8033, 0}, 24), denoise::kNoResidual);
  EXPECT_EQ(residual({kSpread, 9216, 9216, 9216, 0, 0}, 0), denoise::kNoResidual);
  // What changes is smooth: over two samples hardly anything differs.
  EXPECT_EQ(residual({8866, 9216, 9216, 9216, 2000, 0}, 24), 9036 * 39 / 16);
  EXPECT_EQ(residual({8865, 9216, 9216, 9216, 2000, 0}, 24), denoise::kNoResidual);
}

/// Smooth noise in two dimensions: random numbers at whole coordinates, and smooth steps between
/// them.
class SmoothNoise {
 public:
  explicit SmoothNoise(unsigned seed) : knots_(kSide * kSide) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> knot(-1, 1);
    for (double& each : knots_)
      each = knot(random);
  }

  [[nodiscard]] double at(double x, double y) const {
    const double right = part(x);
    const double below = part(y);
    return (knot(x, y) * (1 - right) + knot(x + 1, y) * right) * (1 - below) +
           (knot(x, y + 1) * (1 - right) + knot(x + 1, y + 1) * right) * below;
  }

 private:
  static constexpr int kSide = 512;

  static double part(double x) {
    const double t = x - std::floor(x);
    return t * t * (3 - 2 * t);
  }
  [[nodiscard]] double knot(double x, double y) const {
    const auto place = [](double at) {
      return static_cast<std::size_t>(static_cast<int>(std::floor(at)) + kSide) % kSide;
    };
    return knots_[place(y) * kSide + place(x)];
  }

  std::vector<double> knots_;
};

/// A filter after frames whose samples are level(plane, x, y, frame) with noise of this deviation.
/// begin(frame) is called before the samples of a frame are asked for.
template <typename Level, typename Begin = void (*)(int)>
std::unique_ptr<Filter> after_frames(
    const ImageDesc& desc, int frames, double sigma, Level level, Begin begin = [](int) {}) {
  std::mt19937 random(5);
  std::normal_distribution<double> noise(0, sigma);
  auto filter = make_cpu_filter(DenoiseParams{}, {1});
  filter->configure(desc);
  Image frame(desc);
  FrameContext context;
  for (int i = 0; i < frames; ++i) {
    begin(i);
    for (const int component : component_indices(desc.format)) {
      const auto samples = samples_of(frame.view(), component);
      for (int y = 0; y < samples.rows; ++y) {
        for (int x = 0; x < samples.columns; ++x) {
          const double noisy = level(component, x, y, i) + noise(random);
          *samples.at(x, y) = static_cast<std::uint8_t>(std::clamp(std::lround(noisy), 0L, 255L));
        }
      }
    }
    filter->submit(frame.view(), frame.view(), context);
  }
  return filter;
}

/// Leaves in the wind beside a wall in three shades.
TEST(Denoise, TextureThatNoVectorFollowsIsNoNoise) {
  constexpr double kSigma = 3;
  const ImageDesc desc{PixelFormat::gray8, 384, 256};
  const SmoothNoise texture(5);
  const auto filter = after_frames(desc, 24, kSigma, [&](int, int x, int y, int i) {
    if (x < 192) return 56.0 + 16 * (x / 64);
    return 72 + 40 * texture.at(x / 2.2 + 0.9 * std::sin(0.9 * i + 0.35 * y),
                                y / 2.2 + 0.9 * std::cos(0.7 * i + 0.3 * x));
  });
  const double share = measured_sigma(*filter, desc, 72) / kSigma;
  EXPECT_GT(share, 0.95);
  EXPECT_LT(share, 1.25);
}

/// Numbers like those of the chroma of a street after H.264.
TEST(Denoise, FromChromaACodecTakesMore) {
  // 5/4 of nine tenths of the residuals where textures tell 3/4 of their half, twice them from a
  // half of it on.
  EXPECT_EQ(denoise::sigma_before_codec(33, 44, 58, true), 58 * 5 / 4);
  EXPECT_EQ(denoise::sigma_before_codec(22, 44, 58, true), 2 * 58);
  EXPECT_EQ(denoise::sigma_before_codec(0, 44, 58, true), 2 * 58);
  EXPECT_EQ(denoise::sigma_before_codec(28, 44, 58, true), 58 * (5 * 44 + 3 * 20) / (4 * 44));
  EXPECT_EQ(denoise::sigma_before_codec(22, 44, 58, false), 58 * 5 / 4);
  EXPECT_EQ(denoise::segment_sigma(12, 18, 43, 60, 256, true), 120);
  EXPECT_EQ(denoise::segment_sigma(12, 18, 43, 60, 256, false), 75);
  EXPECT_EQ(denoise::segment_sigma(130, 128, 113, 128, 256, true), 130);  // without a codec
  EXPECT_EQ(denoise::segment_sigma(12, 18, 0, 0, 256, true), 19);  // nothing is left in residuals
  // Snow on a picture that is calm otherwise.
  EXPECT_EQ(denoise::segment_sigma(28, 56, 900, 1600, 256, false), 8 * 56);
  EXPECT_EQ(denoise::segment_sigma(28, 56, 900, 1600, 256, true), 32 * 56);
  EXPECT_EQ(denoise::segment_sigma(28, denoise::kUnknown, 900, 1600, 256, false), 8 * 28);
}

/// Differences of blocks of 8 x 8 samples.
TEST(Denoise, SwingsAreThoseOfBlocksAndNotOfTheirSurroundings) {
  // Half of the differences of two sums of 64 samples with noise of 3 levels, beside a mean of 24.
  const int half = static_cast<int>(0.674 * std::sqrt(2) * 8 * 3 * 64 * std::sqrt(1 + 1.0 / 24));
  const int certainty = denoise::weight_tables().certainty[24];
  EXPECT_NEAR(denoise::sigma_of(denoise::swing_texture(1000 + half, 1000, certainty)), 3 * 64, 2);
  EXPECT_EQ(denoise::swing_texture(-500, half - 500, certainty),
            denoise::swing_texture(half, 0, certainty));
  EXPECT_EQ(denoise::swing_texture(7777, 7777, 255), 1);
  EXPECT_EQ(denoise::swing_texture(64 * 16383, -64 * 16383, 255),
            (2 * 64 * 16383 * 255 / 256) * 147 / 8);
}

TEST(Denoise, SwingsTellOfNoiseThatNoTextureShows) {
  using denoise::kUnknown;
  const auto of_chroma = [](int sigma, int swing) {
    return denoise::swinging_sigma(sigma, swing,
                                   denoise::most_swinging_sigma(sigma, 30, 30, 90, 256, true));
  };
  EXPECT_EQ(of_chroma(100, kUnknown), 100);
  EXPECT_EQ(of_chroma(kUnknown, kUnknown), kUnknown);
  EXPECT_EQ(of_chroma(130, 140), 130);  // white noise
  EXPECT_EQ(of_chroma(142, 216), 142);  // fur that moves
  EXPECT_EQ(of_chroma(20, 1360), 935);  // blotches
  EXPECT_EQ(of_chroma(6, 144), 99);     // Motion JPEG
  EXPECT_EQ(of_chroma(6, 80), 4 * (80 - 2 * 6 - 64));
  EXPECT_EQ(of_chroma(6, 77), 6);
  EXPECT_EQ(of_chroma(0, 64), 0);
  EXPECT_EQ(of_chroma(kUnknown, 64), kUnknown);  // no noise is known of this level
  EXPECT_EQ(of_chroma(kUnknown, 160), 110);
  EXPECT_EQ(of_chroma(100, 100 * 64), denoise::kMostSigma);
}

/// Numbers like those of film's grain, of water and of leaves.
TEST(Denoise, OfOtherComponentsSwingsTellAsFarAsNeighboursShareNoise) {
  using denoise::kUnknown;
  const auto of_luma = [](int sigma, int fine, int coarse, int swing) {
    return denoise::swinging_sigma(
        sigma, swing, denoise::most_swinging_sigma(sigma, fine, coarse, kUnknown, 256, false));
  };
  EXPECT_EQ(of_luma(283, 46, 188, 973), 283 + 3 * (283 - 46) / 4);
  EXPECT_EQ(of_luma(408, 166, 175, 1077), 408);
  EXPECT_EQ(of_luma(150, 150, 150, 1362), 150);
  EXPECT_EQ(of_luma(100, 60, 91, 200), 100);  // twice, not more
  EXPECT_EQ(of_luma(100, 100, kUnknown, 900), 100);
  EXPECT_EQ(of_luma(kUnknown, kUnknown, kUnknown, 900), kUnknown);
}

/// Numbers like those of streets with blotches of luma, of grain, of water and of fur.
TEST(Denoise, WhatTheCalmestBlocksChangeIsNoiseHoweverWide) {
  using denoise::kUnknown;
  const auto most = [](int sigma, int fine, int coarse, int floor, int share = 256) {
    return denoise::most_swinging_sigma(sigma, fine, coarse, floor, share, false);
  };
  EXPECT_EQ(most(69, 24, 53, 131), 3 * 131 - 2 * 53);
  EXPECT_EQ(most(150, 40, 110, 160), 3 * 160 - 2 * 110);
  EXPECT_EQ(most(150, 40, 110, 150), 150 + 3 * (152 - 40) / 4);
  EXPECT_EQ(most(163, 163, 171, 288, 0), 163);
  EXPECT_EQ(most(142, 142, 150, 160), 142);
  // From 5/4 of the fine texture on, eight times what is more than that.
  EXPECT_EQ(most(100, 80, 90, 100), 100);
  EXPECT_EQ(most(100, 80, 90, 102), 100 + 2 * (4 * 102 - 5 * 80));
  EXPECT_EQ(most(100, 80, 90, 102, 128), 108);
  EXPECT_EQ(most(100, 80, 90, 102, 0), 100);
  EXPECT_EQ(most(69, 24, 53, kUnknown), 69 + 3 * (68 - 24) / 4);
  EXPECT_EQ(most(24, 24, kUnknown, 131), 24);
  EXPECT_EQ(most(kUnknown, kUnknown, kUnknown, 131), kUnknown);
}

/// Numbers like those of a camera that is shaken, and of blotches.
TEST(Denoise, WhatMovesFasterThanVectorsFollowIsNoNoise) {
  EXPECT_EQ(denoise::narrow_share(33, 279), 0);
  EXPECT_EQ(denoise::narrow_share(100, 700), 0);
  EXPECT_EQ(denoise::narrow_share(100, 625), 128);
  EXPECT_EQ(denoise::narrow_share(100, 550), 256);
  EXPECT_EQ(denoise::narrow_share(129, 533), 256);
  EXPECT_EQ(denoise::narrow_share(0, 0), 0);
  EXPECT_EQ(denoise::narrow_share(denoise::kUnknown, denoise::kUnknown), 0);
}

/// Smooth textures that jump from frame to frame: no block is calm.
TEST(Denoise, AShakenCameraMakesNoNoise) {
  const ImageDesc desc{PixelFormat::gray8, 384, 256};
  const SmoothNoise texture(5);
  std::mt19937 random(8);
  std::normal_distribution<double> shake(0, 60);
  double right = 0;
  double down = 0;
  const auto level = [&](int, int x, int y, int) {
    return 80 + 40 * texture.at((x + right) / 12, (y + down) / 12);
  };
  const auto filter = after_frames(desc, 30, 0, level, [&](int) {
    right = shake(random);
    down = shake(random);
  });
  EXPECT_LT(measured_sigma(*filter, desc, 80), 1);
}

/// Snow is in some blocks of each frame, and leaves the others as they were.
TEST(Denoise, SnowIsNoNoise) {
  const ImageDesc desc{PixelFormat::gray8, 384, 256};
  std::vector<std::array<double, 4>> flakes;
  std::mt19937 random(8);
  std::uniform_real_distribution<double> place(0, 1);
  for (int i = 0; i < 300; ++i)
    flakes.push_back(
        {384 * place(random), 256 * place(random), 4 * place(random) - 1, 5 + 8 * place(random)});
  const SmoothNoise texture(5);
  std::vector<std::uint8_t> white;
  const auto level = [&](int, int x, int y, int) {
    if (white[static_cast<std::size_t>(y * 384 + x)] != 0) return 230.0;
    return 60 + 12 * (x / 128) + 2 * texture.at(x / 2.0, y / 2.0);
  };
  const auto filter = after_frames(desc, 30, 0.4, level, [&](int i) {
    white.assign(384 * 256, 0);
    for (const auto& [right, down, speed_x, speed_y] : flakes) {
      const int left = static_cast<int>(right + speed_x * i + 384) % 384;
      const int top = static_cast<int>(down + speed_y * i) % 256;
      for (int j = 0; j < 2; ++j)
        for (int k = 0; k < 2; ++k)
          white[static_cast<std::size_t>((top + j) % 256 * 384 + (left + k) % 384)] = 1;
    }
  });
  EXPECT_LT(measured_sigma(*filter, desc, 72), 3);
}

TEST(Denoise, ChangesOfWhiteNoiseAreItsTextures) {
  // A tenth of blocks of 64 samples ends at 0.83 of the mean magnitude, 0.798 sigma.
  const int change = static_cast<int>(0.83 * 0.798 * 64 * 3 * 64 * std::sqrt(1 + 1.0 / 24));
  const int certainty = denoise::weight_tables().certainty[24];
  EXPECT_NEAR(denoise::sigma_of(denoise::change_texture(change, certainty)), 3 * 64, 2);
  // Bins below are those of trends.
  EXPECT_GT(denoise::texture_bin(denoise::change_texture(0, 255)), denoise::kKeptBin);
}

TEST(Denoise, TrendsThatGoOnAreNoNoise) {
  using enum denoise::Trend;
  EXPECT_EQ(denoise::trend_of(-1), falls);
  EXPECT_EQ(denoise::trend_of(0), none);
  EXPECT_EQ(denoise::trend_of(1), rises);
  EXPECT_EQ(denoise::trend_bin(rises, rises), denoise::kKeptBin);
  EXPECT_EQ(denoise::trend_bin(rises, falls), denoise::kTurnedBin);
  EXPECT_EQ(denoise::white_share(0, 0), 0);
  EXPECT_EQ(denoise::white_share(0, 100), 256);
  EXPECT_EQ(denoise::white_share(50, 50), 256);
  EXPECT_EQ(denoise::white_share(900, 700), 256);
  EXPECT_EQ(denoise::white_share(975, 625), 128);
  EXPECT_EQ(denoise::white_share(1050, 550), 0);
  EXPECT_EQ(denoise::white_share(100, 0), 0);
}

/// What phones leave of noise: luma that is smoothed, too.
TEST(Denoise, BlotchesOfLumaFall) {
  const ImageDesc desc{PixelFormat::i420, 384, 256};
  for (const double speed : {0.0, 0.7}) {
    const double share = speed == 0 ? 0.65 : 0.75;
    const Scene scene({speed, 0, 3, 1000, 7});
    filter_scene({}, scene, scene, desc, 30,
                 [&](int i, const auto& in, const auto& out, const auto& clean) {
                   if (i < 20) return;
                   EXPECT_LT(rms(out, clean), share * rms(in, clean)) << i;
                 });
  }
}

/// Waves change all blocks, in one way for several frames. That they are no noise shows also where
/// so much was noise before that they pass as such.
TEST(Denoise, WavesBehindBlotchesAreNoNoise) {
  const ImageDesc desc{PixelFormat::gray8, 384, 256};
  constexpr int kCut = 20;
  std::mt19937 random(3);
  std::normal_distribution<double> white;
  const SmoothNoise texture(5);
  constexpr int kSide = 7;
  constexpr int kPitch = 384 + kSide;
  std::vector<double> around(std::size_t{kPitch} * (256 + kSide));
  const auto begin = [&](int) {
    for (double& each : around)
      each = white(random);
  };
  const auto blotches = [&](int x, int y) {
    double sum = 0;
    for (int j = 0; j < kSide; ++j)
      for (int k = 0; k < kSide; ++k)
        sum += around[static_cast<std::size_t>((y + j) * kPitch + x + k)];
    return 4 * sum / kSide;
  };
  const auto level = [&](int, int x, int y, int i) {
    if (i < kCut) return 60.0 + 16 * (x / 64) + blotches(x, y);
    return 90 +
           12 * (texture.at(x / 7.0 + 0.25 * i, y / 9.0) + texture.at(x / 11.0, y / 8.0 - 0.2 * i));
  };
  const auto with_blotches = after_frames(desc, kCut, 0, level, begin);
  EXPECT_GT(measured_sigma(*with_blotches, desc, 92), 5);
  const auto with_waves = after_frames(desc, kCut + 40, 0, level, begin);
  EXPECT_LT(measured_sigma(*with_waves, desc, 90), 1);
}

/// Cameras smooth chroma, which leaves wide blotches.
TEST(Denoise, BlotchesOfColourFall) {
  const ImageDesc desc{PixelFormat::i420, 384, 256};
  const auto rms_of_chroma = [](const ConstImageView& a, const ConstImageView& b) {
    double sum = 0;
    for (int y = 0; y < 128; ++y)
      for (int x = 0; x < 192; ++x)
        sum += std::pow(a.row(1, y)[x] - b.row(1, y)[x], 2);
    return std::sqrt(sum / (192 * 128));
  };
  for (const double speed : {0.0, 0.7}) {
    const double share = speed == 0 ? 0.45 : 0.8;
    const Scene scene({speed, 0, 3, 1000, 1, 9});
    filter_scene({}, scene, scene, desc, 30,
                 [&](int i, const auto& in, const auto& out, const auto& clean) {
                   if (i < 20) return;
                   EXPECT_LT(rms_of_chroma(out, clean), share * rms_of_chroma(in, clean)) << i;
                 });
  }
}

/// Film's grain is several samples wide: means of 3 x 3 samples of such means.
TEST(Denoise, GrainFalls) {
  constexpr int kWidth = 384;
  constexpr int kHeight = 256;
  constexpr int kPitch = kWidth + 4;
  const ImageDesc desc{PixelFormat::gray8, kWidth, kHeight};
  std::mt19937 random(5);
  std::normal_distribution<double> white;
  std::vector<double> around(kPitch * (kHeight + 4));
  const auto grain_at = [&](int x, int y) {
    constexpr std::array<int, 5> kTent{1, 2, 3, 2, 1};
    double sum = 0;
    for (std::size_t j = 0; j < 5; ++j)
      for (std::size_t i = 0; i < 5; ++i)
        sum += kTent[i] * kTent[j] *
               around[(static_cast<std::size_t>(y) + j) * kPitch + static_cast<std::size_t>(x) + i];
    return 4 * sum / 19;  // the sum of the tent's squares
  };
  const auto filter = make_cpu_filter(DenoiseParams{}, {1});
  filter->configure(desc);
  Image in(desc);
  Image out(desc);
  Image clean(desc);
  FrameContext context;
  for (int i = 0; i < 30; ++i) {
    for (double& each : around)
      each = white(random);
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        const int level = 56 + 16 * (x / 64) + 4 * (x / 8 % 2);
        clean.view().row(0, y)[x] = static_cast<std::uint8_t>(level);
        in.view().row(0, y)[x] = static_cast<std::uint8_t>(std::lround(level + grain_at(x, y)));
      }
    }
    filter->submit(in.view(), out.view(), context);
    if (i >= 20) {
      EXPECT_LT(rms(out.view(), clean.view()), 0.8 * rms(in.view(), clean.view())) << i;
    }
  }
}

/// White balance that adapts changes all blocks alike.
TEST(Denoise, WhiteBalanceThatDriftsIsNoNoise) {
  constexpr double kSigma = 2;
  const ImageDesc desc{PixelFormat::i420, 384, 256};
  const auto filter = after_frames(desc, 24, kSigma, [](int plane, int x, int y, int i) {
    if (plane == 0) return 60.0 + 10 * ((x / 64 + y / 64) % 3);
    return plane == 1 ? 120 + 2 * ((x / 32 + y / 32) % 2) + 0.6 * i : 128 - 0.6 * i;
  });
  EXPECT_LT(measured_sigma(*filter, desc, 134, 1), 1.3 * kSigma);
  EXPECT_LT(measured_sigma(*filter, desc, 115, 2), 1.3 * kSigma);
}

/// A repeated sample says nothing new, so its estimate gets no more certain.
TEST(Denoise, WeightsOfRepeatedSamplesStay) {
  EXPECT_EQ(denoise::change_or_repeated(0, denoise::kLeastNews - 1, 0, true), 1);
  EXPECT_EQ(denoise::change_or_repeated(0, denoise::kLeastNews, 0, true), 0);
  EXPECT_EQ(denoise::change_or_repeated(0, 0, 0, false), 0);
  EXPECT_EQ(denoise::change_or_repeated(90, 90, 90, true), 255);
  EXPECT_EQ(denoise::next_weight(7, false, 24), 8);
  EXPECT_EQ(denoise::next_weight(7, true, 24), 7);
  EXPECT_EQ(denoise::next_weight(0, true, 24), 1);
  EXPECT_EQ(denoise::next_weight(24, false, 24), 24);
}

/// A codec leaves no noise in most flat blocks, and the others must still show how much there is.
TEST(Denoise, NoiseThatACodecHasLeftFalls) {
  const ImageDesc desc{PixelFormat::gray8, 384, 256};
  for (const bool inter : {false, true}) {
    test::BlockCodec codec(desc, inter ? test::Coding::inter : test::Coding::intra, inter ? 9 : 4);
    const auto filter = make_cpu_filter(DenoiseParams{}, {1});
    filter->configure(desc);
    std::mt19937 random(5);
    std::normal_distribution<double> noise(0, 3);
    Image in(desc);
    Image out(desc);
    Image wanted(desc);
    FrameContext context;
    for (int i = 0; i < 30; ++i) {
      // Flat on the left, structure on the right.
      for (int y = 0; y < desc.height; ++y) {
        for (int x = 0; x < desc.width; ++x) {
          const double level =
              60 + 0.03 * y + (x < desc.width / 2 ? 0 : 14 * std::sin(x / 5.0) * std::cos(y / 7.0));
          wanted.view().row(0, y)[x] = static_cast<std::uint8_t>(std::lround(level));
          in.view().row(0, y)[x] = static_cast<std::uint8_t>(std::lround(level + noise(random)));
        }
      }
      codec.code(in.view());
      filter->submit(in.view(), out.view(), context);
      if (i < 20) continue;
      EXPECT_LT(rms(out.view(), wanted.view()),
                (inter ? 0.58 : 0.35) * rms(in.view(), wanted.view()))
          << i;
    }
  }
}

TEST(Denoise, NoiseOfPannedScenesFallsByHalfWithoutABlur) {
  const ImageDesc desc{PixelFormat::i420, 192, 128};
  filter_scene({}, Scene(1.5, 0.6, 3), Scene(1.5, 0.6, 3), desc, 20,
               [](int i, const auto& in, const auto& out, const auto& clean) {
                 if (i < 8) return;
                 EXPECT_LT(rms(out, clean), rms(in, clean) / 2) << i;
               });
}

TEST(Denoise, CleanFramesStayAsTheyAre) {
  const ImageDesc desc{PixelFormat::i420, 192, 128};
  for (const double speed : {0.0, 1.7}) {
    filter_scene({}, Scene(speed, 0, 0), Scene(speed, 0, 0), desc, 12,
                 [](int i, const auto& in, const auto& out, const auto&) {
                   EXPECT_LT(rms(out, in), 0.3) << i;
                 });
  }
}

/// Clean content that no vector follows differs from the estimate as noise does, but in few blocks.
TEST(Denoise, CleanContentThatComesAndGoesIsNoNoise) {
  const ImageDesc desc{PixelFormat::gray8, 384, 256};
  const auto filter = make_cpu_filter(DenoiseParams{}, {1});
  filter->configure(desc);
  std::mt19937 random(3);
  Image frame(desc);
  Image out(desc);
  FrameContext context;
  for (int i = 0; i < 20; ++i) {
    const int left = static_cast<int>(random() % 352);
    const int top = static_cast<int>(random() % 224);
    for (int y = 0; y < desc.height; ++y) {
      for (int x = 0; x < desc.width; ++x) {
        const bool inside = x >= left && x < left + 64 && y >= top && y < top + 64;
        const double still = 56 + 2.4 * std::sin(x / 2.0) * std::cos(y / 2.5);
        const double sparkling = 50 + static_cast<int>(random() % 13);
        frame.view().row(0, y)[x] =
            static_cast<std::uint8_t>(std::lround(inside ? sparkling : still));
      }
    }
    filter->submit(frame.view(), out.view(), context);
    EXPECT_LT(rms(out.view(), frame.view()), 0.3) << i;
  }
}

TEST(Denoise, TheFrameAfterACutHasNothingOfTheOneBefore) {
  const ImageDesc desc{PixelFormat::gray8, 128, 96};
  const auto filter = make_cpu_filter(DenoiseParams{}, {1});
  const auto fresh = make_cpu_filter(DenoiseParams{}, {1});
  filter->configure(desc);
  Scene before(0, 0, 3);
  Image frame(desc);
  Image out(desc);
  Image alone(desc);
  FrameContext context;
  for (int i = 0; i < 25; ++i) {
    before.next(frame.view());
    filter->submit(frame.view(), out.view(), context);
  }
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 2; ++i) {
    for (int y = 0; y < desc.height; ++y)
      for (int x = 0; x < desc.width; ++x)
        frame.view().row(0, y)[x] =
            static_cast<std::uint8_t>(150 + 30 * std::sin(x / 9.0 + y / 4.0) + 3 * normal(random));
    filter->submit(frame.view(), out.view(), context);
  }
  // Less than half of the noise that came in, and no trace of the other picture.
  double sum = 0;
  for (int y = 0; y < desc.height; ++y)
    for (int x = 0; x < desc.width; ++x)
      sum += out.view().row(0, y)[x] - (150 + 30 * std::sin(x / 9.0 + y / 4.0));
  EXPECT_NEAR(sum / desc.width / desc.height, -0.5, 0.3);  // codes are rounded down above
  EXPECT_LT(rms(out.view(), frame.view()), 3.6);
}

TEST(Denoise, LightThatChangesByLessThanTheNoiseDoesNotTrail) {
  const ImageDesc desc{PixelFormat::gray8, 128, 96};
  const auto filter = make_cpu_filter(DenoiseParams{}, {1});
  filter->configure(desc);
  Image frame(desc);
  Image out(desc);
  FrameContext context;
  std::mt19937 random(5);
  std::normal_distribution<double> noise(0.5, 3);  // of codes, which are rounded down
  double level = 0;
  const auto at = [&](int x, int y) { return 120 + level + 30 * std::sin(x / 9.0 + y / 4.0); };
  const auto error_after = [&](int frames) {
    for (int i = 0; i < frames; ++i) {
      for (int y = 0; y < desc.height; ++y)
        for (int x = 0; x < desc.width; ++x)
          frame.view().row(0, y)[x] = static_cast<std::uint8_t>(at(x, y) + noise(random));
      filter->submit(frame.view(), out.view(), context);
    }
    double sum = 0;
    for (int y = 0; y < desc.height; ++y)
      for (int x = 0; x < desc.width; ++x)
        sum += out.view().row(0, y)[x] - at(x, y);
    return sum / desc.width / desc.height;
  };
  EXPECT_NEAR(error_after(30), 0, 0.1);
  // A third of the noise, which an average of 24 frames would have made up for by 0.12 after three.
  for (const double step : {1.0, -1.0}) {
    level += step;
    EXPECT_NEAR(error_after(3), 0, 0.4) << step;
    EXPECT_NEAR(error_after(27), 0, 0.2) << step;
  }
}

/// Bright parts lose more than dark ones beside them.
TEST(Denoise, LightThatFallsInProportionDoesNotTrail) {
  const ImageDesc desc{PixelFormat::gray8, 256, 192};
  const auto filter = make_cpu_filter(DenoiseParams{}, {1});
  filter->configure(desc);
  Image frame(desc);
  Image out(desc);
  FrameContext context;
  std::mt19937 random(5);
  std::normal_distribution<double> noise(0.5, 3);  // of codes, which are rounded down
  for (int i = 0; i < 50; ++i) {
    const double light = std::pow(0.99, i);
    double sum = 0;
    const auto at = [&](int x, int y) {
      return 16 + light * (100 + 60 * std::sin(x / 5.0) * std::cos(y / 7.0));
    };
    for (int y = 0; y < desc.height; ++y)
      for (int x = 0; x < desc.width; ++x)
        frame.view().row(0, y)[x] = static_cast<std::uint8_t>(at(x, y) + noise(random));
    filter->submit(frame.view(), out.view(), context);
    for (int y = 0; y < desc.height; ++y)
      for (int x = 0; x < desc.width; ++x)
        sum += std::pow(out.view().row(0, y)[x] - at(x, y), 2);
    if (i >= 20) {
      EXPECT_LT(std::sqrt(sum / desc.width / desc.height), 1.4) << i;
    }
  }
}

TEST(Denoise, WhatHasBeenUncoveredHasNoGhost) {
  const ImageDesc desc{PixelFormat::gray8, 192, 64};
  // The bright thing moves by 4 samples a frame over a still scene; behind it the scene is as it
  // is.
  filter_scene({}, Scene(0, 0, 2), Scene(0, 0, 2), desc, 30,
               [](int i, const auto&, const auto& out, const auto& clean) {
                 if (i < 10) return;
                 const int edge = 4 * i - 20;  // of the thing; what is left of it is uncovered
                 double sum = 0;
                 for (int y = 8; y < 24; ++y)
                   for (int x = std::max(edge - 12, 0); x < edge - 1; ++x)
                     sum += out.row(0, y)[x] - clean.row(0, y)[x];
                 EXPECT_LT(std::abs(sum / 16 / std::min(edge - 1, 11)), 1.5) << i;
               });
}

TEST(Denoise, WithoutStrengthItIsTheFrame) {
  const ImageDesc desc{PixelFormat::uyvy, 90, 40};
  DenoiseParams params;
  params.strength = 0;
  filter_scene(params, Scene(0.5, 0, 3), Scene(0, 0, 0), desc, 4,
               [](int, const ConstImageView& in, const ConstImageView& out, const auto&) {
                 EXPECT_EQ(test::count_differences(in, out), 0U);
               });
}

TEST(Denoise, OptionsChangeWhileFramesMove) {
  const ImageDesc desc{PixelFormat::i420, 64, 48};
  const auto filter = make_cpu_filter(DenoiseParams{}, {1});
  filter->configure(desc);
  test::ReferenceDenoiser reference({});
  Scene scene(0.4, 0, 3);
  Image frame(desc);
  FrameContext context;
  for (int i = 0; i < 6; ++i) {
    if (i == 3) {
      EXPECT_TRUE(filter->update({{"temporal", "4"}, {"strength", "0.5"}}));
      reference.set_params({0.5, 4, 0.6, 0});
    }
    scene.next(frame.view());
    const auto expected = reference.process(grids_of(frame.view()), 8);
    filter->submit(frame.view(), frame.view(), context);
    ASSERT_EQ(count_wrong(expected, frame.view()), 0) << i;
  }
  EXPECT_THROW(filter->update({{"temporal", "0"}}), Error);
}

TEST(Denoise, ParametersAndFramesThatItDoesNotTakeAreNamed) {
  EXPECT_THAT(violations(DenoiseParams{2, 40, -1, 0.01}, Backend::cpu),
              ElementsAre(HasSubstr("strength is 2, must be 0 to 1"),
                          HasSubstr("temporal is 40, must be 1 to 31"),
                          HasSubstr("spatial is -1, must be 0 to 1"),
                          HasSubstr("noise is 0.01, must be 0.1 to 64")));
  EXPECT_THAT(violations(DenoiseParams{}, Backend::cuda), IsEmpty());
  const ImageDesc deep{PixelFormat::gray16_le, 8, 8};
  EXPECT_THAT(violations(DenoiseParams{}, Backend::cpu, &deep),
              ElementsAre(HasSubstr("gray16_le, must be one of 8, 10 or 12 bits")));
}

}  // namespace
}  // namespace equalux
