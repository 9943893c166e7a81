#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/long_counts.h"
#include "tests/support/process_holding.h"
#include "tests/support/program_test.h"

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

class LongRun : public ProgramTest {
 protected:
  /// Runs the program and looks at it all the while.
  ProgramResult run(const std::vector<std::string>& arguments, std::chrono::milliseconds period) {
    options_.timeout_s = 3000;
    options_.meanwhile = [this, period](int process) {
      for (Holding now = holding_of(process); now.memory_kb > 0; now = holding_of(process)) {
        samples_.push_back(now);
        std::this_thread::sleep_for(period);
      }
    };
    return run_program(arguments, options_);
  }
  void expect_no_growth(std::int64_t slack_kb) {
    const auto held = held_over_time(samples_);
    ASSERT_TRUE(held) << samples_.size() << " samples are too few";
    std::printf("%s\n", text_of(*held).c_str());
    if (!kSanitized) {
      EXPECT_LE(held->after.memory_kb, held->before.memory_kb + slack_kb);
    }
    EXPECT_LE(held->after.descriptors, held->before.descriptors);
    EXPECT_LE(held->after.threads, held->before.threads);
  }
  static bool is_full() { return !kSanitized && wants_every_count(); }

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
