// A camera, the page, a virtual camera and a recording at once: nothing grows, and no frame is lost
// that is not counted. For some seconds, or for $EQUALUX_MINUTES; of $EQUALUX_PROGRAM, where that
// names another build of it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/pipewire/companion.h"
#include "tests/pipewire/frame_reader.h"
#include "tests/pipewire/private_daemon.h"
#include "tests/support/network_clients.h"
#include "tests/support/process_holding.h"
#include "tests/support/program.h"

namespace equalux::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr auto kUsualTime = 8s;
/// Frames and pictures that are under way where a count begins and ends.
constexpr std::int64_t kUnderWay = 12;

std::chrono::milliseconds time_to_run() {
  const char* minutes = std::getenv("EQUALUX_MINUTES");
  if (minutes == nullptr) return kUsualTime;
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::atof(minutes) * 60'000));
}

/// Reads pictures for as long as they come, and keeps none.
class PictureViewer {
 public:
  PictureViewer(int port, const std::string& request) {
    connection_ = ::socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = loopback_address(port);
    if (::connect(connection_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      return;
    const std::string text =
        "GET " + request + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\n\r\n";
    if (::send(connection_, text.data(), text.size(), 0) < 0) return;
    thread_ = std::thread([this] { read(); });
  }
  ~PictureViewer() {
    ::shutdown(connection_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    ::close(connection_);
  }
  PictureViewer(const PictureViewer&) = delete;
  PictureViewer& operator=(const PictureViewer&) = delete;

  [[nodiscard]] std::int64_t pictures() const { return pictures_; }

 private:
  void read() {
    const std::string name = "Content-Type: image/jpeg";
    std::string text;
    std::vector<char> piece(65536);
    for (;;) {
      const ssize_t got = ::recv(connection_, piece.data(), piece.size(), 0);
      if (got <= 0) return;
      text.append(piece.data(), static_cast<std::size_t>(got));
      for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name)) {
        ++pictures_;
        text.erase(0, at + name.size());
      }
      // A header may have come in part.
      if (text.size() > name.size()) text.erase(0, text.size() - name.size());
    }
  }

  int connection_ = -1;
  std::atomic<std::int64_t> pictures_{0};
  std::thread thread_;
};

/// The number before a word, "905 out"; -1 where there is none.
std::int64_t number_before(const std::string& text, const std::string& word) {
  const std::size_t at = text.rfind(" " + word);
  if (at == std::string::npos || at == 0) return -1;
  const std::size_t start = text.find_last_not_of("0123456789", at - 1) + 1;
  return start == at ? -1 : std::atoll(text.c_str() + start);
}

std::string tail_of(const std::string& text, const std::string& from) {
  const std::size_t at = text.rfind(from);
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

TEST(AllAtOnce, NothingGrowsAndEveryFrameIsAccountedFor) {
  if (const std::string missing = PrivateDaemon::missing(); !missing.empty()) {
    GTEST_SKIP() << missing << " not installed";
  }
  const auto time = time_to_run();
  // Many a file, since what an encoder leaves behind shows once others have followed it.
  const auto split = std::max<std::chrono::milliseconds>(time / 60, 2s);
  const PrivateDaemon daemon;
  const TempFolder folder;
  Companion camera(EQUALUX_FAKE_CAMERA, {"name=fake", "format=nv12", "size=640x480", "fps=30",
                                         "count=" + folder / "given.txt"});
  ASSERT_TRUE(await_camera("fake"));
  const int port = free_port_of();

  std::vector<Holding> samples;
  std::int64_t read = 0;
  std::int64_t read_to = 0;
  std::int64_t missed_by_reader = 0;
  std::int64_t seen = 0;
  double cpu_s = 0;
  ProgramOptions options;
  options.folder = folder.path();
  if (const char* program = std::getenv("EQUALUX_PROGRAM")) options.program = program;
  options.timeout_s = std::chrono::duration<double>(time).count() + 120;
  options.meanwhile = [&](int process) {
    EXPECT_TRUE(await_camera("cam"));
    EXPECT_TRUE(wait_for_port(port));
    FrameReader reader("cam", std::nullopt, 0, ReaderHabit::counts);
    const PictureViewer viewer(port, "/stream.mjpeg?width=320&rate=30");
    const auto end = std::chrono::steady_clock::now() + time;
    const auto period = std::max<std::chrono::milliseconds>(time / 2000, 20ms);
    const std::string state = "curl -s http://127.0.0.1:" + std::to_string(port) + "/api/state";
    auto next_look = std::chrono::steady_clock::now();
    auto next_word = next_look + 1min;
    while (std::chrono::steady_clock::now() < end) {
      const Holding now = holding_of(process);
      if (now.memory_kb == 0) break;
      samples.push_back(now);
      if (std::chrono::steady_clock::now() >= next_word) {
        std::printf("%lld kB, %lld descriptors, %lld threads\n",
                    static_cast<long long>(now.memory_kb), static_cast<long long>(now.descriptors),
                    static_cast<long long>(now.threads));
        std::fflush(stdout);
        next_word += 1min;
      }
      std::this_thread::sleep_for(period);
      if (std::chrono::steady_clock::now() < next_look) continue;
      // As the page does while somebody has it open.
      EXPECT_THAT(shell_result(state).output, HasSubstr("\"counters\""));
      next_look += std::max<std::chrono::milliseconds>(time / 1000, 1s);
    }
    // What the camera has from now on nobody asked for.
    camera.signal(SIGUSR2);
    std::this_thread::sleep_for(300ms);
    cpu_s = cpu_seconds_of(process);
    ::kill(process, SIGINT);
    // It ends by itself, and the last frames come while it does.
    for (int i = 0; i < 1500 && listed("cam"); ++i)
      std::this_thread::sleep_for(10ms);
    read = static_cast<std::int64_t>(reader.count());
    read_to = static_cast<std::int64_t>(reader.last_number()) + 1;
    missed_by_reader = static_cast<std::int64_t>(reader.missed());
    seen = viewer.pictures();
  };
  const ProgramResult result = run_program(
      {"run", "pipewire:fake", "-o", "pipewire:cam", "--serve", "127.0.0.1:" + std::to_string(port),
       "--serve-token", "none", "--record", "rec.mkv", "--record-split",
       std::to_string(std::chrono::duration_cast<std::chrono::seconds>(split).count()) + "s",
       "--backend", "cpu", "--preset", "stable"},
      options);
  ASSERT_EQ(result.exit_code, 130) << result.err.substr(0, 2000);
  camera.end();

  const std::string frames = tail_of(result.err, "frames: ");
  const std::string given = tail_of(result.err, "pipewire:cam: ");
  const std::string recorded = tail_of(result.err, "recorded: ");
  const std::string viewers = tail_of(result.err, "viewers: ");
  const std::int64_t had = std::atoll(folder.read("given.txt").c_str());
  std::printf(
      "the camera had %lld\n%s\n%s, %lld read, %lld missed\n%s\n%s, %lld read\nCPU %.2f s a "
      "second\n",
      static_cast<long long>(had), frames.c_str(), given.c_str(), static_cast<long long>(read),
      static_cast<long long>(missed_by_reader), recorded.c_str(), viewers.c_str(),
      static_cast<long long>(seen), cpu_s / std::chrono::duration<double>(time).count());

  const std::int64_t out = number_before(frames, "out");
  const std::int64_t dropped = number_before(frames, "dropped");
  ASSERT_GT(out, 0) << result.err;
  // In: what the camera had is out, or dropped and counted.
  EXPECT_NEAR(static_cast<double>(had), static_cast<double>(out + dropped), kUnderWay);
  // The virtual camera: what came out before there was a reader is the rest.
  const std::int64_t missed = std::max<std::int64_t>(0, number_before(given, "not taken"));
  const std::int64_t before_reader = out - (number_before(given, "frames") + missed);
  EXPECT_GE(before_reader, 0);
  EXPECT_LE(before_reader, 30 * 10);
  // A reader that is too slow for PipeWire misses frames that were given. The camera numbers all
  // that it had, dropped ones, too, so that the reader knows how many.
  EXPECT_NEAR(static_cast<double>(read_to), static_cast<double>(had), kUnderWay);
  EXPECT_LE(number_before(given, "frames") - read, missed_by_reader + kUnderWay);
  EXPECT_LE(missed_by_reader, number_before(given, "frames") - read + dropped + kUnderWay);
  // The recording: every frame, or dropped and counted; and the files have them.
  EXPECT_EQ(number_before(recorded, "frames") + number_before(recorded, "dropped"), out);
  std::int64_t in_files = 0;
  for (const std::string& name : folder.names()) {
    if (!name.ends_with(".mkv")) continue;
    in_files += std::atoll(shell_result("ffprobe -v error -count_packets -show_entries "
                                        "stream=nb_read_packets -of csv=p=0 '" +
                                        folder / name + "'")
                               .output.c_str());
  }
  EXPECT_EQ(in_files, number_before(recorded, "frames"));
  // The page: each viewer gets the newest picture, as fast as it takes them.
  EXPECT_NEAR(static_cast<double>(seen), static_cast<double>(number_before(viewers, "pictures")),
              kUnderWay);
  EXPECT_GT(seen, 0);

  const auto held = held_over_time(samples, usually_held);
  ASSERT_TRUE(held);
  std::printf("%s\n", text_of(*held).c_str());
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // Where a recording is split, two encoders are there at a time; a short run still warms up.
  EXPECT_LE(held->after.memory_kb, held->before.memory_kb + (time > 1min ? 4'096 : 16'384));
#endif
  EXPECT_LE(held->after.descriptors, held->before.descriptors);
  EXPECT_LE(held->after.threads, held->before.threads);
}

}  // namespace
}  // namespace equalux::test
