#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/long_counts.h"
#include "tests/support/media/media_files.h"
#include "tests/support/program_test.h"

/// Transparency of real files, as ffmpeg sees it in the input and in the result.
namespace equalux::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class TransparentFiles : public ProgramTest {
 protected:
  void SetUp() override {
    if (!have_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not installed";
  }
  /// Runs it, and expects that it says nothing of transparency.
  void keep(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "run");
    arguments.emplace_back("-y");
    const ProgramResult result = run(arguments);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, Not(HasSubstr("transparency"))) << arguments[1];
  }
  /// A clip whose transparency moves, and is whole for a while; arguments as ffmpeg takes them.
  void make(const std::string& name, const std::string& arguments, int frames = 5,
            const std::string& size = "66x44") {
    ffmpeg("-f lavfi -i \"testsrc2=s=" + size +
           ":r=25,format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':"
           "a='if(mod(floor(N/50),2),255,mod(X*4+Y*3+N*5,256))'\" -frames:v " +
           std::to_string(frames) + " " + arguments + " '" + folder_ / name + "'");
  }
  /// The sums of all pictures that a filter of ffmpeg's makes of a file's.
  [[nodiscard]] std::string sums(const std::string& name, const std::string& filter,
                                 const std::string& decoder = "") const {
    return shell("ffmpeg -v error " + decoder + " -i '" + folder_ / name + "' -vf " + filter +
                 " -f framemd5 - | sed -n 's/^0,.*, *//p'");
  }
  [[nodiscard]] std::string alpha(const std::string& name, const std::string& decoder = "") const {
    return sums(name, "alphaextract", decoder);
  }
  /// The least PSNR of any picture's transparency, in dB; `with` is a decoder for the first file.
  [[nodiscard]] double worst_psnr(const std::string& name, const std::string& other,
                                  const std::string& with = "",
                                  const std::string& depth = "gray") const {
    const std::string text = shell("ffmpeg " + with + " -i '" + folder_ / name + "' -i '" +
                                   folder_ / other + "' -lavfi '[0:v]alphaextract,format=" + depth +
                                   "[a];[1:v]alphaextract,format=" + depth +
                                   "[b];[a][b]psnr' -f null - 2>&1 | grep -o 'min:[^ ]*'");
    return text.starts_with("min:inf") ? 999 : std::stod(text.substr(4));
  }
  [[nodiscard]] nlohmann::json stream(const std::string& name) const {
    return ffprobe("-select_streams v -show_streams", folder_ / name)["streams"][0];
  }
};

constexpr const char* kVp9 = "-c:v libvpx-vp9";  // libavcodec's own decoder passes over it

TEST_F(TransparentFiles, Ffv1KeepsItByteForByteAndTheColoursOfAnOpaqueClip) {
  for (const std::string layout : {"420p", "420p10le", "422p10le", "444p10le"}) {
    for (const std::string size : {"67x45", "1x9"}) {
      if (wants_few_counts() && layout != "420p" && size == "1x9") continue;
      SCOPED_TRACE(layout + " " + size);
      make("in.mkv", "-c:v ffv1 -pix_fmt yuva" + layout, 5, size);
      ffmpeg("-i '" + folder_ / "in.mkv" + "' -c:v ffv1 -pix_fmt yuv" + layout + " '" +
             folder_ / "opaque.mkv" + "'");
      keep({"in.mkv", "--encoder", "ffv1", "-o", "out.mkv"});
      keep({"opaque.mkv", "--encoder", "ffv1", "-o", "out-opaque.mkv"});
      EXPECT_EQ(stream("out.mkv")["pix_fmt"], "yuva" + layout);
      EXPECT_EQ(alpha("out.mkv"), alpha("in.mkv"));
      const std::string colours = "format=yuv" + layout;
      EXPECT_EQ(sums("out.mkv", colours), sums("out-opaque.mkv", colours));
      if (size == "67x45") {
        EXPECT_NE(sums("out.mkv", colours), sums("in.mkv", colours)) << "nothing was filtered";
      }
    }
  }
}

TEST_F(TransparentFiles, HashesHaveItAsFfmpegDoes) {
  make("in.mkv", "-c:v ffv1 -pix_fmt yuva420p");
  keep({"in.mkv", "--encoder", "ffv1", "-o", "out.mkv", "--verify=out.md5"});
  EXPECT_EQ(shell("sed -n 's/^0,.*, *//p' '" + folder_ / "out.md5" + "'"), sums("out.mkv", "null"));
}

TEST_F(TransparentFiles, ProresKeepsItIntoFfv1) {
  make("in.mov", "-c:v prores_ks -profile:v 4444 -pix_fmt yuva444p10le");
  keep({"in.mov", "--encoder", "ffv1", "-o", "out.mkv"});
  EXPECT_EQ(stream("out.mkv")["pix_fmt"], "yuva444p10le");
  // ffmpeg decodes 12 bits, GStreamer 10: the same transparency, rounded.
  EXPECT_GT(worst_psnr("out.mkv", "in.mov", "", "gray10le"), 55);
}

/// Transparency has as many packets as the colours, and key frames at the same ones: several of
/// them, in a clip whose colours and transparency change at other times.
TEST_F(TransparentFiles, WebmKeepsItBesideItsPackets) {
  make("in.mkv", "-c:v ffv1 -pix_fmt yuva420p", 300, "65x47");
  keep({"in.mkv", "-o", "out.webm"});
  EXPECT_EQ(stream("out.webm")["tags"]["alpha_mode"], "1");
  const nlohmann::json packets =
      ffprobe("-select_streams v -show_packets", folder_ / "out.webm")["packets"];
  ASSERT_EQ(packets.size(), 300U);
  std::vector<std::size_t> keyframes;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    EXPECT_EQ(packets[i]["side_data_list"][0]["side_data_type"], "Matroska BlockAdditional") << i;
    if (packets[i]["flags"].get<std::string>()[0] == 'K') keyframes.push_back(i);
  }
  ASSERT_GE(keyframes.size(), 2U);
  EXPECT_GT(worst_psnr("out.webm", "in.mkv", kVp9), 40);
  // What decodes from a keyframe on is what decodes from the first picture on.
  const double second = static_cast<double>(keyframes[1]) / 25;
  const auto from = [&](const std::string& before, const std::string& behind) {
    return shell(std::string("ffmpeg -v error ") + before + " " + kVp9 + " -i '" +
                 folder_ / "out.webm" + "' " + behind + " -vf alphaextract -frames:v 5 -f md5 -");
  };
  const std::string seek = "-ss " + std::to_string(second);
  EXPECT_EQ(from(seek, ""), from("", seek));
}

TEST_F(TransparentFiles, WebmWithoutLossGoesThereAndBack) {
  for (const std::string size : {"67x45", "3x1"}) {
    make("in.mkv", "-c:v ffv1 -pix_fmt yuva420p", 5, size);
    keep({"in.mkv", "-o", "out.webm", "--lossless"});
    EXPECT_EQ(alpha("out.webm", kVp9), alpha("in.mkv"));
    keep({"in.mkv", "--encoder", "ffv1", "-o", "out.mkv"});
    EXPECT_EQ(sums("out.webm", "format=yuv420p"), sums("out.mkv", "format=yuv420p"));
    keep({"out.webm", "--encoder", "ffv1", "-o", "back.mkv"});
    EXPECT_EQ(alpha("back.mkv"), alpha("in.mkv"));
    keep({"in.mkv", "--encoder", "vp9", "-o", "vp9.mkv", "--lossless"});
    EXPECT_EQ(alpha("vp9.mkv", kVp9), alpha("in.mkv"));
  }
}

TEST_F(TransparentFiles, WebmOfOthersIsRead) {
  make("vp9.webm", "-c:v libvpx-vp9 -pix_fmt yuva420p");
  make("full.webm", "-c:v libvpx-vp9 -pix_fmt yuva420p -color_range pc");
  make("vp8.webm", "-c:v libvpx -pix_fmt yuva420p -auto-alt-ref 0");
  for (const char* input : {"vp9.webm", "full.webm", "vp8.webm"}) {
    keep({input, "--encoder", "ffv1", "-o", "out.mkv"});
    EXPECT_EQ(alpha("out.mkv"),
              alpha(input, std::string_view(input) == "vp8.webm" ? "-c:v libvpx" : kVp9))
        << input;
    keep({input, "-o", "out.webm", "--lossless"});
    EXPECT_EQ(alpha("out.webm", kVp9), alpha("out.mkv")) << input;
  }
}

/// The file says that it is transparent, and holds nothing of it.
TEST_F(TransparentFiles, WhatCannotBeDecodedIsNamedOnce) {
  make("opaque.webm", "-c:v libvpx-vp9 -pix_fmt yuv420p");
  ffmpeg("-i '" + folder_ / "opaque.webm" + "' -c copy -metadata:s:v alpha_mode=1 '" +
         folder_ / "in.webm" + "'");
  const ProgramResult result = run({"run", "in.webm", "--encoder", "ffv1", "-o", "out.mkv"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("in.webm: its transparency is lost, it cannot be decoded"));
  EXPECT_EQ(stream("out.mkv")["pix_fmt"], "yuv420p");
  EXPECT_EQ(decoded_frames(folder_ / "out.mkv"), 5);
}

/// Lines of a run that speak of transparency.
std::vector<std::string> lines_of_loss(const ProgramResult& result) {
  std::vector<std::string> lines;
  for (const std::string& line : lines_of(result.err))
    if (line.find("transparency") != std::string::npos) lines.push_back(line);
  return lines;
}

TEST_F(TransparentFiles, LossIsOneLineThatNamesWhatKeepsIt) {
  make("vp9.webm", "-c:v libvpx-vp9 -pix_fmt yuva420p");
  make("yuva.mkv", "-c:v ffv1 -pix_fmt yuva420p");
  make("bgra.mkv", "-c:v ffv1 -pix_fmt bgra");
  make("ten.mkv", "-c:v ffv1 -pix_fmt yuva422p10le");
  const std::string start = ": its transparency is lost, ";
  const std::string both = "; --encoder ffv1 in .mkv does, and .webm";
  const std::string ffv1 = "; --encoder ffv1 in .mkv does";
  const auto expect = [&](const std::string& input, std::vector<std::string> options,
                          const std::string& why) {
    options.insert(options.begin(), {"run", input});
    options.emplace_back("-y");
    const ProgramResult result = run(options);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(lines_of_loss(result), ElementsAre("equalux: " + input + start + why));
  };
  for (const char* input : {"vp9.webm", "yuva.mkv", "bgra.mkv"}) {
    expect(input, {"-o", "out.mkv"}, "x264 does not keep it" + both);
    EXPECT_FALSE(stream("out.mkv")["tags"].contains("alpha_mode"));
    expect(input, {"--encoder", "vp9", "-o", "out.mp4"},
           "vp9 does not keep it in this container" + both);
  }
  expect("ten.mkv", {"-o", "out.webm"}, "vp9 does not keep it" + ffv1);
  expect("ten.mkv", {"--encoder", "x265", "-o", "out.mkv"}, "x265 does not keep it" + ffv1);
  expect("yuva.mkv", {"-o", "out.y4m"}, "the output holds opaque pictures alone");
  expect("yuva.mkv", {"--filter", "vessel", "--encoder", "ffv1", "-o", "out.mkv"},
         "the filters make gray8 pictures of it");
  expect("bgra.mkv", {"-o", "out%02d.jpg"}, ".jpg holds none; .png does");
  expect("yuva.mkv", {"-o", "out%02d.ppm"}, ".ppm holds none; .png does");
}

TEST_F(TransparentFiles, NothingIsSaidOfARunThatCannotStart) {
  make("in.mkv", "-c:v ffv1 -pix_fmt yuva422p10le");
  const ProgramResult result = run({"run", "in.mkv", "-o", "out%02d.jpg"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(lines_of_loss(result), IsEmpty());
}

TEST_F(TransparentFiles, StillsKeepIt) {
  for (const std::string layout : {"yuva420p", "yuva444p10le", "bgra"}) {
    make("in.mkv", "-c:v ffv1 -pix_fmt " + layout);
    for (const std::string extension : {"png", "tif"}) {
      const std::string stills = "out%02d." + extension;
      keep({"in.mkv", "-o", stills});
      if (layout == "yuva444p10le") {  // ffmpeg makes 16 bits of 10 by other rounding
        EXPECT_GT(worst_psnr(stills, "in.mkv", "", "gray16le"), 60) << extension;
      } else {
        EXPECT_EQ(alpha(stills), alpha("in.mkv")) << layout << extension;
      }
    }
  }
}

TEST_F(TransparentFiles, StillsBecomeTransparentWebm) {
  make("in%02d.png", "-pix_fmt rgba");
  keep({"in%02d.png", "--fps", "25", "-o", "out.webm", "--quality", "0"});
  EXPECT_GT(worst_psnr("out.webm", "in%02d.png", kVp9), 45);
  keep({"out.webm", "--encoder", "ffv1", "-o", "back.mkv"});
  EXPECT_EQ(alpha("back.mkv"), alpha("out.webm", kVp9));
}

TEST_F(TransparentFiles, FiltersOfRgbTakeItAsAFourthSample) {
  make("in.mkv", "-c:v ffv1 -pix_fmt yuva420p");
  keep({"in.mkv", "--chain", "staged", "--encoder", "ffv1", "-o", "out.mkv"});
  EXPECT_EQ(stream("out.mkv")["pix_fmt"], "bgra");
  EXPECT_EQ(alpha("out.mkv"), alpha("in.mkv"));
}

TEST_F(TransparentFiles, LaunchStringsGetIt) {
  make("in.mkv", "-c:v ffv1 -pix_fmt yuva420p");
  keep({"in.mkv", "-o",
        "gst:video/x-raw,format=A420 ! avenc_ffv1 ! matroskamux ! filesink location=" +
            folder_ / "out.mkv"});
  EXPECT_EQ(alpha("out.mkv"), alpha("in.mkv"));
}

TEST_F(TransparentFiles, APartHasIts) {
  make("in.mkv", "-c:v ffv1 -pix_fmt yuva420p", 10);
  keep({"in.mkv", "--from", "0.2", "--encoder", "ffv1", "-o", "out.mkv"});
  EXPECT_EQ(alpha("out.mkv"), sums("in.mkv", "trim=start=0.2,alphaextract"));
}

TEST_F(TransparentFiles, BatchKeepsIt) {
  std::filesystem::create_directory(folder_.path() / "in");
  make("in/a.webm", "-c:v libvpx-vp9 -pix_fmt yuva420p");
  const std::vector<std::string> arguments{"batch",       "in",   "--out",     "out",
                                           "--extension", "webm", "--lossless"};
  const ProgramResult result = run(arguments);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(lines_of_loss(result), IsEmpty());
  EXPECT_EQ(alpha("out/a.webm", kVp9), alpha("in/a.webm", kVp9));
  const ProgramResult again = run(arguments);
  EXPECT_THAT(again.err + again.out, HasSubstr("skipped"));
}

}  // namespace
}  // namespace equalux::test
