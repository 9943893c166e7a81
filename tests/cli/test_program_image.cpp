#include <array>
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "pipelines/files/still.h"
#include "src/common/json_text.h"
#include "tests/support/media/test_images.h"
#include "tests/support/program_test.h"
#ifdef EQUALUX_HAVE_OPENCV
#include "pipelines/opencv/still.h"
#endif

/// `equalux image`.
namespace equalux::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class ImageCommand : public ProgramTest {
 protected:
  ImageCommand() { folder_.write("in.ppm", dim_ppm(61, 43)); }
  ProgramResult image(std::vector<std::string> more) {
    std::vector<std::string> arguments{"image", "in.ppm", "out.ppm", "-y"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments, options_);
  }
};

TEST_F(ImageCommand, WritesTheWholeStillAndSaysWhatRan) {
  const ProgramResult result = image({});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(lines_of(result.err), ElementsAre(HasSubstr("CPU, ")));
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(folder_.names(), ElementsAre("in.ppm", "out.ppm"));
  EXPECT_EQ(folder_.read("out.ppm").size(), folder_.read("in.ppm").size());
  EXPECT_NE(folder_.read("out.ppm"), folder_.read("in.ppm"));
}

TEST_F(ImageCommand, SaysThatAStillHasNoTime) {
  const ProgramResult result =
      image({"--temporal-ms", "500", "--filter", "equalize", "--filter", "denoise:temporal=4"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("--temporal-ms, temporal of denoise: "
                                    "a still has no frames before it, not used\n"));
  // Of what a preset brings, nothing is said, nor of what asks for no time.
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--preset", "low-light"}, {"--temporal-ms", "0"}}) {
    EXPECT_THAT(lines_of(image(more).err), ElementsAre(HasSubstr("CPU, ")));
  }
}

TEST_F(ImageCommand, AnOutputNeverGrowsInTheInputsPlace) {
  const std::string original = folder_.read("in.ppm");
  folder_.write("a.partial.ppm", original);
  const ProgramResult result = run_program({"image", "a.partial.ppm", "a.ppm"}, options_);
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("would first be written as the input a.partial.ppm"));
  EXPECT_EQ(folder_.read("a.partial.ppm"), original);
}

TEST_F(ImageCommand, QuietSaysNothing) {
  const ProgramResult result = image({"--quiet"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
}

TEST_F(ImageCommand, EveryScanOfTheStagedChainGivesTheSamePicture) {
  ASSERT_EQ(image({"--chain", "staged"}).exit_code, 0);
  const std::string expected = folder_.read("out.ppm");
  for (const char* scan : {"baseline", "two-ended", "kogge-stone", "brent-kung"}) {
    for (const char* equalize : {"divide", "curve"}) {
      ASSERT_EQ(image({"--chain", "staged", "--scan", scan, "--equalize", equalize}).exit_code, 0);
      EXPECT_EQ(folder_.read("out.ppm"), expected) << scan << " " << equalize;
    }
  }
}

TEST_F(ImageCommand, ConvolvesByNameByKernelAndByWeights) {
  ASSERT_EQ(image({"--filter", "identity"}).exit_code, 0);
  EXPECT_EQ(folder_.read("out.ppm"), folder_.read("in.ppm"));
  const ProgramResult named = image({"--filter", "sharpen"});
  ASSERT_EQ(named.exit_code, 0) << named.err;
  const std::string sharp = folder_.read("out.ppm");
  EXPECT_NE(sharp, folder_.read("in.ppm"));
  for (const char* same :
       {"convolve:kernel=sharpen", "convolve:weights=0,-1,0,-1,5,-1,0,-1,0",
        "convolve:weights=0,-.25,0,-.25,1.25,-.25,0,-.25,0,divisor=0.25",
        "convolve:kernel=custom,weights=0,-1,0,-1,5,-1,0,-1,0", "sharpen:mode=sequential"}) {
    const ProgramResult result = image({"--filter", same});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(folder_.read("out.ppm"), sharp) << same;
  }
  ASSERT_EQ(image({"--filter", "sharpen:border=constant,border-value=255"}).exit_code, 0);
  EXPECT_NE(folder_.read("out.ppm"), sharp);
}

TEST_F(ImageCommand, EqualizesTileByTile) {
  ASSERT_EQ(image({"--filter", "clahe:strength=0"}).exit_code, 0);
  EXPECT_EQ(folder_.read("out.ppm"), folder_.read("in.ppm"));
  const ProgramResult plain = image({"--filter", "clahe"});
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  const std::string tiled = folder_.read("out.ppm");
  EXPECT_NE(tiled, folder_.read("in.ppm"));
  ASSERT_EQ(image({"--filter", "clahe:clip-limit=2,tiles=8,8"}).exit_code, 0);
  EXPECT_EQ(folder_.read("out.ppm"), tiled);
  ASSERT_EQ(image({"--filter", "clahe:tiles=2"}).exit_code, 0);
  EXPECT_NE(folder_.read("out.ppm"), tiled);
  const ProgramResult many = image({"--filter", "clahe:tiles=17,2"});
  EXPECT_EQ(many.exit_code, 2);
  EXPECT_THAT(lines_of(many.err), ElementsAre(HasSubstr("tiles is 17,2, must be 1 to 16 each")));
  const ProgramResult key = image({"--filter", "clahe:bins=9"});
  EXPECT_EQ(key.exit_code, 2);
  EXPECT_THAT(lines_of(key.err), ElementsAre(HasSubstr("clahe has no key 'bins'")));
}

TEST_F(ImageCommand, FiltersFollowEachOther) {
  ASSERT_EQ(image({"--filter", "equalize", "--filter", "gaussian:sigma=1.2"}).exit_code, 0);
  const std::string chained = folder_.read("out.ppm");
  ASSERT_EQ(image({"--filter", "equalize"}).exit_code, 0);
  folder_.write("in.ppm", folder_.read("out.ppm"));
  ASSERT_EQ(image({"--filter", "gaussian:sigma=1.2"}).exit_code, 0);
  EXPECT_EQ(folder_.read("out.ppm"), chained);
}

TEST_F(ImageCommand, TimingsHaveALineForEachRepeat) {
  const ProgramResult result = image({"--repeat", "3", "--timings", "t.jsonl"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto lines = lines_of(folder_.read("t.jsonl"));
  ASSERT_THAT(lines, SizeIs(3));
  for (const std::string& line : lines) {
    const auto json = parse_json(line);
    EXPECT_TRUE(json.contains("stages")) << line;
    EXPECT_FALSE(json.contains("upload_ms")) << line;
  }
  EXPECT_THAT(result.err, HasSubstr("histogram"));
}

TEST_F(ImageCommand, RepeatShowsItsTimes) {
  EXPECT_THAT(image({"--repeat", "3"}).err, HasSubstr("frames: 3 in"));
  EXPECT_EQ(image({"--repeat", "3", "--quiet", "-y"}).err, "");
  EXPECT_THAT(image({"-y"}).err, Not(HasSubstr("frames:")));
}

TEST_F(ImageCommand, VerifyIsFramemd5OfTheResult) {
  const ProgramResult result = image({"--verify", "--quiet"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("#dimensions 0: 61x43"));
  EXPECT_THAT(result.out, HasSubstr(std::to_string(61 * 43 * 3)));
}

TEST_F(ImageCommand, WithoutGnuplotAPlotIsUnavailable) {
  options_.environment = {{"PATH", "/nonexistent"}};
  const ProgramResult result = image({"--plot", "p.png"});
  EXPECT_EQ(result.exit_code, 69);
  EXPECT_THAT(result.err, HasSubstr("gnuplot-nox"));
  EXPECT_THAT(folder_.names(), ElementsAre("in.ppm"));
}

bool have_gnuplot() {
  return std::system("gnuplot --version > /dev/null 2>&1") == 0;
}

TEST_F(ImageCommand, PlotsArePngs) {
  if (!have_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  const ProgramResult result = image(
      {"--plot", "it's a plot.png", "--plot-rgb", "--plot-scalers", "scalers.png", "--bins", "64"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(folder_.names(), ElementsAre("in.ppm", "it's a plot.png", "out.ppm", "scalers.png"));
  for (const char* name : {"it's a plot.png", "scalers.png"}) {
    EXPECT_EQ(folder_.read(name).substr(1, 3), "PNG");
    EXPECT_GT(folder_.read(name).size(), 10000U);
  }
}

TEST_F(ImageCommand, PlotsOddShapes) {
  if (!have_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
  for (const auto& [width, height] : {std::pair(1, 1), std::pair(1, 300), std::pair(300, 1)}) {
    folder_.write("in.ppm", dim_ppm(width, height));
    const ProgramResult result = image({"--plot", "p.png", "--quiet"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
  }
}

TEST_F(ImageCommand, OutputsByOptionAndThroughPipes) {
  ASSERT_EQ(image({}).exit_code, 0);
  const std::string expected = folder_.read("out.ppm");
  EXPECT_EQ(run_program({"image", "in.ppm", "-o", "named.ppm"}, options_).exit_code, 0);
  EXPECT_EQ(folder_.read("named.ppm"), expected);
  options_.input = folder_.read("in.ppm");
  const ProgramResult piped = run_program({"image", "-", "-", "--quiet"}, options_);
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_TRUE(piped.out == expected);
  EXPECT_TRUE(run_program({"image", "in.ppm", "ppm:-"}, options_).out == expected);
  EXPECT_EQ(run_program({"image", "-", "-o", "piped.ppm"}, options_).exit_code, 0);
  EXPECT_TRUE(folder_.read("piped.ppm") == expected);
  options_.input = "no picture";
  const ProgramResult bad = run_program({"image", "-", "-"}, options_);
  EXPECT_EQ(bad.exit_code, 65);
  EXPECT_THAT(bad.err, HasSubstr("equalux: -: holds no still"));
  options_.input = "P5 9 9 255\n";
  const ProgramResult cut = run_program({"image", "-", "-"}, options_);
  EXPECT_EQ(cut.exit_code, 65);
  EXPECT_THAT(cut.err, HasSubstr("equalux: -: "));
  EXPECT_EQ(run_program({"image", "in.ppm", "-", "--verify"}, options_).exit_code, 2);
}

TEST_F(ImageCommand, FoldersAreMirroredAndFailuresCounted) {
  ASSERT_EQ(image({}).exit_code, 0);
  folder_.write("set/a.ppm", folder_.read("in.ppm"));
  folder_.write("set/below/b.ppm", folder_.read("in.ppm"));
  folder_.write("set/notes.txt", "no picture");
  const ProgramResult whole = run_program({"image", "set", "in.ppm", "--out", "all"}, options_);
  EXPECT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_THAT(whole.err, HasSubstr("3 stills written, 0 failed, 1 other file left out"));
  for (const char* name : {"all/a.ppm", "all/below/b.ppm", "all/in.ppm"})
    EXPECT_TRUE(folder_.read(name) == folder_.read("out.ppm")) << name;

  folder_.write("set/bad.ppm", "P6 nonsense");
  const ProgramResult some = run_program({"image", "set", "--out", "some"}, options_);
  EXPECT_EQ(some.exit_code, 3);
  EXPECT_THAT(some.err, HasSubstr("set/bad.ppm: "));
  EXPECT_THAT(some.err, HasSubstr("2 stills written, 1 failed"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "some/below/b.ppm"));
  const ProgramResult none =
      run_program({"image", "set/bad.ppm", "--out", "none", "--quiet"}, options_);
  EXPECT_EQ(none.exit_code, 65);
  EXPECT_THAT(none.err, HasSubstr("set/bad.ppm: "));
  // Not over the inputs, and not over what is there.
  EXPECT_EQ(run_program({"image", "set/a.ppm", "--out", "set"}, options_).exit_code, 2);
  EXPECT_EQ(run_program({"image", "set", "--out", "all"}, options_).exit_code, 73);
  EXPECT_EQ(run_program({"image", "set/a.ppm", "set/a.ppm", "--out", "x"}, options_).exit_code, 2);
}

TEST_F(ImageCommand, AStillThatTheFiltersDoNotTakeCostsTheOthersNothing) {
  folder_.write("set/a.pgm", "P5 2 2 65535\n" + std::string(8, 'x'));
  folder_.write("set/b.ppm", dim_ppm(32, 16));
  folder_.write("set/c.ppm", dim_ppm(8, 6));
  for (const auto& [option, value, said] :
       {std::array{"--filter", "denoise",
                   "set/a.pgm: filter denoise does not take gray16_le stills, must have 8 bits"},
        std::array{"--region", "2,0,20,10", "set/a.pgm: region"}}) {
    const ProgramResult result =
        run_program({"image", "set", "--out", "some", "-y", option, value}, options_);
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_THAT(result.err, HasSubstr(said));
    EXPECT_TRUE(std::filesystem::exists(folder_ / "some/b.ppm"));
    std::filesystem::remove_all(folder_ / "some");
  }
}

TEST_F(ImageCommand, ResultsAndWhatIsHiddenAreNoInputs) {
  folder_.write("set/a.ppm", dim_ppm(8, 6));
  folder_.write("set/.hidden.ppm", dim_ppm(8, 6));
  folder_.write("set/half.partial.ppm", "P6");
  std::filesystem::create_symlink("nowhere.ppm", folder_ / "set/link.ppm");
  std::filesystem::create_directory_symlink(".", folder_ / "set/round");
  for (int i = 0; i < 2; ++i) {
    const ProgramResult result = run_program({"image", "set", "--out", "set/out", "-y"}, options_);
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_THAT(result.err, HasSubstr("set/link.ppm"));
    EXPECT_THAT(result.err, HasSubstr("1 still written, 1 failed, 2 other files left out"));
  }
  // What lies in the folder of the results may be asked for by itself.
  EXPECT_EQ(run_program({"image", "set/out", "--out", "set"}, options_).exit_code, 73);
  EXPECT_EQ(run_program({"image", "set/out", "--out", "set", "-y"}, options_).exit_code, 0);
}

TEST_F(ImageCommand, WhatIsMeantOtherwiseIsTold) {
  folder_.write("dark.mp4", "video");
  const std::pair<std::vector<std::string>, const char*> calls[] = {
      {{"image", "dark.mp4", "out.mp4"}, "must be equalux run dark.mp4"},
      {{"image", "in.ppm", "in.ppm", "in.ppm"}, "a pattern without quotes"},
      {{"image", ".", "out.ppm"}, "--out DIR takes folders"},
      {{"image", "in.ppm", "out.ppm", "--quality", "50"}, "--quality is of JPEG and WebP"},
      {{"image", "in.ppm", "--out", "x", "--repeat", "2"}, "--repeat is of one still"},
      {{"image", "in.ppm", "-o", "out.ppm", "--out", "x"}, "must be one of them"}};
  for (const auto& [call, text] : calls) {
    const ProgramResult result = run_program(call, options_);
    EXPECT_EQ(result.exit_code, call[1] == "dark.mp4" ? 65 : 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_THAT(lines_of(result.err), SizeIs(1));
  }
  EXPECT_THAT(run_program({"image", "--help"}, options_).out, HasSubstr("--preset stable"));
}

#ifdef EQUALUX_HAVE_OPENCV
TEST_F(ImageCommand, QualityIsOfJpegAndWebp) {
  for (const char* name : {"out.jpg", "out.webp"}) {
    ASSERT_EQ(run_program({"image", "in.ppm", name}, options_).exit_code, 0);
    const std::size_t usual = folder_.read(name).size();
    ASSERT_EQ(run_program({"image", "in.ppm", name, "-y", "--quality", "20"}, options_).exit_code,
              0);
    EXPECT_LT(folder_.read(name).size(), usual) << name;
  }
}

TEST_F(ImageCommand, SaysWhatTheOutputCannotHold) {
  register_opencv_stills();
  PaddedImage picture({PixelFormat::bgr, 33, 21, {}, {}});
  fill(picture.view(), Content::noise);
  StillNotes notes;
  notes.dots_per_inch_x = notes.dots_per_inch_y = 300;
  ASSERT_EQ(write_still(folder_ / "dense.jpg", picture.view(), notes, {}), "");
  const ProgramResult kept = run_program({"image", "dense.jpg", "out.png"}, options_);
  EXPECT_EQ(kept.exit_code, 0) << kept.err;
  EXPECT_THAT(lines_of(kept.err), SizeIs(1));
  (void)read_still(folder_ / "out.png", notes);
  EXPECT_NEAR(notes.dots_per_inch_x, 300, 0.02);
  const ProgramResult lost = run_program({"image", "dense.jpg", "out.ppm"}, options_);
  EXPECT_EQ(lost.exit_code, 0) << lost.err;
  EXPECT_THAT(lost.err, HasSubstr("out.ppm: does not keep the input's density\n"));
}

TEST_F(ImageCommand, KeepsAlpha) {
  register_opencv_stills();
  PaddedImage with_alpha({PixelFormat::bgra, 33, 21, {}, {}});
  fill(with_alpha.view(), Content::noise);
  write_still(folder_ / "alpha.png", with_alpha.view());
  const ProgramResult result = run_program({"image", "alpha.png", "out.png"}, options_);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Image out = read_still(folder_ / "out.png");
  ASSERT_EQ(out.desc().format, PixelFormat::bgra);
  for (int y = 0; y < 21; ++y) {
    for (int x = 0; x < 33; ++x) {
      ASSERT_EQ(out.view().row(0, y)[4 * x + 3], with_alpha.view().row(0, y)[4 * x + 3]);
    }
  }
}

TEST_F(ImageCommand, SaysWhereAlphaIsLostByTheNamesThatWereGiven) {
  register_opencv_stills();
  for (const PixelFormat format : {PixelFormat::bgra, PixelFormat::bgra64_le}) {
    PaddedImage picture({format, 33, 21, {}, {}});
    fill(picture.view(), Content::noise);
    write_still(folder_ / "alpha.png", picture.view());
    for (const char* output : {"out.ppm", "ppm:-"}) {
      const ProgramResult result = run_program({"image", "alpha.png", output, "-y"}, options_);
      ASSERT_EQ(result.exit_code, 0) << result.err;
      EXPECT_THAT(
          lines_of(result.err),
          Contains("equalux: alpha.png: its transparency is lost, .ppm holds none; .png does"))
          << output;
    }
  }
  PaddedImage picture({PixelFormat::bgra, 33, 21, {}, {}});
  write_still(folder_ / "alpha.png", picture.view());
  ProgramOptions piped = options_;
  piped.input = folder_.read("alpha.png");
  const ProgramResult jpeg = run_program({"image", "-", "jpg:-"}, piped);
  ASSERT_EQ(jpeg.exit_code, 0) << jpeg.err;
  EXPECT_THAT(lines_of(jpeg.err),
              ElementsAre("equalux: -: its transparency is lost, .jpg holds none; .png does",
                          HasSubstr("CPU, ")));
  const ProgramResult mask =
      run_program({"image", "alpha.png", "mask.png", "--filter", "vessel:output=mask"}, options_);
  ASSERT_EQ(mask.exit_code, 0) << mask.err;
  EXPECT_THAT(mask.err, HasSubstr("alpha.png: its transparency is lost, the filters make gray8 "
                                  "pictures of it\n"));
}

TEST_F(ImageCommand, NothingIsLostOfOpaquePictures) {
  register_opencv_stills();
  for (const PixelFormat format : {PixelFormat::bgra, PixelFormat::bgra64_le}) {
    PaddedImage picture({format, 33, 21, {}, {}});
    fill(picture.view(), Content::noise);
    const auto step = static_cast<std::size_t>(traits(format).step[0]);
    for (int y = 0; y < 21; ++y) {
      std::uint8_t* row = picture.view().row(0, y);
      for (std::size_t x = 0; x < 33; ++x)
        std::fill(row + x * step + step * 3 / 4, row + (x + 1) * step, std::uint8_t{255});
    }
    write_still(folder_ / "screen.png", picture.view());
    EXPECT_THAT(run_program({"image", "screen.png", "out.ppm", "-y"}, options_).err,
                Not(HasSubstr("transparency")));
    // One pixel that is seen through a little.
    --picture.view().row(0, 20)[33 * step - 1];
    write_still(folder_ / "screen.png", picture.view());
    EXPECT_THAT(run_program({"image", "screen.png", "out.ppm", "-y"}, options_).err,
                HasSubstr("screen.png: its transparency is lost"));
  }
}

TEST_F(ImageCommand, WhatStdoutCannotHoldIsNotSaidOfAHiddenFile) {
  register_opencv_stills();
  PaddedImage picture({PixelFormat::bgr, 33, 21, {}, {}});
  StillNotes notes;
  notes.dots_per_inch_x = notes.dots_per_inch_y = 300;
  ASSERT_EQ(write_still(folder_ / "dense.jpg", picture.view(), notes, {}), "");
  const ProgramResult lost = run_program({"image", "dense.jpg", "ppm:-"}, options_);
  ASSERT_EQ(lost.exit_code, 0) << lost.err;
  EXPECT_THAT(lines_of(lost.err), Contains("equalux: -: does not keep the input's density"));
}
#endif

}  // namespace
}  // namespace equalux::test
