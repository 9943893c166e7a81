#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "src/common/json_text.h"
#include "tests/support/program.h"

/// `equalux measure` as a user starts it.
namespace equalux::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using Json = nlohmann::json;

constexpr int kWidth = 64;
constexpr int kHeight = 48;

/// 4:4:4 of full range, so that levels of grey stay what they are.
std::string grey_y4m(const std::vector<int>& levels, int width = kWidth, int height = kHeight) {
  std::string text = "YUV4MPEG2 W" + std::to_string(width) + " H" + std::to_string(height) +
                     " F30:1 Ip A1:1 C444 XCOLORRANGE=FULL\n";
  const auto pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  for (const int level : levels) {
    text += "FRAME\n" + std::string(pixels, static_cast<char>(level)) +
            std::string(2 * pixels, static_cast<char>(128));
  }
  return text;
}

/// A picture of grey stripes.
std::string stripes_ppm(int bright) {
  std::string text = "P6\n64 48\n255\n";
  for (int i = 0; i < kWidth * kHeight; ++i)
    text += std::string(3, static_cast<char>(i / 8 % 2 == 0 ? 40 : bright));
  return text;
}

/// A bright square on grey that moves by 16 pixels a frame; with `shadow`, it is still seen where
/// it was in the last frame.
std::string square_y4m(int frames, bool shadow) {
  std::string text = "YUV4MPEG2 W64 H48 F30:1 Ip A1:1 C444 XCOLORRANGE=FULL\n";
  const auto covered = [](int x, int y, int i) {
    return i >= 0 && y >= 16 && y < 32 && x / 16 == i % 4;
  };
  for (int i = 0; i < frames; ++i) {
    text += "FRAME\n";
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        const bool ghost = shadow && covered(x, y, i - 1);
        text += static_cast<char>(covered(x, y, i) ? 120 : ghost ? 68 : 60);
      }
    }
    text += std::string(static_cast<std::size_t>(2 * kWidth * kHeight), static_cast<char>(128));
  }
  return text;
}

class Measure : public ::testing::Test {
 protected:
  ProgramResult measure(std::vector<std::string> arguments, const std::string& input = {}) {
    arguments.insert(arguments.begin(), "measure");
    ProgramOptions options;
    options.folder = folder_.path();
    options.input = input;
    return run_program(arguments, options);
  }
  Json figures(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--json", "-", "--quiet"});
    const ProgramResult result = measure(std::move(arguments));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.exit_code == 0 ? parse_json(result.out) : Json::object();
  }
  void expect_error(const std::vector<std::string>& arguments, int code, const std::string& what) {
    const ProgramResult result = measure(arguments);
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(what));
    EXPECT_THAT(lines_of(result.err), SizeIs(1)) << result.err;
    EXPECT_EQ(result.out, "");
  }

  TempFolder folder_;
};

TEST_F(Measure, PairGivesATable) {
  folder_.write("a.y4m", grey_y4m({103, 97, 103, 97}));
  folder_.write("b.y4m", grey_y4m({206, 194, 206, 194}));
  const ProgramResult result = measure({"a.y4m", "b.y4m", "--quiet"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, HasSubstr("A: a.y4m; B: b.y4m; 4 frames of 64x48, 100 % of A static"));
  EXPECT_THAT(result.out, HasSubstr("| figure | A | B |"));
  EXPECT_THAT(result.out, HasSubstr("| static-region RMS step, levels | 6 | 12 |"));
  EXPECT_THAT(result.out, HasSubstr("| AMBE, levels |  | 100 |"));
  EXPECT_THAT(result.out, HasSubstr("| light-flicker transfer |  | 2 |"));
}

TEST_F(Measure, OneClipHasItsOwnFiguresOnly) {
  folder_.write("a.y4m", grey_y4m({100, 100}));
  const ProgramResult result = measure({"a.y4m", "--quiet"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("| entropy, bits | 0 |\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("AMBE")));
}

TEST_F(Measure, JsonHoldsTheClipAndEveryFrame) {
  folder_.write("a.y4m", grey_y4m({100, 106, 100}));
  folder_.write("b.y4m", grey_y4m({110, 110, 110}));
  const Json json = figures({"a.y4m", "b.y4m"});
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["frames"].size(), 3U);
  EXPECT_NEAR(json["figures"]["a"]["still_step"].get<double>(), 6, 1e-4);
  EXPECT_NEAR(json["figures"]["b"]["still_step"].get<double>(), 0, 1e-9);
  EXPECT_NEAR(json["figures"]["pair"]["ambe"].get<double>(), 8, 1e-9);
  EXPECT_NEAR(json["frames"][1]["pair"]["ambe"].get<double>(), 4, 1e-9);
  EXPECT_FALSE(json["frames"][0]["a"].contains("still_step"));
  EXPECT_FALSE(json["figures"]["pair"].contains("hue_error_deg"));  // grey
  EXPECT_FALSE(json["figures"]["a"].contains("skin_level"));
  EXPECT_NEAR(json["figures"]["a"]["colourfulness"].get<double>(), 0, 1e-9);
  EXPECT_GT(json["figures"]["pair"]["colour_difference"].get<double>(), 2);
  EXPECT_TRUE(json["cuts"].empty());
}

TEST_F(Measure, NoiseTextureAndGhostsOfAPair) {
  folder_.write("a.y4m", square_y4m(4, false));
  folder_.write("b.y4m", square_y4m(4, true));
  const Json json = figures({"a.y4m", "b.y4m"})["figures"];
  EXPECT_EQ(json["a"]["temporal_noise"], 0);
  EXPECT_EQ(json["b"]["temporal_noise"], 0);
  EXPECT_GT(json["pair"]["ghosting"].get<double>(), 4);
  // The square's edges, beside which the shadow adds some.
  EXPECT_NEAR(json["pair"]["texture_kept"].get<double>(), 1, 0.1);
  const ProgramResult table = measure({"a.y4m", "a.y4m", "--quiet"});
  EXPECT_THAT(table.out, HasSubstr("| temporal noise, levels | 0 | 0 |"));
  EXPECT_THAT(table.out, HasSubstr("| texture kept |  | 1 |"));
  EXPECT_THAT(table.out, HasSubstr("| ghosting, levels |  | 0 |"));
  EXPECT_THAT(measure({"--help"}).out, HasSubstr("texture kept, ghosting"));
}

TEST_F(Measure, JsonGoesIntoAFileBesideTheTable) {
  folder_.write("a.y4m", grey_y4m({100}));
  const ProgramResult result = measure({"a.y4m", "--json", "out.json", "--quiet"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("| mean V, levels | 100 |"));
  EXPECT_EQ(parse_json(folder_.read("out.json"))["figures"]["a"]["mean_level"], 100);
  EXPECT_EQ(measure({"a.y4m", "--json", "-", "--quiet"}).out, folder_.read("out.json"));
}

TEST_F(Measure, PlotIsDrawn) {
  folder_.write("a.y4m", grey_y4m({100, 106, 100}));
  for (const char* name : {"over-time.png", "over-time.svg"}) {
    const ProgramResult result = measure({"a.y4m", "a.y4m", "--plot", name, "--quiet"});
    if (result.exit_code == 69) GTEST_SKIP() << result.err;
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  EXPECT_EQ(folder_.read("over-time.png").substr(1, 3), "PNG");
  EXPECT_THAT(folder_.read("over-time.svg"), HasSubstr("entropy, bits"));
}

TEST_F(Measure, TakesStillsPatternsAndStandardInput) {
  folder_.write("f0.ppm", stripes_ppm(200));
  folder_.write("f1.ppm", stripes_ppm(200));
  folder_.write("one.ppm", stripes_ppm(200));
  const Json pattern = figures({"f%d.ppm"});
  EXPECT_EQ(pattern["frames"].size(), 2U);
  EXPECT_NEAR(pattern["figures"]["a"]["entropy_bits"].get<double>(), 1, 1e-9);
  EXPECT_EQ(figures({"one.ppm", "one.ppm"})["figures"]["pair"]["ssim"], 1.0);
  folder_.write("b.y4m", grey_y4m({120, 120}));
  const ProgramResult piped =
      measure({"-", "b.y4m", "--json", "-", "--quiet"}, grey_y4m({100, 100}));
  ASSERT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_EQ(parse_json(piped.out)["figures"]["pair"]["ambe"], 20);
}

TEST_F(Measure, FramesBoundsEndlessInputs) {
  expect_error({"test:64x48@30"}, 2, "test:64x48@30 has no end, must be measured with --frames N");
  EXPECT_EQ(figures({"test:64x48@30", "--frames", "3"})["frames"].size(), 3U);
}

TEST_F(Measure, CommonFramesAreMeasuredAndSaid) {
  folder_.write("a.y4m", grey_y4m({100, 100, 100}));
  folder_.write("b.y4m", grey_y4m({100, 100}));
  const ProgramResult longer = measure({"a.y4m", "b.y4m", "--quiet"});
  ASSERT_EQ(longer.exit_code, 0) << longer.err;
  EXPECT_THAT(longer.out, HasSubstr("2 frames of 64x48"));
  EXPECT_THAT(longer.out, HasSubstr("; A goes on after them\n"));
  EXPECT_EQ(figures({"b.y4m", "a.y4m"})["note"], "B goes on after them");
  EXPECT_FALSE(figures({"b.y4m", "b.y4m"}).contains("note"));
}

TEST_F(Measure, ErrorsSayWhatWouldBeRight) {
  folder_.write("a.y4m", grey_y4m({100}));
  folder_.write("small.y4m", grey_y4m({100}, 32, 48));
  folder_.write("empty.y4m", grey_y4m({}));
  expect_error({}, 2, "A is missing, must be equalux measure A [B]");
  expect_error({"-", "-"}, 2, "A and B are both -");
  expect_error({"camera:0"}, 2, "camera:0 has no end");
  expect_error({"a.y4m", "small.y4m"}, 2,
               "B small.y4m is 32x48 and A a.y4m is 64x48, must be the same size");
  expect_error({"a.y4m", "missing.y4m"}, 66, "missing.y4m");
  expect_error({"empty.y4m"}, 65, "no frame");
  expect_error({"a.y4m", "--plot", "out.pdf"}, 2, "must be a name with .png or .svg");
  expect_error({"a.y4m", "--json", "a.y4m"}, 2, "is the input");
  folder_.write("still.ppm", stripes_ppm(200));
  expect_error({"a.y4m", "still.ppm", "--json", "still.ppm"}, 2, "is the input");
  expect_error({"a.y4m", "--json", "none/out.json"}, 73, "none/out.json");
  expect_error({"a.y4m", "--bins", "8"}, 2, "it belongs to");
}

#ifdef EQUALUX_HAVE_GSTREAMER
TEST_F(Measure, TheSampleClipHasOneCut) {
  const Json json = figures({EQUALUX_SOURCE_FOLDER "/samples/clip.mp4", "--frames", "150"});
  ASSERT_EQ(json["cuts"].size(), 1U);
  EXPECT_EQ(json["cuts"][0]["frame"], 138);
}
#endif

TEST_F(Measure, FramesUnderABlockHaveFewFigures) {
  folder_.write("a.y4m", grey_y4m({100, 103}, 3, 2));
  const Json json = figures({"a.y4m", "a.y4m"});
  EXPECT_EQ(json["figures"]["a"]["mean_level"], 101.5);
  for (const char* key : {"ssim", "noise_gain", "flicker_transfer", "texture_kept", "ghosting"})
    EXPECT_FALSE(json["figures"]["pair"].contains(key)) << key;
  EXPECT_FALSE(json["figures"].contains("still_share"));
}

TEST_F(Measure, SignalsLeaveNothing) {
  ProgramOptions options;
  options.folder = folder_.path();
  options.meanwhile = [this](int process) {
    // It measures once its output has been begun.
    for (int i = 0; i < 400 && folder_.names().empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(25));
    ::kill(process, SIGINT);
  };
  const ProgramResult result = run_program(
      {"measure", "test:640x480@30", "--frames", "1000000", "--json", "out.json", "--quiet"},
      options);
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_THAT(result.err, HasSubstr("stopped by a signal, nothing was written"));
  EXPECT_THAT(folder_.names(), SizeIs(0));
}

TEST_F(Measure, PartialInputsAreMeasuredAndSaid) {
  std::string cut = grey_y4m({100, 100, 100});
  cut.resize(cut.size() - 50);
  folder_.write("cut.y4m", cut);
  const ProgramResult result = measure({"cut.y4m", "--quiet"});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_THAT(result.out, HasSubstr("2 frames of 64x48"));
  EXPECT_THAT(result.err, HasSubstr("the figures are of a partial input: cut.y4m"));
  EXPECT_THAT(lines_of(result.err), SizeIs(1));
}

}  // namespace
}  // namespace equalux::test
