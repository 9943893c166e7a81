#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/program.h"

/// What a run holds while hours' worth of frames go through it: with EQUALUX_FULL=1, 864,000
/// frames, which are 8 hours at 30 a second, by sources that are faster.
namespace equalux::test {
namespace {

using ::testing::HasSubstr;

// Sanitizers keep what was freed for a while: their memory says nothing, and is slow to fill.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// What a process holds at one moment.
struct Holding {
  std::int64_t resident_kb = 0;
  std::int64_t descriptors = 0;
  std::int64_t threads = 0;
};

std::int64_t entries_in(const std::filesystem::path& folder) {
  std::error_code gone;
  std::int64_t count = 0;
  for (auto it = std::filesystem::directory_iterator(folder, gone);
       !gone && it != std::filesystem::directory_iterator(); it.increment(gone)) {
    ++count;
  }
  return count;
}

Holding holding_of(int process) {
  const std::filesystem::path folder = "/proc/" + std::to_string(process);
  std::ifstream pages(folder / "statm");
  std::int64_t all = 0;
  std::int64_t resident = 0;
  pages >> all >> resident;
  return {resident * ::sysconf(_SC_PAGESIZE) / 1024, entries_in(folder / "fd"),
          entries_in(folder / "task")};
}

/// What was held at all times in a part of the samples, from tenth to tenth: the least of each,
/// which passing needs do not raise, and a leak does.
Holding always_held(const std::vector<Holding>& samples, std::size_t from, std::size_t to) {
  const std::size_t begin = samples.size() * from / 10;
  Holding least = samples[begin];
  for (std::size_t i = begin; i < samples.size() * to / 10; ++i) {
    least.resident_kb = std::min(least.resident_kb, samples[i].resident_kb);
    least.descriptors = std::min(least.descriptors, samples[i].descriptors);
    least.threads = std::min(least.threads, samples[i].threads);
  }
  return least;
}

class LongRun : public ::testing::Test {
 protected:
  LongRun() { options_.folder = folder_.path(); }

  /// Runs the program and looks at it all the while.
  ProgramResult run(const std::vector<std::string>& arguments, std::chrono::milliseconds period) {
    options_.timeout_s = 3000;
    options_.meanwhile = [this, period](int process) {
      for (Holding now = holding_of(process); now.resident_kb > 0; now = holding_of(process)) {
        samples_.push_back(now);
        std::this_thread::sleep_for(period);
      }
    };
    return run_program(arguments, options_);
  }
  /// Takes off the samples of a program that starts, which has not all of its threads yet.
  void leave_out_start() {
    const Holding usual = always_held(samples_, 5, 9);
    const auto begun = [&](const Holding& now) { return now.threads >= usual.threads; };
    samples_.erase(samples_.begin(), std::find_if(samples_.begin(), samples_.end(), begun));
  }
  /// The first third is warm-up: pools, plugins and the allocator's arenas. The last tenth has the
  /// end of the process in it, which touches what was never used.
  void expect_no_growth(std::int64_t slack_kb) {
    ASSERT_GT(samples_.size(), 30U);
    leave_out_start();
    ASSERT_GT(samples_.size(), 30U);
    const Holding before = always_held(samples_, 3, 6);
    const Holding after = always_held(samples_, 6, 9);
    std::printf(
        "resident %lld kB, then %lld; descriptors %lld, then %lld; threads %lld, then %lld\n",
        static_cast<long long>(before.resident_kb), static_cast<long long>(after.resident_kb),
        static_cast<long long>(before.descriptors), static_cast<long long>(after.descriptors),
        static_cast<long long>(before.threads), static_cast<long long>(after.threads));
    if (!kSanitized) {
      EXPECT_LE(after.resident_kb, before.resident_kb + slack_kb);
    }
    EXPECT_LE(after.descriptors, before.descriptors);
    EXPECT_LE(after.threads, before.threads);
  }
  static bool is_full() { return !kSanitized && std::getenv("EQUALUX_FULL") != nullptr; }

  TemporaryFolder folder_;
  ProgramOptions options_;
  std::vector<Holding> samples_;
};

TEST_F(LongRun, AnInputThatIsLostAgainAndAgainCostsNothing) {
  const std::string frames = is_full() ? "864000" : "1600";
  const std::string until_lost = is_full() ? "8000" : "250";
  const std::string input =
      "gst:videotestsrc is-live=true pattern=ball ! "
      "video/x-raw,format=I420,width=64,height=48,framerate=4000/1 ! identity error-after=" +
      until_lost;
  const ProgramResult result =
      run({"run", input, "-o", "null", "--frames", frames, "--threads", "1"},
          std::chrono::milliseconds(is_full() ? 100 : 5));
  ASSERT_EQ(result.exit_code, 0) << result.err.substr(0, 2000);
  EXPECT_THAT(result.err, HasSubstr(" " + frames + " out, "));
  // Losing it is what is tested: as often as its frames say, but for those that were dropped.
  const std::size_t at = result.err.rfind(" reconnected");
  ASSERT_NE(at, std::string::npos);
  const std::size_t number = result.err.rfind(' ', at - 1) + 1;
  EXPECT_GE(std::stoi(result.err.substr(number)), is_full() ? 100 : 5);
  std::printf("%s", result.err.substr(result.err.rfind("frames: ")).c_str());
  expect_no_growth(is_full() ? 1'024 : 2'048);
}

TEST_F(LongRun, RecordingsThatAreSplitAgainAndAgainCostNothing) {
  const std::string frames = is_full() ? "864000" : "9000";
  const ProgramResult result =
      run({"run", "test:64x48@30", "-o", "null", "--frames", frames, "--threads", "1", "--record",
           "rec.mkv", "--record-split", is_full() ? "60s" : "5s"},
          std::chrono::milliseconds(is_full() ? 100 : 5));
  ASSERT_EQ(result.exit_code, 0) << result.err.substr(0, 2000);
  EXPECT_THAT(result.err, HasSubstr("recorded: " + frames + " frames into " +
                                    (is_full() ? "480" : "60") + " files, 0 dropped"));
  // Two encoders at a time, or one: where a split falls, the allocator holds more.
  expect_no_growth(4'096);
}

}  // namespace
}  // namespace equalux::test
