// Which encoder a file gets where nobody names one and a GPU filters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/gstreamer/decode/file_source.h"
#include "pipelines/gstreamer/encode/encoders.h"
#include "pipelines/gstreamer/encode/file_sink.h"
#include "pipelines/gstreamer/launch.h"
#include "tests/gstreamer/fake_gpu_encoder.h"
#include "tests/gstreamer/video_files.h"

namespace equalux {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GpuEncoderTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::have_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not installed";
    test::register_fake_gpu_encoder();
    test::let_fake_gpu_encoder_fail(false);
    (void)test::fake_gpu_encoders_made();
  }
  /// Writes 12 frames, which must all be there; returns how many encoders the GPU ran.
  int write(FileSinkOptions settings, const std::string& pixels,
            const std::string& size = "322x242") {
    const std::string input = folder_ / "in.mkv";
    test::ffmpeg("-f lavfi -i testsrc2=s=" + size + ":r=25:d=0.48 -c:v ffv1 -pix_fmt " + pixels +
                 " '" + input + "'");
    settings.path = folder_ / "out.mkv";
    const auto source = make_file_source(input);
    const auto sink = make_file_sink(settings);
    EXPECT_EQ(test::copy_frames(*source, *sink), 12U);
    sink->finish(Ending::complete);
    EXPECT_EQ(test::ffprobe_times(settings.path), test::ffprobe_times(input));
    return test::fake_gpu_encoders_made();
  }
  static FileSinkOptions gpu() {
    FileSinkOptions options;
    options.prefers_gpu = true;
    return options;
  }
  test::TempFolder folder_;
};

TEST_F(GpuEncoderTest, TakesWhatItKeepsAsTheDefaultDoes) {
  EXPECT_EQ(write(gpu(), "yuv420p"), 1);
  EXPECT_EQ(write(gpu(), "gray"), 1);
  EXPECT_EQ(write(gpu(), "bgr0"), 1);
  EXPECT_EQ(write({}, "yuv420p"), 0) << "no GPU filters";
}

TEST_F(GpuEncoderTest, LeavesWhatWouldLoseSomethingOrDoesNotFit) {
  for (const char* pixels : {"yuv422p", "yuv444p", "yuv420p10le"}) {
    EXPECT_EQ(write(gpu(), pixels), 0) << pixels;
  }
  EXPECT_EQ(write(gpu(), "yuv420p", "128x128"), 0);
  EXPECT_EQ(write(gpu(), "yuv420p", "802x242"), 0);
}

TEST_F(GpuEncoderTest, StandsBackBehindWhatTheUserSays) {
  FileSinkOptions settings = gpu();
  settings.quality = 30;
  EXPECT_EQ(write(settings, "yuv420p"), 0);
  settings = gpu();
  settings.lossless = true;
  EXPECT_EQ(write(settings, "yuv420p"), 0);
  settings = gpu();
  settings.encoder = "mjpeg";
  EXPECT_EQ(write(settings, "yuv420p"), 0);
  settings = {};
  settings.encoder = "nvh264";
  EXPECT_EQ(write(settings, "yuv420p"), 1);
}

TEST_F(GpuEncoderTest, InterlacedFramesGoToTheDefault) {
  StreamInfo info;
  info.desc = {PixelFormat::nv12, 320, 240};
  info.field_order = FieldOrder::top_first;
  FileSinkOptions settings = gpu();
  settings.path = folder_ / "out.mkv";
  make_file_sink(settings)->open(info);
  EXPECT_EQ(test::fake_gpu_encoders_made(), 0);
}

TEST_F(GpuEncoderTest, OneThatStallsDoesNotHoldAStopUpAndWhatItGaveStays) {
  test::let_fake_gpu_encoder_stall(true, 150);
  FileSinkOptions settings = gpu();
  settings.path = folder_ / "out.mkv";
  const auto sink = make_file_sink(settings);
  sink->cancel();
  const auto source = make_launch_source(
      "videotestsrc num-buffers=400 ! video/x-raw,format=NV12,width=320,height=240,framerate=25/1");
  const auto start = Clock::now();
  const auto failure = test::failure_of([&] { (void)test::copy_frames(*source, *sink); });
  sink->finish(Ending::failed);
  EXPECT_LT(milliseconds(Clock::now() - start), 10'000);
  test::let_fake_gpu_encoder_stall(false);
  EXPECT_EQ(failure.code, ExitCode::write_failed);
  EXPECT_THAT(failure.text, testing::HasSubstr("the encoder has stalled; what it gave is left as " +
                                               (folder_ / "out.partial.mkv")));
  EXPECT_GT(test::decoded_frames(folder_ / "out.partial.mkv"), 10);
  EXPECT_FALSE(std::filesystem::exists(settings.path));
}

TEST_F(GpuEncoderTest, TheDefaultStandsInWhereNoneIsLeft) {
  test::let_fake_gpu_encoder_fail(true);
  testing::internal::CaptureStderr();
  EXPECT_EQ(write(gpu(), "yuv420p"), 1);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("No session is left"));
  EXPECT_THAT(said, HasSubstr("x264 encodes"));

  FileSinkOptions named;
  named.encoder = "nvh264";
  named.path = folder_ / "named.mkv";
  StreamInfo info;
  info.desc = {PixelFormat::nv12, 320, 240};
  const auto refusal = test::failure_of([&] { make_file_sink(named)->open(info); });
  EXPECT_EQ(refusal.code, ExitCode::unavailable);
  EXPECT_THAT(folder_.names(), ElementsAre("in.mkv", "out.mkv"));
}

}  // namespace
}  // namespace equalux
