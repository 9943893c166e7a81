#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gstreamer/file_sink.h"
#include "gstreamer/file_source.h"
#include "support/video_files.h"

namespace equalux {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A way of writing: the encoder, the file, and the input's layout.
struct Case {
  const char* name;
  const char* encoder;
  bool lossless;
  const char* output;
  const char* pixels = "yuv420p";
};

class FileSinkTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!test::have_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not installed";
  }
  /// A second of moving pictures at an uneven rate that starts late.
  std::string make(const std::string& name, const std::string& pixels,
                   const std::string& size = "322x242") {
    test::ffmpeg("-f lavfi -i testsrc2=s=" + size + ":r=25:d=1.6 -vf scale=" + size +
                 ",format=" + pixels +
                 ",select='not(mod(n\\,3))+eq(mod(n\\,7)\\,0)' -fps_mode vfr "
                 "-output_ts_offset 0.48 -c:v ffv1 -pix_fmt " +
                 pixels + " '" + folder_ / name + "'");
    return folder_ / name;
  }
  FileSinkOptions options(const std::string& name) const {
    FileSinkOptions result;
    result.path = folder_ / name;
    return result;
  }
  test::TempFolder folder_;
};

TEST_P(FileSinkTest, KeepsEveryFrameAndItsTime) {
  const Case& now = GetParam();
  const std::string input = make("in.mkv", now.pixels);
  FileSinkOptions settings = options(now.output);
  settings.encoder = now.encoder;
  settings.lossless = now.lossless;
  const auto source = make_file_source(input);
  const auto sink = make_file_sink(settings);
  const std::uint64_t frames = test::copy_frames(*source, *sink);
  sink->finish(Ending::complete);

  const auto before = test::ffprobe_times(input);
  const auto after = test::ffprobe_times(settings.path);
  ASSERT_EQ(frames, before.size());
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(after[i]), static_cast<double>(before[i]), 1e6) << i;
  }
  if (now.lossless) {
    EXPECT_TRUE(test::ffmpeg_bytes(folder_, input, now.pixels) ==
                test::ffmpeg_bytes(folder_, settings.path, now.pixels));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out.partial.mkv"));
}

INSTANTIATE_TEST_SUITE_P(
    , FileSinkTest,
    testing::Values(
        Case{"x264_mp4", "x264", false, "out.mp4"}, Case{"x264_mkv", "x264", false, "out.mkv"},
        Case{"x264_mov", "x264", false, "out.mov"}, Case{"x264_lossless", "x264", true, "out.mp4"},
        Case{"x264_lossless_422", "x264", true, "out.mkv", "yuv422p"},
        Case{"x264_lossless_444", "x264", true, "out.mkv", "yuv444p"},
        Case{"x265", "x265", false, "out.mp4"}, Case{"x265_lossless", "x265", true, "out.mkv"},
        Case{"vp9", "vp9", false, "out.mp4"}, Case{"vp9_lossless", "vp9", true, "out.mkv"},
        Case{"ffv1", "ffv1", true, "out.mkv"}, Case{"ffv1_gray", "ffv1", true, "out.mkv", "gray"},
        Case{"ffv1_444", "ffv1", true, "out.mkv", "yuv444p"},
        Case{"mjpeg", "mjpeg", false, "out.mkv"}),
    [](const auto& named) { return std::string(named.param.name); });

TEST_F(FileSinkTest, CopiesTheSound) {
  const std::string input = folder_ / "in.mp4";
  test::ffmpeg(
      "-f lavfi -i testsrc2=s=320x240:r=25:d=2 -f lavfi -i sine=d=2 -c:v libx264 "
      "-pix_fmt yuv420p -c:a aac '" +
      input + "'");
  const FileSinkOptions settings = options("out.mkv");
  const auto source = make_file_source(input);
  const auto sink = make_file_sink(settings);
  EXPECT_EQ(test::copy_frames(*source, *sink), 50U);
  sink->finish(Ending::complete);
  const auto hash = [](const std::string& path) {
    return test::shell("ffmpeg -v error -i '" + path + "' -map 0:a -c copy -f md5 -");
  };
  EXPECT_EQ(hash(settings.path), hash(input));
}

TEST_F(FileSinkTest, APartialRunIsPlayable) {
  const std::string input = make("in.mkv", "yuv420p");
  const FileSinkOptions settings = options("out.mp4");
  const auto source = make_file_source(input);
  const auto sink = make_file_sink(settings);
  EXPECT_EQ(test::copy_frames(*source, *sink, 7), 7U);
  sink->finish(Ending::partial);
  EXPECT_EQ(test::decoded_frames(settings.path), 7);
}

TEST_F(FileSinkTest, AFailedRunLeavesNothing) {
  const std::string input = make("in.mkv", "yuv420p");
  const FileSinkOptions settings = options("out.mp4");
  const auto source = make_file_source(input);
  const auto sink = make_file_sink(settings);
  EXPECT_EQ(test::copy_frames(*source, *sink, 12), 12U);
  sink->finish(Ending::failed);
  EXPECT_THAT(folder_.files(), ElementsAre("in.mkv"));
}

TEST_F(FileSinkTest, ASinkThatIsDroppedLeavesNothing) {
  const std::string input = make("in.mkv", "yuv420p");
  const auto source = make_file_source(input);
  auto sink = make_file_sink(options("out.mkv"));
  EXPECT_EQ(test::copy_frames(*source, *sink, 12), 12U);
  sink.reset();
  EXPECT_THAT(folder_.files(), ElementsAre("in.mkv"));
}

TEST_F(FileSinkTest, ImpossibleOutputsAreRefusedAtOpen) {
  StreamInfo info;
  info.desc = {PixelFormat::i420, 320, 240};
  const auto refusal = [&](FileSinkOptions settings) {
    return test::failure_of([&] { make_file_sink(settings)->open(info); });
  };
  EXPECT_EQ(refusal(options("missing/out.mp4")).code, ExitCode::cannot_create);
  EXPECT_EQ(refusal(options("out.xyz")).code, ExitCode::usage);
  FileSinkOptions settings = options("out.mp4");
  settings.encoder = "nosuch";
  EXPECT_EQ(refusal(settings).code, ExitCode::usage);

  info.desc = {PixelFormat::i420, 321, 240};
  const auto odd = refusal(options("out.mp4"));
  EXPECT_EQ(odd.code, ExitCode::usage);
  EXPECT_THAT(odd.text, HasSubstr("ffv1"));
  info.desc = {PixelFormat::y42b, 320, 240};
  settings.encoder = "vp9";
  const auto chroma = refusal(settings);
  EXPECT_EQ(chroma.code, ExitCode::usage);
  EXPECT_THAT(chroma.text, HasSubstr("4:2:2"));
  info.desc = {PixelFormat::bgr, 320, 240};
  settings = options("out.mp4");
  settings.lossless = true;
  EXPECT_EQ(refusal(settings).code, ExitCode::usage);
  info.desc = {PixelFormat::grayf32, 320, 240};
  EXPECT_EQ(refusal(options("out.mp4")).code, ExitCode::usage);
  EXPECT_THAT(folder_.files(), ElementsAre());
}

TEST_F(FileSinkTest, OddSizesAreWrittenByWhoTakesThem) {
  const std::string input = make("in.mkv", "yuv420p", "321x241");
  FileSinkOptions settings = options("out.mp4");
  settings.encoder = "vp9";
  settings.lossless = true;
  const auto source = make_file_source(input);
  const auto sink = make_file_sink(settings);
  test::copy_frames(*source, *sink);
  sink->finish(Ending::complete);
  EXPECT_TRUE(test::ffmpeg_bytes(folder_, input, "yuv420p") ==
              test::ffmpeg_bytes(folder_, settings.path, "yuv420p"));
}

TEST_F(FileSinkTest, NothingIsWrittenWithoutFrames) {
  StreamInfo info;
  info.desc = {PixelFormat::i420, 320, 240};
  const auto sink = make_file_sink(options("out.mp4"));
  sink->open(info);
  sink->finish(Ending::partial);
  EXPECT_THAT(folder_.files(), ElementsAre());
}

}  // namespace
}  // namespace equalux
