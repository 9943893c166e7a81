#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipelines/files/y4m.h"
#include "tests/support/media/y4m_streams.h"
#include "tests/support/pipeline_fakes.h"
#include "tests/support/temp_folder.h"

namespace equalux::test {
namespace {

using std::chrono::milliseconds;

// Far more than it takes, far less than for ever: the machine may be busy.
constexpr std::chrono::seconds kSoon{20};

struct Y4mPipeTest : ::testing::Test {
  Watchdog watchdog;
  TempFolder folder;
};

/// Puts a pipe's end in the place of standard input or output while it lives.
class Redirected {
 public:
  Redirected(int number, int end) : number_(number), saved_(::dup(number)) {
    ::dup2(end, number);
    ::close(end);
  }
  ~Redirected() {
    ::dup2(saved_, number_);
    ::close(saved_);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

 private:
  int number_;
  int saved_;
};

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0); }
  int read_end() const { return ends[0]; }
  int write_end() const { return ends[1]; }
  /// Until what it holds grows no more.
  void wait_until_full() const {
    int before = 0;
    for (int now = 0; now == 0 || now != before;) {
      before = now;
      std::this_thread::sleep_for(milliseconds(200));
      ASSERT_EQ(::ioctl(read_end(), FIONREAD, &now), 0);
    }
  }
  std::array<int, 2> ends{};
};

TEST_F(Y4mPipeTest, CancelEndsAReadOnASilentPipe) {
  const Pipe pipe;
  const Redirected redirected(STDIN_FILENO, pipe.read_end());
  const std::string bytes = make_stream("W4 H4", desc_of(PixelFormat::i420, 4, 4), 2) + "FRAME\nab";
  ASSERT_EQ(::write(pipe.write_end(), bytes.data(), bytes.size()),
            static_cast<ssize_t>(bytes.size()));
  const auto source = make_y4m_source("-");
  FakeSink sink;
  StopToken stop;
  sink.on_write = [&](std::size_t count) {
    if (count == 2) stop.signal = SIGINT;
  };
  const auto start = Clock::now();
  const RunResult stopped = run(*source, *make_cpu_processor({}, 1), sink, RunOptions{}, stop);
  EXPECT_LT(Clock::now() - start, kSoon);
  EXPECT_EQ(stopped.code, ExitCode::interrupted);
  EXPECT_EQ(stopped.frames_out, 2U);
  ::close(pipe.write_end());
}

TEST_F(Y4mPipeTest, StandardInputHasANameForPeople) {
  for (const bool whole : {true, false}) {
    const Pipe pipe;
    const Redirected redirected(STDIN_FILENO, pipe.read_end());
    const std::string bytes =
        whole ? make_stream("W4 H4", desc_of(PixelFormat::i420, 4, 4), 1) : "hello\n";
    ASSERT_EQ(::write(pipe.write_end(), bytes.data(), bytes.size()),
              static_cast<ssize_t>(bytes.size()));
    ::close(pipe.write_end());
    const auto source = make_y4m_source("-");
    const auto open = [&] { return source->open([](PixelFormat) { return true; }); };
    if (whole) {
      EXPECT_EQ(open().name, "standard input");
    } else {
      EXPECT_TRUE(error_of(open).second.starts_with("standard input: is not YUV4MPEG2"));
    }
  }
}

TEST_F(Y4mPipeTest, ReadsAPipeThatTrickles) {
  const Pipe pipe;
  const Redirected redirected(STDIN_FILENO, pipe.read_end());
  const std::string bytes = make_stream("W40 H20 F25:1 Ip A1:1 C444 XCOLORRANGE=LIMITED",
                                        desc_of(PixelFormat::y444, 40, 20), 3);
  std::thread writing([&] {
    for (std::size_t at = 0; at < bytes.size(); at += 777) {
      const std::size_t count = std::min<std::size_t>(777, bytes.size() - at);
      EXPECT_EQ(::write(pipe.write_end(), bytes.data() + at, count), static_cast<ssize_t>(count));
      if (at % 5 == 0) std::this_thread::sleep_for(milliseconds(1));
    }
    ::close(pipe.write_end());
  });
  const auto source = make_y4m_source("-");
  const auto sink = make_y4m_sink(folder / "out.y4m");
  EXPECT_EQ(copy(*source, *sink).frames_out, 3U);
  writing.join();
  EXPECT_TRUE(read_file(folder / "out.y4m") == bytes);
}

TEST_F(Y4mPipeTest, NamedPipesWaitForTheirOtherEnds) {
  const std::string in = folder / "in.y4m";
  const std::string out = folder / "out.y4m";
  ASSERT_EQ(::mkfifo(in.c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo(out.c_str(), 0600), 0);
  const std::string bytes = make_stream("W40 H20 F25:1 Ip A1:1 C444 XCOLORRANGE=LIMITED",
                                        desc_of(PixelFormat::y444, 40, 20), 300);
  std::thread writing([&] { std::ofstream(in, std::ios::binary) << bytes; });
  std::string got;
  std::thread reading([&] { got = read_file(out); });
  const auto source = make_y4m_source(in);
  const auto sink = make_y4m_sink(out);
  EXPECT_EQ(copy(*source, *sink).frames_out, 300U);
  writing.join();
  reading.join();
  EXPECT_TRUE(got == bytes);
}

TEST_F(Y4mPipeTest, CancelEndsTheWaitForTheOtherEndOfANamedPipe) {
  const std::string pipe = folder / "pipe.y4m";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto source = make_y4m_source(pipe);
  source->cancel();
  EXPECT_THROW((void)source->open([](PixelFormat) { return true; }), Error);
  const auto sink = make_y4m_sink(pipe);
  StreamInfo info;
  info.desc = desc_of(PixelFormat::i420, 4, 4);
  sink->cancel();
  EXPECT_THROW(sink->open(info), Error);
}

TEST_F(Y4mPipeTest, AReaderThatLeavesIsAWriteError) {
  const Pipe pipe;
  std::fflush(stdout);
  std::pair<ExitCode, std::string> error;
  {
    const Redirected redirected(STDOUT_FILENO, pipe.write_end());
    ::close(pipe.read_end());
    FakeSource source(1000);
    const auto sink = make_y4m_sink("-");
    error = error_of([&] { copy(source, *sink); });
  }
  EXPECT_EQ(error.first, ExitCode::write_failed);
  EXPECT_EQ(error.second, "-: write failed: nobody reads it any more");
}

TEST_F(Y4mPipeTest, AReaderThatStallsDoesNotHoldAStopUp) {
  const Pipe pipe;
  std::fflush(stdout);
  std::pair<ExitCode, std::string> error;
  const auto start = Clock::now();
  {
    const Redirected redirected(STDOUT_FILENO, pipe.write_end());
    FakeSource source(1'000'000);
    source.desc = small_desc(512, 512);
    const auto sink = make_y4m_sink("-");
    StopToken stop;
    std::thread later([&] {
      pipe.wait_until_full();
      stop.signal = SIGINT;
    });
    error = error_of([&] { run(source, *make_cpu_processor({}, 1), *sink, RunOptions{}, stop); });
    later.join();
  }
  EXPECT_LT(Clock::now() - start, kSoon);
  EXPECT_EQ(error.first, ExitCode::write_failed);
  EXPECT_THAT(error.second, ::testing::HasSubstr("stalls"));
  ::close(pipe.read_end());
}
}  // namespace
}  // namespace equalux::test
