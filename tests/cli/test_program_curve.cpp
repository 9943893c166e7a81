#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <equalux/curve.h>
#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/files/pnm.h"
#include "tests/support/media/test_images.h"
#include "tests/support/media/y4m_streams.h"
#include "tests/support/program_test.h"

/// --curve-to and --curve-from.
namespace equalux::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kClipWidth = 32;
constexpr int kClipHeight = 16;

/// A gray stream of full range, frame by frame from first(x, y) with the light of `exposure`.
std::string gray_y4m(int frames, double exposure) {
  std::string text = "YUV4MPEG2 W32 H16 F25:1 Ip A1:1 Cmono XCOLORRANGE=FULL\n";
  for (int frame = 0; frame < frames; ++frame) {
    text += "FRAME\n";
    for (int y = 0; y < kClipHeight; ++y) {
      for (int x = 0; x < kClipWidth; ++x) {
        const int level = 10 + (7 * x + 13 * y + 5 * frame) % 90;
        text += static_cast<char>(std::lround(level * exposure));
      }
    }
  }
  return text;
}

/// The samples behind the header, frame by frame.
std::vector<std::string> frames_of(const std::string& y4m) {
  std::vector<std::string> frames;
  std::size_t at = y4m.find('\n') + 1;
  while (at < y4m.size()) {
    at = y4m.find('\n', at) + 1;
    frames.push_back(y4m.substr(at, kClipWidth * kClipHeight));
    at += kClipWidth * kClipHeight;
  }
  return frames;
}

class Curve : public ProgramTest {
 protected:
  Curve() {
    folder_.write("a/bright.y4m", gray_y4m(4, 2.4));
    folder_.write("a/dark.y4m", gray_y4m(6, 1));
  }
  ProgramResult run(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--backend", "cpu", "--quiet"});
    return run_program(arguments, options_);
  }
  void expect_done(const std::vector<std::string>& arguments) {
    const ProgramResult result = run(arguments);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
  }
  void expect_error(const std::vector<std::string>& arguments, int code, const std::string& text) {
    const std::vector<std::string> before = folder_.names();
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_EQ(lines_of(result.err).size(), 1U) << result.err;
    EXPECT_EQ(folder_.names(), before);
  }
  ToneCurve curve(const std::string& name) const {
    return curve_from_text(folder_.read(name), name);
  }
};

/// What levels become, -1 for those that are nowhere. Fails where one level becomes two.
std::vector<int> mapping(const std::string& in, const std::string& out) {
  std::vector<int> became(256, -1);
  const std::vector<std::string> before = frames_of(in);
  const std::vector<std::string> after = frames_of(out);
  EXPECT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size() && i < after.size(); ++i) {
    for (std::size_t k = 0; k < before[i].size(); ++k) {
      int& level = became[static_cast<unsigned char>(before[i][k])];
      const int result = static_cast<unsigned char>(after[i][k]);
      EXPECT_TRUE(level < 0 || level == result) << "frame " << i;
      level = result;
    }
  }
  return became;
}

TEST_F(Curve, ClipsUnderOneCurveAreComparable) {
  expect_done({"run", "a/dark.y4m", "-o", "null", "--curve-to", "c.json"});
  const ToneCurve saved = curve("c.json");
  EXPECT_EQ(saved.frames, 6U);
  EXPECT_EQ(saved.levels.size(), 256U);
  // By preset stable, which is what `run` does.
  EXPECT_THAT(saved.made_with, Contains(std::pair<std::string, std::string>("strength", "auto")));
  std::vector<int> of_all(256, -1);
  for (const std::string name : {"dark", "bright"}) {
    expect_done({"run", "a/" + name + ".y4m", "-o", name + ".y4m", "--curve-from", "c.json"});
    const std::vector<int> became =
        mapping(folder_.read("a/" + name + ".y4m"), folder_.read(name + ".y4m"));
    for (std::size_t v = 1; v < 256; ++v) {
      if (became[v] < 0) continue;
      EXPECT_EQ(became[v], static_cast<int>((saved.levels[v] + (1U << 21)) >> 22)) << v;
      EXPECT_TRUE(of_all[v] < 0 || of_all[v] == became[v]);
      of_all[v] = became[v];
    }
  }
  // Each by itself is another matter.
  expect_done({"run", "a/bright.y4m", "-o", "own.y4m"});
  EXPECT_NE(folder_.read("own.y4m"), folder_.read("bright.y4m"));
}

TEST_F(Curve, SaysThatSaturationIsNoPartOfIt) {
  const std::string holds = "c.json holds the mean curve of 6 frames";
  const auto said = [this](const std::string& preset) {
    const std::vector<std::string> arguments{"run",        "a/dark.y4m", "-o",       "null",
                                             "--curve-to", "c.json",     "--preset", preset};
    return run_program(arguments, options_).err;
  };
  EXPECT_THAT(said("fog"), HasSubstr(holds + "; saturation auto is no part of it\n"));
  EXPECT_THAT(said("stable"), HasSubstr(holds + "\n"));
}

TEST_F(Curve, RunWritesVideoAndCurveTogether) {
  expect_done({"run", "a/dark.y4m", "-o", "both.y4m", "--curve-to", "both.json"});
  expect_done({"run", "a/dark.y4m", "-o", "alone.y4m"});
  expect_done({"run", "a/dark.y4m", "-o", "null", "--curve-to", "alone.json"});
  EXPECT_EQ(folder_.read("both.y4m"), folder_.read("alone.y4m"));
  EXPECT_EQ(folder_.read("both.json"), folder_.read("alone.json"));
  EXPECT_THAT(folder_.names(), Not(Contains(HasSubstr("partial"))));
}

// Two steps: the curve of all files, without any other output, and then all files under it.
TEST_F(Curve, BatchHasOneCurveForTheStudy) {
  const std::vector<std::string> before = folder_.names();
  expect_done({"batch", "a", "--curve-to", "study.json", "--preset", "plain"});
  std::vector<std::string> expected = before;
  expected.emplace_back("study.json");
  EXPECT_EQ(folder_.names(), expected);
  const ToneCurve study = curve("study.json");
  EXPECT_EQ(study.frames, 10U);
  for (const char* name : {"dark", "bright"}) {
    expect_done({"run", std::string("a/") + name + ".y4m", "-o", "null", "--preset", "plain",
                 "--curve-to", std::string(name) + ".json"});
  }
  const ToneCurve dark = curve("dark.json");
  const ToneCurve bright = curve("bright.json");
  for (std::size_t v = 0; v < 256; ++v) {
    EXPECT_NEAR(study.levels[v], (6.0 * dark.levels[v] + 4.0 * bright.levels[v]) / 10, 1) << v;
  }
  expect_done({"batch", "a", "--out", "results", "--curve-from", "study.json"});
  for (const std::string name : {"dark.y4m", "bright.y4m"}) {
    const std::vector<int> became =
        mapping(folder_.read("a/" + name), folder_.read("results/" + name));
    for (std::size_t v = 1; v < 256; ++v) {
      if (became[v] < 0) continue;
      EXPECT_EQ(became[v], static_cast<int>((study.levels[v] + (1U << 21)) >> 22)) << v;
    }
  }
}

TEST_F(Curve, BatchGoesOnWithoutAFileThatFails) {
  folder_.write("a/broken.y4m", "YUV4MPEG2 nonsense\n");
  const ProgramResult result = run({"batch", "a", "--curve-to", "study.json"});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_EQ(curve("study.json").frames, 10U);
}

TEST_F(Curve, StoppedByASignalItIsOfTheFramesUpToThen) {
  options_.meanwhile = [this](int process) {
    // Until a frame is written.
    for (int i = 0; i < 4000; ++i) {
      std::error_code missing;
      const auto size = std::filesystem::file_size(folder_ / "out.partial.y4m", missing);
      if (!missing && size > 500'000) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ::kill(process, SIGINT);
  };
  const ProgramResult result =
      run({"run", "test:640x360@100", "-o", "out.y4m", "--curve-to", "c.json"});
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_GT(curve("c.json").frames, 0U);
}

TEST_F(Curve, WithoutAFrameThereIsNone) {
  folder_.write("b/none.y4m", "YUV4MPEG2 W32 H16 F25:1 Ip A1:1 Cmono\n");
  const ProgramResult result = run_program({"batch", "b", "--curve-to", "c.json"}, options_);
  EXPECT_EQ(result.exit_code, 65);  // as every file fails for the same reason
  EXPECT_THAT(result.err, HasSubstr("curve c.json is not written: there was no frame"));
  EXPECT_THAT(folder_.names(), Not(Contains(HasSubstr("c.json"))));
  EXPECT_EQ(run({"run", "b/none.y4m", "-o", "null", "--curve-to", "c.json"}).exit_code, 65);
  EXPECT_THAT(folder_.names(), Not(Contains(HasSubstr("c."))));
}

TEST_F(Curve, StillsAndConfigFiles) {
  folder_.write("in.ppm", dim_ppm(40, 30));
  folder_.write("other.ppm", dim_ppm(20, 50));
  expect_done({"image", "in.ppm", "own.ppm", "--strength", "0.5", "--curve-to", "c.json"});
  expect_done({"image", "in.ppm", "kept.ppm", "--curve-from", "c.json"});
  EXPECT_EQ(folder_.read("own.ppm"), folder_.read("kept.ppm"));
  folder_.write("study.toml", "curve-from = \"c.json\"\n[image]\ncurve-to = \"\"\n");
  expect_done({"image", "other.ppm", "by-flag.ppm", "--curve-from", "c.json"});
  expect_done({"image", "other.ppm", "by-file.ppm", "--config", "study.toml"});
  expect_done({"image", "other.ppm", "by-key.ppm", "--filter", "equalize:curve-from=c.json"});
  EXPECT_EQ(folder_.read("by-flag.ppm"), folder_.read("by-file.ppm"));
  EXPECT_EQ(folder_.read("by-flag.ppm"), folder_.read("by-key.ppm"));
  expect_done({"run", "a/dark.y4m", "-o", "null", "--filter", "equalize:curve-from=c.json"});
  expect_done({"run", "a/dark.y4m", "-o", "null", "--config", "study.toml"});
  // The space is the curve's.
  expect_done({"image", "in.ppm", "own.ppm", "-y", "--space", "lightness", "--curve-to", "l.json"});
  expect_done({"image", "in.ppm", "kept.ppm", "-y", "--curve-from", "l.json"});
  EXPECT_EQ(folder_.read("own.ppm"), folder_.read("kept.ppm"));
  expect_error({"image", "in.ppm", "out.ppm", "--curve-from", "l.json", "--space", "luma"}, 2,
               "space is luma, must be lightness as in curve-from");
}

TEST_F(Curve, DeepFramesUnderTheCurveOfEightBits) {
  expect_done({"run", "a/dark.y4m", "-o", "null", "--curve-to", "c.json"});
  Image still({PixelFormat::gray16_le, 256, 1});
  for (int x = 0; x < 256; ++x) {
    still.view().row(0, 0)[2 * x] = static_cast<std::uint8_t>(x);
    still.view().row(0, 0)[2 * x + 1] = static_cast<std::uint8_t>(x);
  }
  write_pnm(folder_ / "in.pgm", still.view());
  expect_done({"image", "in.pgm", "out.pgm", "--curve-from", "c.json"});
  const Image out = read_pnm(folder_ / "out.pgm");
  const ToneCurve saved = curve("c.json");
  for (std::size_t v = 1; v < 256; ++v) {
    const std::uint8_t* at = out.view().row(0, 0) + 2 * v;
    EXPECT_NEAR((at[0] + 256 * at[1]) / 257.0, saved.levels[v] / 4194304.0, 0.003) << v;
  }
}

TEST_F(Curve, WhatHasNoMeaningIsRefused) {
  folder_.write("in.ppm", dim_ppm(40, 30));
  expect_done({"image", "in.ppm", "own.ppm", "--curve-to", "c.json"});
  folder_.write("text.json", "no curve\n");
  folder_.write("other.json", "{\"version\": 1}\n");
  folder_.write("empty.json", "");
  std::string old = folder_.read("c.json");
  old.replace(old.find("\"version\": 1"), 12, "\"version\": 7");
  folder_.write("old.json", old);
  const auto from = [](const std::string& name, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"run", "a/dark.y4m", "-o", "out.y4m", "--curve-from", name};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  expect_error(from("none.json"), 66, "curve none.json cannot be opened");
  expect_error(from("text.json"), 65, "curve text.json is no JSON of a tone curve");
  expect_error(from("other.json"), 65, "curve other.json is no tone curve");
  expect_error(from("empty.json"), 65, "curve empty.json is no JSON of a tone curve");
  expect_error(from("old.json"), 65, "curve old.json has version 7, must be 1");
  expect_error(from("c.json", {"--strength", "0.5"}), 2, "curve-from stands beside strength");
  expect_error(from("c.json", {"--preset", "low-light"}), 2, "curve-from stands beside clip-limit");
  expect_error(from("c.json", {"--chain", "staged"}), 2,
               "chain is staged, must be fused with curve-from");
  expect_error(from("c.json", {"--filter", "clahe"}), 2,
               "--curve-from is nothing that the chain clahe has, must stand with equalize");
  expect_error(from("c.json", {"--curve-to", "d.json"}), 2,
               "curve-to stands beside curve-from, must be one of the two");

  const auto to = [](const std::string& name, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"run", "a/dark.y4m", "-o", "out.y4m", "--curve-to", name};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  expect_error(to("d.json", {"--chain", "staged"}), 2,
               "chain is staged, must be fused with curve-to");
  expect_error(to("d.json", {"--filter", "clahe"}), 2,
               "--curve-to is nothing that the chain clahe has, must stand with equalize");
  expect_error(to("d.json", {"--filter", "equalize", "--filter", "equalize"}), 2,
               "--curve-to is of one filter equalize, the chain has 2, must have one");
  expect_error(to("a/dark.y4m"), 2, "a/dark.y4m");
  expect_error(to("none/d.json"), 73, "none/d.json");
  expect_error({"image", "in.ppm", "out.ppm", "--curve-to", "in.ppm"}, 2, "in.ppm");
  expect_error({"image", "in.ppm", "out.ppm", "--curve-from", "c.json", "--plot-scalers", "p.png"},
               2, "--plot-scalers compares scalers");
  expect_error({"batch", "a", "--curve-from", "c.json"}, 2, "--out is missing");
  expect_error({"batch", "a", "--out", "b", "--curve-to", "c.json"}, 2, "must stand without --out");
}

}  // namespace
}  // namespace equalux::test
