#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/core/frame_pool.h"
#include "pipelines/gstreamer/gst_common.h"
#include "pipelines/gstreamer/launch.h"
#include "pipelines/live/reconnecting_source.h"
#include "tests/gstreamer/loopback_server.h"
#include "tests/support/pipeline_fakes.h"
#include "tests/support/temp_folder.h"

/// Cameras that speak HTTP: one that cuts the line, and one that falls silent.
namespace equalux::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr int kPicturesACall = 8;

/// Motion JPEG as cameras send it.
std::string multipart(int calls = 1) {
  const TempFolder folder;
  const auto source =
      make_launch_source("videotestsrc num-buffers=" + std::to_string(kPicturesACall * calls) +
                         " ! video/x-raw,format=I420,width=64,height=48,framerate=25/1");
  const auto sink = make_launch_sink(
      "jpegenc ! multipartmux boundary=picture ! filesink location=" + (folder / "mjpeg"));
  const StreamInfo info =
      source->open([](PixelFormat format) { return format == PixelFormat::i420; });
  sink->open(info);
  FramePool pool(info.desc, 2, source->lends_buffers());
  for (FramePtr frame = pool.acquire(); source->read(*frame); frame = pool.acquire())
    sink->write(*frame);
  sink->finish(Ending::complete);
  return read_file(folder / "mjpeg");
}

/// Answers every call with the same pictures and then hangs up, or stays on the line.
class HttpCamera {
 public:
  HttpCamera(std::string body, bool hangs_up) : body_(std::move(body)), hangs_up_(hangs_up) {}
  ~HttpCamera() { stop_ = true; }
  HttpCamera(const HttpCamera&) = delete;
  HttpCamera& operator=(const HttpCamera&) = delete;

  [[nodiscard]] std::string url() const {
    return "http://user:secret@127.0.0.1:" + std::to_string(server_.port()) + "/mjpeg";
  }
  std::atomic<int> calls{0};

 private:
  void answer(int call) {
    ++calls;
    const std::string head =
        "HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=picture\r\n\r\n";
    static_cast<void>(::send(call, head.data(), head.size(), MSG_NOSIGNAL));
    static_cast<void>(::send(call, body_.data(), body_.size(), MSG_NOSIGNAL));
    while (!hangs_up_ && !stop_)
      std::this_thread::sleep_for(5ms);
  }

  std::string body_;
  bool hangs_up_;
  std::atomic<bool> stop_{false};
  LoopbackServer server_{[this](int call) { answer(call); }};
};

bool accepts_pictures(PixelFormat format) {
  return traits(format).model != ColorModel::real;
}

class NetworkSource : public ::testing::Test {
 protected:
  void SetUp() override {
    gst::start_up();
    if (!gst::has_element("souphttpsrc")) GTEST_SKIP() << "GStreamer has no souphttpsrc";
  }
  Watchdog watchdog_;
};

TEST_F(NetworkSource, AStreamThatIsCutOffComesBack) {
  const HttpCamera camera(multipart(), true);
  ReconnectOptions options;
  options.first_wait = 50ms;
  const auto source =
      make_reconnecting_source([&] { return make_network_source(camera.url()); }, options);
  const StreamInfo info = source->open(accepts_pictures);
  EXPECT_TRUE(info.live);
  EXPECT_EQ(info.desc.width, 64);
  EXPECT_THAT(info.name, HasSubstr("http://user:***@127.0.0.1"));
  FramePool pool(info.desc, 4, source->lends_buffers());
  std::size_t placeholders = 0;
  for (std::uint64_t reconnects = 0; reconnects < 2;) {
    const FramePtr frame = pool.acquire();
    ASSERT_TRUE(source->read(*frame));
    reconnects = frame->timings.reconnects;
    placeholders += frame->placeholder ? 1 : 0;
  }
  EXPECT_GE(placeholders, 2U);
  EXPECT_GE(camera.calls, 3);
}

TEST_F(NetworkSource, SilenceIsAStall) {
  const HttpCamera camera(multipart(30), false);
  const auto source = make_network_source(camera.url(), NetworkSound::left, 300ms);
  const StreamInfo info = source->open(accepts_pictures);
  FramePool pool(info.desc, 4, source->lends_buffers());
  int frames = 0;
  try {
    for (FramePtr frame = pool.acquire(); source->read(*frame); frame = pool.acquire())
      ++frames;
    ADD_FAILURE() << "ended";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_input);
    EXPECT_THAT(error.what(), HasSubstr("no picture for 0.3 s"));
  }
  EXPECT_GT(frames, 0);
}

TEST_F(NetworkSource, NobodyThereIsAnError) {
  const auto source = make_network_source("http://127.0.0.1:9/mjpeg");
  const auto [code, text] = error_of([&] { (void)source->open(accepts_pictures); });
  EXPECT_EQ(code, ExitCode::no_input);
  EXPECT_THAT(text, HasSubstr("http://127.0.0.1:9/mjpeg: gives no stream"));
}

TEST_F(NetworkSource, AWebPageIsNoVideo) {
  const LoopbackServer server([](int call) {
    const std::string answer =
        "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n"
        "<!DOCTYPE html><html><head><title>A camera</title></head><body></body></html>\n";
    static_cast<void>(::send(call, answer.data(), answer.size(), MSG_NOSIGNAL));
  });
  const std::string url = "http://127.0.0.1:" + std::to_string(server.port()) + "/";
  const auto source = make_network_source(url);
  const auto [code, text] = error_of([&] { (void)source->open(accepts_pictures); });
  EXPECT_EQ(code, ExitCode::bad_input);
  EXPECT_EQ(text, url + ": is no video (text/html); give the address of a video or stream");
}

TEST(LiveLaunchSource, CountsThePicturesThatNobodyTook) {
  const Watchdog watchdog;
  const auto source = make_launch_source(
      "videotestsrc is-live=true ! video/x-raw,format=I420,width=64,height=48,framerate=100/1");
  const StreamInfo info = source->open(accepts_pictures);
  ASSERT_TRUE(info.live);
  FramePool pool(info.desc, 4, true);
  ASSERT_TRUE(source->read(*pool.acquire()));
  std::this_thread::sleep_for(200ms);
  const FramePtr later = pool.acquire();
  ASSERT_TRUE(source->read(*later));
  EXPECT_GT(later->timings.dropped_before, 10U);
  EXPECT_TRUE(later->discontinuity);
  EXPECT_LT(milliseconds(Clock::now() - later->captured), 100);  // The newest one.
}

}  // namespace
}  // namespace equalux::test
