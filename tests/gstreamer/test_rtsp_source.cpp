#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/core/frame_pool.h"
#include "pipelines/core/sound.h"
#include "pipelines/gstreamer/gst_common.h"
#include "pipelines/gstreamer/launch.h"
#include "pipelines/live/reconnecting_source.h"
#include "tests/gstreamer/rtsp_camera.h"
#include "tests/support/pipeline_fakes.h"

/// Cameras that speak RTSP: late ones, silent ones, lossy ones, and those that go away.
namespace equalux::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

bool accepts_420(PixelFormat format) {
  return format == PixelFormat::i420 || format == PixelFormat::nv12;
}

/// A source with memory for its frames.
class Reader {
 public:
  explicit Reader(std::unique_ptr<Source> source)
      : source_(std::move(source)),
        info_(source_->open(accepts_420)),
        pool_(info_.desc, 4, source_->lends_buffers()) {}

  [[nodiscard]] const StreamInfo& info() const { return info_; }
  /// The next frame; null at the end.
  FramePtr next() {
    FramePtr frame = pool_.acquire();
    return source_->read(*frame) ? std::move(frame) : nullptr;
  }
  /// Reads frames of the camera, passing over placeholders; false where the stream ended.
  bool pictures(int count) {
    while (count > 0) {
      const FramePtr frame = next();
      if (!frame) return false;
      if (frame->placeholder) continue;
      --count;
      pts_ns = frame->pts_ns;
      reconnects = frame->timings.reconnects;
    }
    return true;
  }

  /// Reads up to a placeholder; false where the stream ended.
  bool loss() {
    for (;;) {
      const FramePtr frame = next();
      if (!frame) return false;
      if (frame->placeholder) return true;
    }
  }

  std::uint64_t reconnects = 0;
  std::int64_t pts_ns = 0;  ///< of the last picture

 private:
  std::unique_ptr<Source> source_;
  StreamInfo info_;
  FramePool pool_;
};

std::unique_ptr<Source> reconnecting(const std::string& url, std::chrono::milliseconds stall) {
  ReconnectOptions options;
  options.first_wait = 50ms;
  options.longest_wait = 200ms;
  return make_reconnecting_source(
      [=] { return make_network_source(url, NetworkSound::left, stall); }, options);
}

class RtspSource : public ::testing::Test {
 protected:
  void SetUp() override {
    gst::start_up();
    for (const char* element : {"rtspsrc", "x264enc", "rtph264pay", "avdec_h264"}) {
      if (!gst::has_element(element)) GTEST_SKIP() << "GStreamer has no " << element;
    }
  }
  Watchdog watchdog_;
};

TEST_F(RtspSource, ACameraThatTakesItsTimeIsWaitedFor) {
  const RtspCamera camera({.late = 1500ms});
  Reader reader(make_network_source(camera.url()));
  EXPECT_TRUE(reader.info().live);
  EXPECT_EQ(reader.info().desc.width, 96);
  EXPECT_TRUE(reader.pictures(5));
}

TEST_F(RtspSource, NobodyThereIsAnErrorAtOnce) {
  const std::string url = [] { return RtspCamera({}).url(); }();
  const auto source = make_network_source(url);
  const auto [code, text] = error_of([&] { (void)source->open(accepts_420); });
  EXPECT_EQ(code, ExitCode::no_input);
  EXPECT_THAT(text, HasSubstr(url + ": gives no stream"));
}

TEST_F(RtspSource, AnAddressThatIsNotThereIsAnError) {
  const RtspCamera camera({});
  const auto source = make_network_source(camera.url() + "era");
  const auto [code, text] = error_of([&] { (void)source->open(accepts_420); });
  EXPECT_EQ(code, ExitCode::no_input);
  EXPECT_THAT(text, HasSubstr(camera.url() + "era: gives no stream"));
}

TEST_F(RtspSource, SilenceIsAStallAndTheCameraComesBack) {
  RtspCamera camera({});
  Reader reader(reconnecting(camera.url(), 400ms));
  ASSERT_TRUE(reader.pictures(3));
  camera.set_silent(true);
  ASSERT_TRUE(reader.loss());
  camera.set_silent(false);
  ASSERT_TRUE(reader.pictures(5));
}

TEST_F(RtspSource, ACameraThatGoesAwayComesBack) {
  auto camera = std::make_unique<RtspCamera>(RtspCamera::Options{});
  const int port = camera->port();
  Reader reader(reconnecting(camera->url(), 1000ms));
  ASSERT_TRUE(reader.pictures(3));
  camera.reset();
  ASSERT_TRUE(reader.loss());
  camera = std::make_unique<RtspCamera>(RtspCamera::Options{.port = port});
  ASSERT_TRUE(reader.pictures(5));
  EXPECT_GE(reader.reconnects, 1U);
}

TEST_F(RtspSource, SoundComesOnTheClockOfTheFrames) {
  auto camera = std::make_unique<RtspCamera>(RtspCamera::Options{.sound = true});
  const int port = camera->port();
  ReconnectOptions options;
  options.first_wait = 50ms;
  Reader reader(make_reconnecting_source(
      [url = camera->url()] { return make_network_source(url, NetworkSound::taken, 1000ms); },
      options));
  const std::shared_ptr<SoundFeed> sound = reader.info().sound;
  ASSERT_NE(sound, nullptr);
  for (const bool again : {false, true}) {
    if (again) {
      camera.reset();
      ASSERT_TRUE(reader.loss());
      while (sound->pull()) {
      }
      camera = std::make_unique<RtspCamera>(RtspCamera::Options{.port = port, .sound = true});
    }
    std::int64_t samples = 0;
    std::optional<SoundChunk> last;
    for (int i = 0; i < 60 && samples < kSoundRate; ++i) {
      ASSERT_TRUE(reader.pictures(1));
      while (std::optional<SoundChunk> chunk = sound->pull()) {
        samples += static_cast<std::int64_t>(chunk->samples.size()) / kSoundChannels;
        last = std::move(chunk);
      }
    }
    ASSERT_TRUE(last) << again;
    // A second of sound, and its end is as new as the frame is.
    EXPECT_GT(samples, kSoundRate / 2) << again;
    EXPECT_NEAR(static_cast<double>(last->pts_ns), static_cast<double>(reader.pts_ns), 6e8)
        << again;
    const auto [least, most] = std::minmax_element(last->samples.begin(), last->samples.end());
    EXPECT_GT(*most - *least, 10'000);
  }
}

TEST_F(RtspSource, ACameraWithoutSoundHasNone) {
  const RtspCamera camera({});
  Reader reader(make_network_source(camera.url(), NetworkSound::taken));
  EXPECT_EQ(reader.info().sound, nullptr);
  EXPECT_TRUE(reader.pictures(3));
}

TEST_F(RtspSource, TcpLosesNothing) {
  const RtspCamera camera({});
  Reader reader(make_network_source("rtspt" + camera.url().substr(4)));
  ASSERT_TRUE(reader.pictures(20));
}

TEST_F(RtspSource, LostPacketsDoNotEndTheStream) {
  const RtspCamera camera({.loses = 7});
  Reader reader(make_network_source(camera.url()));
  ASSERT_TRUE(reader.pictures(40));
  EXPECT_GT(camera.lost(), 3);
}

TEST_F(RtspSource, NewParameterSetsOfTheSameSizeGoOn) {
  RtspCamera camera({});
  Reader reader(make_network_source(camera.url()));
  ASSERT_TRUE(reader.pictures(5));
  camera.change(96, 64, 10);
  ASSERT_TRUE(reader.pictures(15));
}

TEST_F(RtspSource, AnotherSizeEndsTheRunWithAReason) {
  RtspCamera camera({});
  Reader reader(reconnecting(camera.url(), 1000ms));
  ASSERT_TRUE(reader.pictures(5));
  camera.change(128, 80, 25);
  const auto [code, text] = error_of([&] { (void)reader.pictures(1000); });
  EXPECT_EQ(code, ExitCode::bad_input);
  EXPECT_THAT(text, HasSubstr("came back with frames of 128x80"));
}

}  // namespace
}  // namespace equalux::test
