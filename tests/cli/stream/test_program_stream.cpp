#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/network_clients.h"
#include "tests/support/program.h"

/// `equalux run -o rtsp://:PORT/NAME`, and the clients that people have.
namespace equalux::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A client that asks for the pictures over its own connection and then takes none.
class SilentClient {
 public:
  explicit SilentClient(int port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    constexpr int kRoom = 4096;
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &kRoom, sizeof kRoom);
    const sockaddr_in address = loopback_address(port);
    static_cast<void>(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address));
    const std::string url = "rtsp://127.0.0.1:" + std::to_string(port) + "/cam";
    ask("DESCRIBE " + url, "Accept: application/sdp\r\n");
    const std::string setup =
        ask("SETUP " + url + "/stream=0", "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n");
    const std::size_t at = setup.find("Session: ");
    const std::string session =
        at == std::string::npos ? "" : setup.substr(at, setup.find_first_of(";\r", at) - at);
    answer_ = ask("PLAY " + url, session + "\r\n");
  }
  ~SilentClient() { ::close(fd_); }
  SilentClient(const SilentClient&) = delete;
  SilentClient& operator=(const SilentClient&) = delete;
  [[nodiscard]] bool plays() const { return answer_.starts_with("RTSP/1.0 200"); }

 private:
  std::string ask(const std::string& request, const std::string& fields) {
    const std::string text =
        request + " RTSP/1.0\r\nCSeq: " + std::to_string(++count_) + "\r\n" + fields + "\r\n";
    static_cast<void>(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL));
    std::string answer(16384, ' ');
    answer.resize(static_cast<std::size_t>(
        std::max<ssize_t>(0, ::recv(fd_, answer.data(), answer.size(), 0))));
    return answer;
  }

  int fd_;
  int count_ = 0;
  std::string answer_;
};

class ServedStreams : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_program("ffmpeg")) GTEST_SKIP() << "ffmpeg is not installed";
    const ProgramResult tried =
        run_program({"run", "test:64x48@100", "-o", "rtsp://:0/cam", "--frames", "2"});
    if (tried.exit_code == 69) GTEST_SKIP() << tried.err;
    ASSERT_EQ(tried.exit_code, 0) << tried.err;
    port_ = free_port_of();
  }
  [[nodiscard]] std::string served(const std::string& user = "") const {
    return "rtsp://" + user + ":" + std::to_string(port_) + "/cam" +
           (user.empty() ? "" : "?listen=127.0.0.1");
  }
  [[nodiscard]] std::string url(const std::string& user = "") const {
    return "rtsp://" + user + (user.empty() ? "" : "@") + "127.0.0.1:" + std::to_string(port_) +
           "/cam";
  }
  /// Samples of pictures of the stream, luma first. A busy machine may keep ffmpeg from a whole
  /// picture for longer than the 5 seconds after which it takes a stream for one without any, and
  /// may lose so many packets of UDP that it finds none at all: then it looks once more.
  [[nodiscard]] ShellResult luma(const std::string& transport) {
    const std::string command =
        "ffmpeg -v error -analyzeduration 30M -rtsp_transport " + transport + " -i " + url() +
        " -frames:v 8 -vf crop=2:2:160:120 -f rawvideo -pix_fmt yuv420p - | od -An -tu1";
    ShellResult seen = shell_result(command);
    if (std::atoi(seen.output.c_str()) != 0 || transport != "udp") return seen;
    ++looked_again_;
    return shell_result(command);
  }
  /// Expects that many viewers in the program's last line, and those that looked once more.
  void expect_viewers(const std::string& text, int count) const {
    const std::size_t end = text.find(" viewers, ");
    ASSERT_NE(end, std::string::npos) << text;
    const int told = std::atoi(text.c_str() + text.rfind(' ', end - 1));
    EXPECT_GE(told, count) << text;
    EXPECT_LE(told, count + looked_again_) << text;
  }

  std::atomic<int> looked_again_ = 0;
  int port_ = 0;
  ProgramOptions options_;
};

TEST_F(ServedStreams, SeveralClientsComeAndGo) {
  options_.meanwhile = [&](int process) {
    ASSERT_TRUE(wait_for_port(port_));
    auto tcp = std::async(std::launch::async, [&] { return luma("tcp"); });
    auto udp = std::async(std::launch::async, [&] { return luma("udp"); });
    // On a busy machine no packet may come in 5 seconds, after which rtspsrc would connect again,
    // by TCP, and be a viewer more. Its exit code tells nothing: rtspsrc interrupts its own PAUSE
    // where its TEARDOWN follows soon, and calls that an error.
    const ShellResult gst = shell_result(
        "gst-launch-1.0 -q rtspsrc location=" + url() +
        " latency=100 timeout=30000000 ! rtph264depay ! h264parse ! avdec_h264 "
        "! identity eos-after=8 ! fdsink 2>/dev/null | od -An -v -w115200 -tu1 | cut -c1-4");
    const std::vector<std::string> pictures = lines_of(gst.output);
    EXPECT_GE(pictures.size(), 7U) << gst.output;  // 320x240 I420
    for (const std::string& first : pictures)
      EXPECT_NEAR(std::atoi(first.c_str()), kLuma, 2) << first;
    for (auto* each : {&tcp, &udp}) {
      const ShellResult seen = each->get();
      EXPECT_NEAR(std::atoi(seen.output.c_str()), kLuma, 2) << seen.output;
    }
    // The encoder rests in between and begins again.
    std::this_thread::sleep_for(200ms);
    const ShellResult later = luma("tcp");
    EXPECT_NEAR(std::atoi(later.output.c_str()), kLuma, 2) << later.output;
    ::kill(process, SIGINT);
  };
  const ProgramResult result =
      run_program({"run", kGray, "--preset", "plain", "--strength", "0", "-o", served()}, options_);
  EXPECT_EQ(result.exit_code, 130) << result.err;
  expect_viewers(result.err, 4);
  EXPECT_THAT(result.err, HasSubstr("served as " + url() + " to this machine alone"));
}

TEST_F(ServedStreams, AClientThatTakesNothingHoldsNobodyUp) {
  options_.meanwhile = [&](int) {
    ASSERT_TRUE(wait_for_port(port_));
    const SilentClient silent(port_);
    EXPECT_TRUE(silent.plays());
    // Its connection and what is in front of it hold a second or two of noise.
    std::this_thread::sleep_for(1800ms);
    for (const char* transport : {"udp", "tcp"}) {
      const ShellResult seen = luma(transport);
      EXPECT_GT(lines_of(seen.output).size(), 2U) << seen.output;
    }
  };
  const ProgramResult result =
      run_program({"run",
                   "gst:videotestsrc is-live=true pattern=snow ! "
                   "video/x-raw,format=I420,width=320,height=240,framerate=30/1",
                   "--strength", "0", "--frames", "240", "--quality", "0", "-o", served()},
                  options_);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_LT(result.seconds, 12);  // eight for the frames
  EXPECT_THAT(result.err, HasSubstr(" late; 0 reconnected"));
  expect_viewers(result.err, 3);
  EXPECT_THAT(result.err, HasSubstr(" packets that slow viewers did not take"));
}

TEST_F(ServedStreams, NobodyLooksAndNothingIsEncoded) {
  // A file of a second, which is shown at its own pace.
  const ProgramResult result =
      run_program({"run", "test:64x48@30", "--frames", "31", "-o", served()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GE(result.seconds, 1.0);
  EXPECT_THAT(result.err, HasSubstr(served() + ": 0 viewers, 0 frames encoded, 0 dropped"));
}

TEST_F(ServedStreams, TheEndReachesTheClients) {
  std::future<ShellResult> client;
  options_.meanwhile = [&](int) {
    ASSERT_TRUE(wait_for_port(port_));
    client = std::async(std::launch::async, [&] {
      return shell_result("ffmpeg -v error -rtsp_transport tcp -i " + url() + " -f null -");
    });
  };
  const ProgramResult result =
      run_program({"run", "test:64x48@30", "--frames", "40", "-o", served()}, options_);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  ASSERT_TRUE(client.valid());
  EXPECT_EQ(client.wait_for(3s), std::future_status::ready);
  EXPECT_EQ(client.get().exit_code, 0);
}

TEST_F(ServedStreams, ThePasswordIsAskedForAndNeverShown) {
  options_.meanwhile = [&](int process) {
    ASSERT_TRUE(wait_for_port(port_));
    const auto look = [&](const std::string& user) {
      return shell_result("ffmpeg -v error -rtsp_transport tcp -i " + url(user) +
                          " -frames:v 2 -f null -");
    };
    const ShellResult anybody = look("");
    EXPECT_NE(anybody.exit_code, 0);
    EXPECT_THAT(anybody.output, HasSubstr("401"));
    EXPECT_NE(look("ann:guessed").exit_code, 0);
    EXPECT_EQ(look("ann:open%20sesame").exit_code, 0);
    ::kill(process, SIGINT);
  };
  const ProgramResult result = run_program(
      {"run", "test:64x48@30", "-o", served("ann:open%20sesame@"), "--log-level", "debug"},
      options_);
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_THAT(result.err, HasSubstr("rtsp://ann:***@:" + std::to_string(port_) + "/cam"));
  EXPECT_THAT(result.err, Not(HasSubstr("sesame")));
}

TEST_F(ServedStreams, WhatIsWrongIsOneLine) {
  const Listener taken;
  const std::string port = std::to_string(taken.port());
  struct Wrong {
    std::vector<std::string> arguments;
    int code;
    std::string what;
  };
  const std::vector<Wrong> wrong{
      {{"-o", "rtsp://:" + port + "/cam"}, 73, "port " + port + " is in use, must be another"},
      {{"-o", "rtsp://:0/cam?listen=192.0.2.1"}, 73, "cannot listen at 192.0.2.1"},
      {{"-o", "rtsp://a:secret@:8554"}, 2, "no name of its stream, must be rtsp://:PORT/NAME"},
      {{"-o", "rtsp://:0/cam", "--encoder", "vp9"}, 2, "makes no H.264"},
      {{"-o", "rtsp://:0/cam", "--lossless"}, 2, "--lossless is of files"},
      {{"-o", "rtsp://:0/cam", "--quality", "99"}, 2, "--quality is 99"},
      {{"-o", "null", "--mute"}, 2, "--mute is of streams (rtsp:, rtmp:, srt:), must be left out"},
  };
  for (const Wrong& each : wrong) {
    std::vector<std::string> arguments{"run", "test:64x48@30", "--frames", "2"};
    arguments.insert(arguments.end(), each.arguments.begin(), each.arguments.end());
    const ProgramResult result = run_program(arguments);
    EXPECT_EQ(result.exit_code, each.code) << result.err;
    EXPECT_EQ(lines_of(result.err).size(), 1U) << result.err;
    EXPECT_THAT(result.err, AllOf(HasSubstr(each.what), Not(HasSubstr("secret"))));
  }
  const ProgramResult odd =
      run_program({"run", "test:65x48@30", "--frames", "2", "-o", "rtsp://:0/cam"});
  EXPECT_EQ(odd.exit_code, 2) << odd.err;
  EXPECT_THAT(odd.err, HasSubstr("even sides of at least 2, these are 65x48"));
}

TEST_F(ServedStreams, TheSoundOfAFileGoesAlongInTime) {
  const TempFolder folder;
  make_flash_and_tone(folder / "in.mkv");
  options_.folder = folder.path();
  for (const bool mute : {false, true}) {
    std::future<ShellResult> client;
    options_.meanwhile = [&](int) {
      ASSERT_TRUE(wait_for_port(port_));
      client = std::async(std::launch::async, [&] {
        return shell_result("ffmpeg -v error -y -rtsp_transport tcp -i " + url() + " -c copy '" +
                            folder / "got.mkv" + "'");
      });
    };
    std::vector<std::string> arguments{"run", "in.mkv", "--strength", "0", "-o", served()};
    if (mute) arguments.emplace_back("--mute");
    const ProgramResult result = run_program(arguments, options_);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    ASSERT_TRUE(client.valid());
    client.wait();
    const FlashAndTone got = flash_and_tone(folder / "got.mkv");
    EXPECT_GT(got.flash_s, 0);
    if (mute) {
      EXPECT_EQ(got.tone_s, -1);
    } else {
      EXPECT_NEAR(got.tone_s, got.flash_s, 0.12);
    }
  }
}

TEST_F(ServedStreams, WhatIsLostIsSaid) {
  const TempFolder folder;
  const ShellResult made = shell_result(
      "ffmpeg -v error -f lavfi -i testsrc=s=64x48:r=25:d=0.2 -f lavfi -i sine=d=0.2 -pix_fmt "
      "yuv422p10le -c:v ffv1 '" +
      folder / "in.mkv" + "'");
  ASSERT_EQ(made.exit_code, 0) << made.output;
  options_.folder = folder.path();
  const ProgramResult result = run_program({"run", "in.mkv", "-o", served()}, options_);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("its pictures are streamed as 4:2:0"));
  EXPECT_THAT(result.err, HasSubstr("10-bit pictures are streamed with 8 bits"));
}

}  // namespace
}  // namespace equalux::test
