#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/stream/record_server.h"
#include "tests/support/network_clients.h"
#include "tests/support/program.h"

/// `equalux run -o rtsp://HOST/NAME`, `rtmp://` and `srt://`, and who takes them.
namespace equalux::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

bool wait_until(const std::function<bool()>& come) {
  for (int i = 0; i < 1000 && !come(); ++i)
    std::this_thread::sleep_for(10ms);
  return come();
}

class PushedStreams : public ::testing::Test {
 protected:
  void SetUp() override {
    gst_init(nullptr, nullptr);
    if (!has_program("ffmpeg")) GTEST_SKIP() << "ffmpeg is not installed";
  }
  /// Skips where GStreamer lacks an element.
  static bool has(const char* element) {
    GstElementFactory* factory = gst_element_factory_find(element);
    if (factory == nullptr) return false;
    gst_object_unref(factory);
    return true;
  }
  /// What somebody takes who listens with ffmpeg: samples of ten pictures, luma first.
  static std::string listener(const std::string& input) {
    return "ffmpeg -v error -probesize 200000 -analyzeduration 300000 " + input +
           " -frames:v 10 -vf crop=2:2:160:120 -f rawvideo -pix_fmt yuv420p - | od -An -v -tu1";
  }
  [[nodiscard]] ProgramResult push(const std::string& output) const {
    return run_program({"run", kGray, "--preset", "plain", "--strength", "0", "--log-level",
                        "debug", "-o", output},
                       options_);
  }
  static void expect_gray(const ShellResult& seen) {
    EXPECT_NEAR(std::atoi(seen.output.c_str()), kLuma, 2) << seen.output;
  }

  ProgramOptions options_;
};

TEST_F(PushedStreams, RtmpIsTakenByFfmpeg) {
  if (!has("rtmp2sink") || !has("flvmux")) GTEST_SKIP() << "GStreamer has no rtmp2sink or flvmux";
  const std::string url =
      "rtmp://127.0.0.1:" + std::to_string(free_port_of()) + "/live/very-secret-key";
  auto taker = std::async(std::launch::async,
                          [&] { return shell_result(listener("-listen 1 -f flv -i " + url)); });
  std::this_thread::sleep_for(500ms);
  options_.meanwhile = [&](int process) {
    expect_gray(taker.get());
    ::kill(process, SIGINT);
  };
  const ProgramResult result = push(url);
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_THAT(result.err, HasSubstr("/live/***: connected"));
  EXPECT_THAT(result.err, Not(HasSubstr("very-secret-key")));
}

TEST_F(PushedStreams, SrtCalls) {
  if (!has("srtsink") || !has("mpegtsmux")) GTEST_SKIP() << "GStreamer has no srtsink or mpegtsmux";
  const std::string url = "srt://127.0.0.1:" + std::to_string(free_port_of(SOCK_DGRAM));
  auto taker = std::async(std::launch::async, [&] {
    return shell_result(listener("-i '" + url + "?mode=listener&passphrase=open-sesame-now'"));
  });
  std::this_thread::sleep_for(500ms);
  options_.meanwhile = [&](int process) {
    expect_gray(taker.get());
    ::kill(process, SIGINT);
  };
  const ProgramResult result = push(url + "?latency=50&passphrase=open-sesame-now");
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_THAT(result.err, HasSubstr("passphrase=***: connected"));
  EXPECT_THAT(result.err, Not(HasSubstr("sesame")));
}

TEST_F(PushedStreams, TheSoundOfAFileGoesAlongInTime) {
  if (!has("srtsink") || !has("mpegtsmux")) GTEST_SKIP() << "GStreamer has no srtsink or mpegtsmux";
  if (!has("rtmp2sink") || !has("flvmux")) GTEST_SKIP() << "GStreamer has no rtmp2sink or flvmux";
  const TempFolder folder;
  make_flash_and_tone(folder / "in.mkv");
  options_.folder = folder.path();
  const std::string srt = "srt://127.0.0.1:" + std::to_string(free_port_of(SOCK_DGRAM));
  const std::string rtmp = "rtmp://127.0.0.1:" + std::to_string(free_port_of()) + "/live/key";
  for (const auto& [url, input] : {std::pair(srt, "-i '" + srt + "?mode=listener'"),
                                   std::pair(rtmp, "-listen 1 -f flv -i " + rtmp)}) {
    auto taker = std::async(std::launch::async, [&, input = input] {
      return shell_result("ffmpeg -v error -y " + input + " -c copy '" + folder / "got.mkv" + "'");
    });
    std::this_thread::sleep_for(500ms);
    const ProgramResult result =
        run_program({"run", "in.mkv", "--strength", "0", "-o", url}, options_);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    taker.wait();
    const FlashAndTone got = flash_and_tone(folder / "got.mkv");
    EXPECT_GT(got.flash_s, 0) << url;
    EXPECT_NEAR(got.tone_s, got.flash_s, 0.12) << url;
  }
}

TEST_F(PushedStreams, SrtWaitsForCallers) {
  if (!has("srtsink") || !has("mpegtsmux")) GTEST_SKIP() << "GStreamer has no srtsink or mpegtsmux";
  const std::string port = std::to_string(free_port_of(SOCK_DGRAM));
  options_.meanwhile = [&](int process) {
    const auto call = [&](const std::string& passphrase) {
      return shell_result(
          listener("-i 'srt://127.0.0.1:" + port + "?mode=caller&passphrase=" + passphrase + "'"));
    };
    std::this_thread::sleep_for(500ms);
    EXPECT_EQ(call("guessed-by-me").output, "");
    expect_gray(call("open-sesame-now"));
    expect_gray(call("open-sesame-now"));
    ::kill(process, SIGINT);
  };
  const ProgramResult result =
      push("srt://127.0.0.1:" + port + "?mode=listener&passphrase=open-sesame-now");
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_THAT(result.err, HasSubstr("waits for callers at srt://127.0.0.1:" + port));
  EXPECT_THAT(result.err, HasSubstr(": 2 viewers, "));
  EXPECT_THAT(result.err, Not(HasSubstr("sesame")));
}

TEST_F(PushedStreams, RtspIsAnnouncedAgainWhereTheServerComesBack) {
  if (!has("rtspclientsink")) GTEST_SKIP() << "GStreamer has no rtspclientsink (gstreamer1.0-rtsp)";
  const int port = free_port_of();
  auto server = std::make_unique<RecordServer>(port);
  ASSERT_TRUE(server->listens());
  options_.meanwhile = [&](int process) {
    EXPECT_TRUE(wait_until([&] { return server->pictures() > 15; }));
    server.reset();
    std::this_thread::sleep_for(300ms);
    server = std::make_unique<RecordServer>(port);
    EXPECT_TRUE(wait_until([&] { return server->pictures() > 15; }));
    ::kill(process, SIGINT);
  };
  const ProgramResult result =
      push("rtsp://ann:open%20sesame@127.0.0.1:" + std::to_string(port) + "/in");
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_THAT(result.err, HasSubstr("it is tried again until it is back"));
  EXPECT_THAT(result.err, HasSubstr(": connected again"));
  EXPECT_THAT(result.err, HasSubstr("; 1 reconnected"));
  EXPECT_THAT(result.err, Not(HasSubstr("sesame")));
}

TEST_F(PushedStreams, WhoDoesNotTakeItIsAnErrorAtOnce) {
  const std::string port = std::to_string(free_port_of());
  const RecordServer server(free_port_of());
  struct Wrong {
    const char* element;
    std::string output;
    std::string what;
  };
  const Wrong wrong[] = {
      {"rtmp2sink", "rtmp://127.0.0.1:" + port + "/live/very-secret-key",
       "/live/***: Connection refused"},
      {"rtspclientsink", "rtsp://ann:very-secret@127.0.0.1:" + port + "/in",
       "ann:***@127.0.0.1:" + port + "/in: "},
      {"srtsink", "srt://192.0.2.1:" + port + "?mode=listener",
       "must be an address of this machine and a free port"},
  };
  for (const Wrong& each : wrong) {
    if (!has(each.element)) continue;
    const ProgramResult result = run_program({"run", "test:64x48@30", "-o", each.output});
    EXPECT_EQ(result.exit_code, 73) << result.err;
    EXPECT_EQ(lines_of(result.err).size(), 1U) << result.err;
    EXPECT_THAT(result.err, AllOf(HasSubstr(each.what), Not(HasSubstr("very-secret"))));
  }
}

TEST_F(PushedStreams, AWrongPasswordIsAnError) {
  if (!has("rtspclientsink")) GTEST_SKIP() << "GStreamer has no rtspclientsink (gstreamer1.0-rtsp)";
  const int port = free_port_of();
  const RecordServer server(port);
  const ProgramResult result =
      push("rtsp://ann:very-wrong@127.0.0.1:" + std::to_string(port) + "/in");
  EXPECT_EQ(result.exit_code, 73) << result.err;
  EXPECT_EQ(server.pictures(), 0);
  EXPECT_THAT(result.err, HasSubstr("is the address right, and does its server take it?"));
  EXPECT_THAT(result.err, Not(HasSubstr("very-wrong")));
}

}  // namespace
}  // namespace equalux::test
