// `equalux run -o pipewire:NAME` and programs that read from it.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/pipewire/companion.h"
#include "tests/pipewire/frame_reader.h"
#include "tests/pipewire/private_daemon.h"
#include "tests/support/long_counts.h"
#include "tests/support/network_clients.h"
#include "tests/support/program.h"

namespace equalux::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr int kWidth = 62;
constexpr int kHeight = 34;
constexpr std::size_t kFrameBytes = std::size_t{kWidth} * kHeight * 3 / 2;

class VirtualCamera : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = PrivateDaemon::missing(); !missing.empty()) {
      GTEST_SKIP() << missing << " not installed";
    }
    daemon_ = std::make_unique<PrivateDaemon>();
  }

  /// Runs `meanwhile` once programs see the camera, and stops the run with Ctrl-C.
  ProgramResult while_it_runs(const std::vector<std::string>& more,
                              const std::function<void(int)>& meanwhile) {
    std::vector<std::string> arguments{"run"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.insert(arguments.end(), {"-o", "pipewire:cam", "--backend", "cpu"});
    ProgramOptions options;
    options.meanwhile = [&](int process) {
      EXPECT_TRUE(await_camera("cam"));
      if (!HasFailure()) meanwhile(process);
      ::kill(process, SIGINT);
    };
    return run_program(arguments, options);
  }

  std::unique_ptr<PrivateDaemon> daemon_;
};

/// Frames of a file are told apart by their numbers.
TEST_F(VirtualCamera, FramesAreThoseOfAFileByteForByte) {
  const TempFolder folder;
  folder.write("in.y4m", dim_y4m(kWidth, kHeight, 1500));
  const ProgramResult plain = run_program({"run", folder / "in.y4m", "-o", folder / "out.y4m",
                                           "--preset", "plain", "--backend", "cpu"});
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  const std::string reference = folder.read("out.y4m");
  const std::size_t header = reference.find('\n') + 1;
  std::string gst;
  const ProgramResult result = while_it_runs({folder / "in.y4m", "--preset", "plain"}, [&](int) {
    FrameReader reader("cam");
    const std::vector<ReadFrame> frames = reader.frames(20);
    ASSERT_GE(frames.size(), 20U) << reader.failure();
    EXPECT_EQ(reader.format()->desc.format, PixelFormat::i420);
    for (const ReadFrame& frame : frames) {
      const std::size_t at = header + frame.number * (6 + kFrameBytes) + 6;
      EXPECT_TRUE(reference.compare(at, kFrameBytes, frame.bytes) == 0) << frame.number;
    }
    if (shell_result("gst-inspect-1.0 pipewiresrc").exit_code != 0) return;
    const ShellResult read = shell_result(
        "gst-launch-1.0 -q pipewiresrc target-object=cam num-buffers=5 ! "
        "video/x-raw,format=I420,width=62,height=34 ! filesink location=" +
        folder / "gst.raw");
    EXPECT_EQ(read.exit_code, 0) << read.output;
    gst = folder.read("gst.raw");
  });
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_THAT(result.err, HasSubstr(gst.empty() ? "1 reader, " : "2 readers, "));
  if (gst.empty()) GTEST_SKIP() << "gstreamer1.0-pipewire is not installed";
  // Rows of 62 samples lie 64 apart.
  EXPECT_EQ(gst.size(), 5U * (64 * 34 + 2 * 32 * 17));
  const std::string row = gst.substr(0, kWidth);
  EXPECT_THAT(reference, HasSubstr(row));
}

TEST_F(VirtualCamera, ReadersComeAndGoAndSeveralReadAtOnce) {
  const int readers = wants_every_count() ? 100 : 20;
  const ProgramResult result = while_it_runs(
      {"test:640x480@50", "--filter", "denoise", "--preset", "plain"}, [readers](int) {
        for (int i = 0; i < readers; ++i) {
          FrameReader reader("cam");
          EXPECT_GE(reader.frames(2).size(), 2U) << "reader " << i << ": " << reader.failure();
        }
        {
          FrameReader first("cam", PixelFormat::nv12);
          EXPECT_GE(first.frames(3).size(), 3U) << first.failure();
          const auto before = std::chrono::steady_clock::now().time_since_epoch();
          FrameReader second("cam", PixelFormat::nv12);
          const std::vector<ReadFrame> late = second.frames(3);
          ASSERT_GE(late.size(), 3U) << second.failure();
          // Its first frame is a new one, none that waited for it.
          EXPECT_GT(late[0].time_ns, std::chrono::nanoseconds(before).count() - 100'000'000);
          const std::size_t seen = first.frames(1).size();
          EXPECT_GE(first.frames(seen + 5).size(), seen + 5);
        }
        // Somebody who keeps what it gets stops nobody.
        FrameReader holder("cam", PixelFormat::nv12, 0, ReaderHabit::holds);
        EXPECT_GE(holder.frames(2).size(), 2U) << holder.failure();
        FrameReader other("cam", PixelFormat::nv12);
        EXPECT_GE(other.frames(2).size(), 2U) << other.failure();
      });
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_THAT(result.err, HasSubstr(std::to_string(readers + 4) + " readers, "));
  EXPECT_FALSE(listed("cam")) << "it is left behind";
}

TEST_F(VirtualCamera, NobodyWhoReadsCostsNextToNothing) {
  double idle_s = 0;
  double busy_s = 0;
  double daemon_s = 0;
  const ProgramResult result = while_it_runs(
      {"test:1280x720@30", "--filter", "denoise", "--preset", "plain"}, [&](int process) {
        const auto cpu_of = [&](const auto& during) {
          const double before = cpu_seconds_of(process);
          during();
          return cpu_seconds_of(process) - before;
        };
        daemon_s = daemon_->cpu_seconds();
        idle_s = cpu_of([] { std::this_thread::sleep_for(1s); });
        daemon_s = daemon_->cpu_seconds() - daemon_s;
        FrameReader reader("cam");
        static_cast<void>(reader.frames(1));
        busy_s = cpu_of([&] {
          const std::size_t seen = reader.frames(1).size();
          EXPECT_GE(reader.frames(seen + 15).size(), seen + 15);
        });
      });
  EXPECT_EQ(result.exit_code, 130) << result.err;
  std::printf("nobody reads: %.2f s of CPU a second, the daemon %.2f; 15 frames read: %.2f s\n",
              idle_s, daemon_s, busy_s);
  // What is left is the drawing of the test picture, twice as many frames as were read.
  EXPECT_LT(idle_s, busy_s / 2);
  EXPECT_LE(daemon_s, 0.02);
}

TEST_F(VirtualCamera, AReaderHasAFrameBeforeTheNextOneIsDue) {
  std::vector<double> latencies;
  const std::size_t count = wants_every_count() ? 300 : 20;
  const ProgramResult result = while_it_runs({"test:1280x720@30", "--preset", "plain"}, [&](int) {
    FrameReader reader("cam");
    for (const ReadFrame& frame : reader.frames(count, 30s))
      latencies.push_back(frame.latency_ms);
    ASSERT_GE(latencies.size(), count) << reader.failure();
  });
  EXPECT_EQ(result.exit_code, 130) << result.err;
  std::sort(latencies.begin(), latencies.end());
  const double median = latencies[latencies.size() / 2];
  std::printf("from source to reader: median %.2f ms, 95th %.2f ms of %zu frames\n", median,
              latencies[latencies.size() * 95 / 100], latencies.size());
  EXPECT_GT(median, 0);
  EXPECT_LT(median, 33);
}

TEST_F(VirtualCamera, FormatsAndRatesAreAgreedOn) {
  const ProgramResult result = while_it_runs({"test:64x48@40", "--preset", "plain"}, [&](int) {
    for (const PixelFormat format : {PixelFormat::nv12, PixelFormat::i420, PixelFormat::yuy2,
                                     PixelFormat::rgb, PixelFormat::bgrx}) {
      FrameReader reader("cam", format);
      const std::vector<ReadFrame> frames = reader.frames(1);
      ASSERT_GE(frames.size(), 1U) << to_string(format) << ": " << reader.failure();
      ASSERT_TRUE(reader.format());
      const ImageDesc desc = reader.format()->desc;
      EXPECT_EQ(desc.format, format);
      EXPECT_EQ(desc.width, 64);
      EXPECT_EQ(frames[0].bytes.size(), tight_bytes(desc));
      // A picture, none of black.
      EXPECT_NE(frames[0].bytes.find_first_not_of(frames[0].bytes[0]), std::string::npos);
    }
    FrameReader slow("cam", PixelFormat::nv12, 10);
    const std::vector<ReadFrame> frames = slow.frames(5);
    ASSERT_GE(frames.size(), 5U) << slow.failure();
    const double seconds = static_cast<double>(frames[4].time_ns - frames[0].time_ns) * 1e-9;
    EXPECT_GT(seconds, 0.3) << "40 frames a second where 10 were asked for";
  });
  EXPECT_EQ(result.exit_code, 130) << result.err;
}

TEST_F(VirtualCamera, ADaemonThatDiesIsWaitedFor) {
  const ProgramResult result = while_it_runs({"test:64x48@30", "--preset", "plain"}, [&](int) {
    {
      FrameReader reader("cam");
      EXPECT_GE(reader.frames(2).size(), 2U) << reader.failure();
      daemon_->kill();
    }
    std::this_thread::sleep_for(700ms);  // It tries and finds none.
    daemon_->start();
    ASSERT_TRUE(await_camera("cam"));
    FrameReader again("cam");
    EXPECT_GE(again.frames(2).size(), 2U) << again.failure();
  });
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_THAT(result.err,
              HasSubstr("pipewire:cam: PipeWire has gone; waiting for it to come back"));
  EXPECT_THAT(result.err, HasSubstr("pipewire:cam: back after "));
  const std::size_t gone = result.err.find("has gone");
  // Said once; the daemon ends with the thread that started it, which is over before the run.
  EXPECT_GT(result.err.find("has gone", gone + 1), result.err.find("back after ")) << result.err;
  EXPECT_THAT(result.err, HasSubstr("; 1 reconnected"));
}

/// One run's camera is the next one's input, another stands beside it, and a program that dies
/// while frames move takes nobody with it.
TEST_F(VirtualCamera, RunsReadRunsAndStandSideBySide) {
  const TempFolder folder;
  folder.write("in.y4m", dim_y4m(kWidth, kHeight, 1500));
  ASSERT_EQ(run_program({"run", folder / "in.y4m", "-o", folder / "out.y4m", "--preset", "plain",
                         "--backend", "cpu"})
                .exit_code,
            0);
  const std::string reference = folder.read("out.y4m");
  const ProgramResult result = while_it_runs({folder / "in.y4m", "--preset", "plain"}, [&](int) {
    const Companion beside(EQUALUX_PROGRAM_FOLDER "/equalux",
                           {"run", "test:64x48@30", "-o", "pipewire:beside", "--quiet"});
    EXPECT_TRUE(await_camera("beside"));
    {
      const Companion killed(EQUALUX_PROGRAM_FOLDER "/equalux",
                             {"run", "pipewire:cam", "-o", "null", "--quiet"});
      FrameReader reader("cam");
      EXPECT_GE(reader.frames(10).size(), 10U);
    }
    const ProgramResult copy =
        run_program({"run", "pipewire:cam", "-o", folder / "copy.y4m", "--frames", "8", "--preset",
                     "plain", "--strength", "0", "--backend", "cpu"});
    EXPECT_EQ(copy.exit_code, 0) << copy.err;
    FrameReader other("beside");
    EXPECT_GE(other.frames(2).size(), 2U) << other.failure();
  });
  EXPECT_EQ(result.exit_code, 130) << result.err;
  const std::string copied = folder.read("copy.y4m");
  const std::size_t header = copied.find('\n') + 1;
  ASSERT_EQ(copied.size(), header + 8 * (6 + kFrameBytes));
  for (std::size_t i = 0; i < 8; ++i) {
    const std::string frame = copied.substr(header + i * (6 + kFrameBytes), 6 + kFrameBytes);
    EXPECT_NE(reference.find(frame), std::string::npos) << i;
  }
}

TEST_F(VirtualCamera, WhatIsWrongIsSaidInOneLine) {
  const auto run_short = [](const std::string& output) {
    return run_program({"run", "test:64x48@50", "-o", output, "--frames", "5", "--backend", "cpu"});
  };
  const ProgramResult nameless = run_short("pipewire:");
  EXPECT_EQ(nameless.exit_code, 2);
  EXPECT_THAT(nameless.err, HasSubstr("must be pipewire:NAME"));
  const ProgramResult first = while_it_runs({"test:64x48@50"}, [&](int) {
    const ProgramResult second = run_short("pipewire:cam");
    EXPECT_EQ(second.exit_code, 73) << second.err;
    EXPECT_THAT(second.err, HasSubstr("there is a camera of that name"));
    const ProgramResult doctor = run_program({"doctor"});
    EXPECT_THAT(doctor.out, HasSubstr("WirePlumber, pipewire:cam"));
  });
  EXPECT_EQ(first.exit_code, 130) << first.err;
  // A run that reaches its end while nobody has read is no failure.
  EXPECT_EQ(run_short("pipewire:cam").exit_code, 0);
  daemon_->kill();
  const ProgramResult without = run_short("pipewire:cam");
  EXPECT_EQ(without.exit_code, 69) << without.err;
  EXPECT_EQ(lines_of(without.err).size(), 1U) << without.err;
  EXPECT_THAT(without.err, HasSubstr("pipewire:cam: no PipeWire answers"));
  EXPECT_THAT(run_program({"doctor"}).out, HasSubstr("no daemon runs for this user"));
  daemon_->start_without_manager();
  const ProgramResult alone = run_short("pipewire:cam");
  EXPECT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_THAT(alone.err, HasSubstr("no session manager runs"));
  EXPECT_THAT(run_program({"doctor"}).out, HasSubstr("without a session manager"));
}

}  // namespace
}  // namespace equalux::test
