#include <array>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/media_files.h"
#include "support/program.h"

/// What the program makes of the pictures that decoders give and encoders take.
namespace equalux::test {
namespace {

using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::HasSubstr;

class Codecs : public ::testing::Test {
 protected:
  Codecs() { options_.folder = folder_.path(); }
  void SetUp() override {
    if (!have_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not installed";
  }
  ProgramResult run(const std::vector<std::string>& arguments) {
    return run_program(arguments, options_);
  }
  /// A clip of `frames` pictures; encoder and output options as ffmpeg takes them.
  void make(const std::string& name, const std::string& arguments, int frames = 3,
            const std::string& size = "64x48") {
    ffmpeg("-f lavfi -i testsrc2=s=" + size + ":r=25 -frames:v " + std::to_string(frames) + " " +
           arguments + " '" + folder_ / name + "'");
  }

  TemporaryFolder folder_;
  ProgramOptions options_;
};

/// The layouts that ffmpeg's encoder takes, as its help lists them.
std::vector<std::string> layouts_of(const std::string& encoder) {
  std::istringstream words(shell("ffmpeg -hide_banner -h encoder=" + encoder +
                                 " 2>/dev/null | sed -n 's/.*Supported pixel formats: //p'"));
  return {std::istream_iterator<std::string>(words), {}};
}

/// GStreamer's libav decoder crashes on most of those that it does not hand on.
TEST_F(Codecs, EveryFfv1LayoutIsDecodedOrNamed) {
  const std::vector<std::string> layouts = layouts_of("ffv1");
  ASSERT_GT(layouts.size(), 30U);
  std::string outputs;
  for (const std::string& layout : layouts) {
    outputs += "-frames:v 3 -c:v ffv1 -strict -2 -pix_fmt " + layout + " '" +
               folder_ / (layout + ".mkv") + "' ";
  }
  ffmpeg("-f lavfi -i testsrc2=s=64x48:r=25 " + outputs);
  std::size_t decoded = 0;
  for (const std::string& layout : layouts) {
    const std::string file = layout + ".mkv";
    // FFV1 has one layout for both; libavformat names the other one.
    const std::string named = layout == "rgb48le"    ? "gbrp16le"
                              : layout == "rgba64le" ? "gbrap16le"
                                                     : layout;
    for (const char* command : {"run", "measure"}) {
      std::vector<std::string> arguments{command, file, "--threads", "1"};
      if (arguments.front() == "run") arguments.insert(arguments.end(), {"-o", "null"});
      const ProgramResult result = run(arguments);
      EXPECT_THAT(result.exit_code, AnyOf(Eq(0), Eq(65))) << layout << ": " << result.err;
      decoded += result.exit_code == 0;
      if (result.exit_code != 65) continue;
      EXPECT_EQ(lines_of(result.err).size(), 1U) << result.err;
      EXPECT_THAT(result.err, HasSubstr(named + " pictures; convert it first, best to ")) << layout;
    }
  }
  EXPECT_GE(decoded, 2 * 23U);
}

TEST_F(Codecs, ALayoutThatChangesInTheMiddleEndsTheStream) {
  make("a.avi", "-c:v mjpeg -pix_fmt yuvj420p");
  make("a%02d.png", "");
  // ffmpeg's own encoder makes no JPEG of 4:4:0.
  shell("cd '" + folder_.path().string() +
        "' && for i in 01 02 03; do convert a$i.png -sampling-factor 1x2 b$i.jpg; done");
  ffmpeg("-framerate 25 -i '" + folder_ / "b%02d.jpg" + "' -c copy '" + folder_ / "b.avi" + "'");
  folder_.write("list.txt", "file a.avi\nfile b.avi\n");
  ffmpeg("-f concat -i '" + folder_ / "list.txt" + "' -c copy '" + folder_ / "both.mkv" + "'");
  EXPECT_EQ(run({"run", "both.mkv", "-o", "null"}).exit_code, 3);
  const ProgramResult alone = run({"run", "b.avi", "-o", "null"});
  EXPECT_EQ(alone.exit_code, 65);
  EXPECT_THAT(alone.err, HasSubstr("yuvj440p pictures; convert it first, best to yuv444p"));
}

TEST_F(Codecs, OtherDecodersDoNotTakeBitsOrChromaAway) {
  make("gray12.mp4", "-c:v libx265 -x265-params log-level=none -pix_fmt gray12le");
  make("440.webm", "-c:v libvpx-vp9 -pix_fmt yuv440p");
  make("tiff.mov", "-c:v tiff -pix_fmt rgba64le");
  for (const auto& [file, layout] :
       {std::pair{"gray12.mp4",
                  "hevc video cannot be decoded: no "
                  "decoder of GStreamer's here hands on "
                  "gray12le pictures"},
        std::pair{"440.webm", "yuv440p pictures"}, std::pair{"tiff.mov", "rgba64le pictures"}}) {
    const ProgramResult result = run({"run", file, "-o", "null"});
    EXPECT_EQ(result.exit_code, 65) << file << result.err;
    EXPECT_THAT(result.err, HasSubstr(layout));
    EXPECT_EQ(lines_of(result.err).size(), 1U) << result.err;
  }
}

}  // namespace
}  // namespace equalux::test
