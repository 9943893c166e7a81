#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "pipelines/core/frame_pool.h"
#include "pipelines/gstreamer/launch.h"
#include "pipelines/v4l2/v4l2_output.h"
#include "src/common/log.h"
#include "tests/support/pipeline_fakes.h"
#include "tests/support/temp_folder.h"

namespace equalux {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

bool accepts_all(PixelFormat format) {
  return traits(format).model != ColorModel::real;
}

struct Outcome {
  StreamInfo info;
  std::uint64_t frames = 0;
  std::int64_t last_pts_ns = 0;
  ExitCode code = ExitCode::done;
  std::string text;
  double seconds = 0;
};

/// Runs a source to its end, into a sink where there is one.
Outcome run(const std::string& launch, Sink* sink = nullptr,
            const FormatPredicate& accepts = accepts_all) {
  Outcome outcome;
  const auto start = Clock::now();
  try {
    const auto source = make_launch_source(launch);
    outcome.info = source->open(accepts);
    if (sink != nullptr) sink->open(outcome.info);
    FramePool pool(outcome.info.desc, 4, source->lends_buffers());
    for (FramePtr frame = pool.acquire(); source->read(*frame); frame = pool.acquire()) {
      outcome.last_pts_ns = frame->pts_ns;
      ++outcome.frames;
      if (sink != nullptr) sink->write(*frame);
    }
    if (sink != nullptr) sink->finish(Ending::complete);
  } catch (const Error& error) {
    outcome.code = error.code();
    outcome.text = error.what();
    if (sink != nullptr) sink->finish(Ending::failed);
  }
  outcome.seconds = milliseconds(Clock::now() - start) / 1000;
  return outcome;
}

TEST(LaunchSourceTest, GivesEveryFrameWithItsTime) {
  const Outcome outcome = run(
      "videotestsrc num-buffers=90 ! video/x-raw,format=NV12,width=321,height=241,framerate=30/1");
  EXPECT_EQ(outcome.code, ExitCode::done) << outcome.text;
  EXPECT_EQ(outcome.frames, 90U);
  EXPECT_NEAR(static_cast<double>(outcome.last_pts_ns), 89e9 / 30, 1e3);
  EXPECT_EQ(to_string(outcome.info.desc.format), "nv12");
  EXPECT_EQ(outcome.info.desc.width, 321);
  EXPECT_FALSE(outcome.info.live);
}

TEST(LaunchSourceTest, SaysOnceThatTheColorimetryChanges) {
  const auto part = [](const char* colorimetry) {
    return std::string("videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=64,height=48,") +
           "colorimetry=" + colorimetry + " ! c. ";
  };
  std::string log;
  logger().send_to([&log](LogLevel, std::string_view line) { log += std::string(line) + "\n"; });
  const Outcome outcome = run(part("bt601") + part("bt709") + part("bt601") + "concat name=c");
  logger().send_to(nullptr);
  EXPECT_EQ(outcome.code, ExitCode::done) << outcome.text;
  EXPECT_EQ(outcome.frames, 9U);
  EXPECT_EQ(to_string(outcome.info.desc.matrix), "bt601");
  EXPECT_THAT(log, HasSubstr("from picture 3 on the colorimetry is bt709, before it bt601; all are "
                             "read as bt601, limited range"));
  EXPECT_EQ(log.find("from picture"), log.rfind("from picture")) << "said again: " << log;
}

TEST(LaunchSourceTest, ALivePipelineIsLive) {
  const Outcome outcome =
      run("videotestsrc is-live=true num-buffers=10 ! video/x-raw,framerate=50/1");
  EXPECT_EQ(outcome.code, ExitCode::done) << outcome.text;
  EXPECT_TRUE(outcome.info.live);
  EXPECT_GT(outcome.frames, 0U);
}

TEST(LaunchSourceTest, DeepPicturesStayDeepWhereTheyAreTaken) {
  for (const char* format : {"I422_10LE", "P010_10LE", "Y444_16LE", "GRAY16_LE", "RGBA64_LE"}) {
    const std::string launch =
        std::string("videotestsrc num-buffers=3 ! video/x-raw,format=") + format;
    const Outcome outcome = run(launch);
    EXPECT_EQ(outcome.code, ExitCode::done) << outcome.text;
    EXPECT_EQ(outcome.frames, 3U);
    EXPECT_EQ(pixel_format_from(format), outcome.info.desc.format) << format;
    const Outcome eight = run(launch, nullptr, has_byte_samples);
    EXPECT_EQ(eight.code, ExitCode::done) << eight.text;
    EXPECT_TRUE(has_byte_samples(eight.info.desc.format)) << format;
  }
}

/// A source that has the choice gives what it gave before there were more than 8 bits.
TEST(LaunchSourceTest, EightBitsAreTakenWhereThereIsAChoice) {
  const Outcome outcome = run("videotestsrc num-buffers=3");
  EXPECT_EQ(outcome.code, ExitCode::done) << outcome.text;
  EXPECT_TRUE(has_byte_samples(outcome.info.desc.format)) << to_string(outcome.info.desc.format);
}

TEST(LaunchSourceTest, MistakesAreOneLineAndSoon) {
  const std::pair<const char*, ExitCode> cases[] = {
      {"", ExitCode::usage},
      {"videotestsrc !!", ExitCode::usage},
      {"videotestsrc ! nosuchelement", ExitCode::usage},
      {"videotestsrc nosuchproperty=1", ExitCode::usage},
      {"videotestsrc ! fakesink", ExitCode::usage},
      {"audiotestsrc num-buffers=2", ExitCode::usage},
      {"filesrc location=/nonexistent ! decodebin", ExitCode::no_input},
      {"v4l2src device=/dev/video77", ExitCode::no_input},
      {"videotestsrc num-buffers=0", ExitCode::bad_input},
      {"appsrc", ExitCode::bad_input},
  };
  for (const auto& [launch, code] : cases) {
    const Outcome outcome = run(launch);
    EXPECT_EQ(outcome.code, code) << launch << ": " << outcome.text;
    EXPECT_EQ(outcome.text.find('\n'), std::string::npos) << launch;
    EXPECT_LT(outcome.seconds, 5.0) << launch;
  }
}

TEST(LaunchSourceTest, EmptyAndShortPicturesAreAnError) {
  const std::string caps = " ! video/x-raw,format=I420,width=64,height=48,framerate=25/1";
  for (const char* size : {"sizetype=empty", "sizetype=fixed sizemax=100"}) {
    const Outcome outcome = run("fakesrc num-buffers=3 " + std::string(size) + caps);
    EXPECT_EQ(outcome.code, ExitCode::bad_input) << size;
    EXPECT_THAT(outcome.text, ::testing::HasSubstr("a decoded picture cannot be read")) << size;
  }
}

TEST(LaunchSourceTest, CancelWakesAWaitingRead) {
  const auto source =
      make_launch_source("videotestsrc is-live=true ! video/x-raw,framerate=1/5,format=I420");
  FramePool pool(source->open(accepts_all).desc, 2, true);
  FramePtr frame = pool.acquire();
  ASSERT_TRUE(source->read(*frame));
  frame.reset();
  frame = pool.acquire();
  test::WaitingThread reading([&] { EXPECT_FALSE(source->read(*frame)); });
  reading.await_sleep();
  EXPECT_FALSE(reading.over());
  const auto start = Clock::now();
  source->cancel();
  reading.join();
  EXPECT_LT(milliseconds(Clock::now() - start), 2000);
}

TEST(LaunchSourceTest, ACancelBeforeItIsOpenEndsTheOpening) {
  const auto source = make_launch_source("videotestsrc is-live=true ! valve drop=true");
  source->cancel();
  const auto start = Clock::now();
  EXPECT_THROW((void)source->open(accepts_all), Error);
  EXPECT_LT(milliseconds(Clock::now() - start), 8000);
}

constexpr const char* kFrames = "videotestsrc num-buffers=20 ! video/x-raw,format=I420";

TEST(LaunchSinkTest, TakesEveryFrame) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("equalux_launch_" + std::to_string(::getpid()) + ".raw");
  const auto sink = make_launch_sink("filesink location=" + path.string());
  const Outcome outcome = run(kFrames, sink.get());
  EXPECT_EQ(outcome.code, ExitCode::done) << outcome.text;
  EXPECT_EQ(std::filesystem::file_size(path), 20U * 320 * 240 * 3 / 2);
  std::filesystem::remove(path);
}

/// identity sleeps where nothing can wake it, so it is left behind too.
TEST(LaunchSinkTest, OneThatStallsDoesNotHoldAStopUp) {
  for (const auto& [frames, text] :
       {std::pair("200", "takes no more frames"), {"1", "does not end"}}) {
    const auto sink = make_launch_sink("identity sleep-time=30000000 ! fakesink");
    sink->cancel();
    const Outcome outcome = run("videotestsrc num-buffers=" + std::string(frames) +
                                    " ! video/x-raw,format=I420,width=64,height=48",
                                sink.get());
    EXPECT_EQ(outcome.code, ExitCode::write_failed);
    EXPECT_THAT(outcome.text, HasSubstr(text));
    EXPECT_LT(outcome.seconds, 5) << text;
  }
}

TEST(LaunchSinkTest, MistakesAreOneLine) {
  const std::pair<const char*, ExitCode> cases[] = {
      {"", ExitCode::usage},
      {"nosuchelement", ExitCode::usage},
      {"! fakesink", ExitCode::usage},
      {"videoconvert", ExitCode::usage},
      {"filesink location=/nonexistent/out.raw", ExitCode::cannot_create},
      {"filesink location=/dev/full", ExitCode::write_failed},
  };
  for (const auto& [launch, code] : cases) {
    const auto sink = make_launch_sink(launch);
    const Outcome outcome = run(kFrames, sink.get());
    EXPECT_EQ(outcome.code, code) << launch << ": " << outcome.text;
    EXPECT_EQ(outcome.text.find('\n'), std::string::npos) << launch;
    EXPECT_LT(outcome.seconds, 5.0) << launch;
  }
}

TEST(LaunchSinkTest, FramesAreMadeTheDevices) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("equalux_v4l2_" + std::to_string(::getpid()) + ".raw");
  std::string launch = v4l2_launch("", {0, "YUY2", 200, 240});
  launch.replace(launch.find("v4l2sink"), std::string::npos, "filesink location=" + path.string());
  const auto sink = make_launch_sink(launch);
  const Outcome outcome = run(kFrames, sink.get());
  EXPECT_EQ(outcome.code, ExitCode::done) << outcome.text;
  ASSERT_EQ(std::filesystem::file_size(path), 20U * 200 * 240 * 2);
  const std::string frame = test::read_file(path);
  // 320x240 within 200x240 leaves 45 black rows above and below.
  const auto luma = [&](int x, int y) {
    return static_cast<unsigned char>(frame[static_cast<std::size_t>(y * 200 + x) * 2]);
  };
  EXPECT_EQ(luma(2, 20), 16);
  EXPECT_GT(luma(2, 120), 100);  // The test picture begins with white.
  EXPECT_EQ(luma(2, 220), 16);
  std::filesystem::remove(path);
}

TEST(LaunchSinkTest, V4l2WantsAnOutputDevice) {
  const auto missing = make_v4l2_sink("/dev/video77");
  Outcome outcome = run(kFrames, missing.get());
  EXPECT_EQ(outcome.code, ExitCode::no_input);
  EXPECT_THAT(outcome.text, HasSubstr("v4l2loopback"));
  const auto wrong = make_v4l2_sink("/dev/null");
  outcome = run(kFrames, wrong.get());
  EXPECT_EQ(outcome.code, ExitCode::cannot_create);
}

}  // namespace
}  // namespace equalux
