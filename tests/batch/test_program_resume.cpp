#include <csignal>
#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <unistd.h>

#include "src/common/json_text.h"
#include "tests/support/long_counts.h"
#include "tests/support/program.h"

/// Batches that are killed, stopped and out of disk, and what the same command makes of them.
namespace equalux::test {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

constexpr int kFrames = 90;
constexpr int kSegment = 10;

/// All of them with EQUALUX_FULL=1, else the usual one of a test.
std::vector<std::string> containers(const std::string& usual) {
  return wants_every_count() ? std::vector<std::string>{"y4m", "mkv", "mp4"}
                             : std::vector<std::string>{usual};
}

struct ResumeTest : ::testing::Test {
  TempFolder folder;
  ProgramOptions options;
  std::string extension;
  std::string name;
  std::vector<std::string> more;  ///< options of all runs

  ResumeTest() { options.folder = folder.path(); }

  /// Makes the result that all others are held to. False where this build cannot.
  bool begin(const std::string& container) {
    extension = container;
    name = "clip." + container;
    std::filesystem::remove_all(folder.path() / "out");
    options.meanwhile = nullptr;
    folder.write("clip.y4m", dim_y4m(320, 240, kFrames));
    const ProgramResult whole = run("whole", "whole.md5");
    EXPECT_THAT(whole.exit_code, AnyOf(0, 69)) << whole.err;
    return whole.exit_code == 0;
  }
  ProgramResult run(const std::string& out, const std::string& hashes = "resumed.md5") {
    std::vector<std::string> arguments{"batch",
                                       "clip.y4m",
                                       "--out",
                                       out,
                                       "--extension",
                                       extension,
                                       "--preset",
                                       "stable",
                                       "--segment-frames",
                                       std::to_string(kSegment),
                                       "--verify=" + hashes,
                                       "--threads",
                                       "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments, options);
  }
  [[nodiscard]] nlohmann::json record() const {
    const auto json = json_or_discarded(folder.read("out/.equalux/" + name + ".json"));
    return json.is_object() ? json : nlohmann::json::object();
  }
  [[nodiscard]] bool is_done() const { return record().value("status", "") == "done"; }
  [[nodiscard]] int safe_frames() const {
    const nlohmann::json json = record();
    return json.contains("checkpoint") ? json["checkpoint"]["frames"].get<int>() : 0;
  }
  /// A run that is killed once more than so many frames are safe.
  void run_until(int frames) {
    options.meanwhile = [this, frames](int process) {
      const auto limit = std::chrono::steady_clock::now() + 10s;
      while (safe_frames() <= frames && !is_done() && std::chrono::steady_clock::now() < limit)
        std::this_thread::sleep_for(2ms);
      ::kill(process, SIGKILL);
    };
    (void)run("out");
    options.meanwhile = nullptr;
    std::this_thread::sleep_for(100ms);  // Workers die with the batch, a moment later.
  }
  /// Runs again until it is done, and holds the result to that of a run that was left alone.
  void expect_whole_in_the_end(int safe) {
    options.meanwhile = nullptr;
    const ProgramResult result = run("out");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    if (safe > 0 && safe < kFrames) {
      EXPECT_THAT(result.err, HasSubstr("goes on behind frame " + std::to_string(safe)));
    }
    const nlohmann::json report = parse_json(folder.read("out/report.json"));
    EXPECT_EQ(report.at("files").at(0).at("frames_out"), kFrames);
    EXPECT_EQ(folder.read("resumed.md5"), folder.read("whole.md5"));
    EXPECT_TRUE(folder.read("out/" + name) == folder.read("whole/" + name)) << "other bytes";
    EXPECT_THAT(folder.names(), Not(Contains("out/.equalux/" + name + ".packets")));
    for (const std::string& left : folder.names())
      EXPECT_THAT(left, Not(HasSubstr("partial")));
  }
  void stop_and_go_on(int signal, std::chrono::milliseconds after) {
    SCOPED_TRACE("signal " + std::to_string(signal) + " after " + std::to_string(after.count()) +
                 " ms, " + extension);
    std::filesystem::remove_all(folder.path() / "out");
    options.meanwhile = [&](int process) {
      std::this_thread::sleep_for(after);
      ::kill(process, signal);
    };
    const ProgramResult stopped = run("out");
    std::this_thread::sleep_for(100ms);
    EXPECT_LT(stopped.seconds, 5.9);
    if (stopped.exit_code != 0) {
      EXPECT_EQ(stopped.exit_code, 128 + signal) << stopped.err;
    }
    expect_whole_in_the_end(is_done() ? 0 : safe_frames());
  }
  /// Kills a run half way, whose filters remember something of the name `what`.
  void kill_and_go_on(const char* what) {
    ASSERT_TRUE(begin("y4m"));
    run_until(kFrames / 3);
    for (int i = 0; i < 5 && is_done(); ++i) {  // before it could be killed
      std::filesystem::remove_all(folder.path() / "out");
      run_until(kFrames / 3);
    }
    ASSERT_FALSE(is_done());
    ASSERT_GT(safe_frames(), kFrames / 3);
    EXPECT_THAT(json_text(record()["checkpoint"]["filters"]), HasSubstr(what));
    expect_whole_in_the_end(safe_frames());
  }
};

TEST_F(ResumeTest, ASignalAtAnyTimeCostsASegmentAtMost) {
  std::mt19937 random(20);
  const auto moment = [&] {
    return std::chrono::milliseconds(std::uniform_int_distribution(100, 900)(random));
  };
  for (const std::string& container : containers("mkv")) {
    if (!begin(container)) continue;
    if (!wants_every_count()) stop_and_go_on(SIGTERM, 500ms);
    for (int round = 0; wants_every_count() && round < 25; ++round) {
      for (const int signal : {SIGKILL, SIGTERM, SIGINT, SIGHUP})
        stop_and_go_on(signal, moment());
    }
  }
}

TEST_F(ResumeTest, AFileWithASurroundGoesOnToo) {
  more = {"--surround", "ignore"};
  kill_and_go_on("surround");
}

TEST_F(ResumeTest, AFileWithNoiseReductionGoesOnToo) {
  more = {"--filter", "denoise:noise=4", "--filter", "equalize"};
  kill_and_go_on("estimate");
}

TEST_F(ResumeTest, KilledAgainAndAgainItStillGetsThere) {
  for (const std::string& container : containers("mp4")) {
    if (!begin(container)) continue;
    int last = 0;
    for (int round = 0; round < (wants_every_count() ? 20 : 2) && !is_done(); ++round) {
      run_until(last);
      if (is_done()) break;
      EXPECT_GE(safe_frames(), last);
      last = safe_frames();
    }
    expect_whole_in_the_end(is_done() ? 0 : last);
  }
}

TEST_F(ResumeTest, APartialFileThatWasDamagedIsMadeAnew) {
  for (const std::string& container : containers("mp4")) {
    if (!begin(container)) continue;
    run_until(20);
    if (is_done()) continue;
    ASSERT_GT(safe_frames(), 0);
    const std::string partial = "out/clip.partial." + container;
    ASSERT_THAT(folder.names(), Contains(partial));
    std::filesystem::resize_file(folder.path() / partial, 3000);
    expect_whole_in_the_end(0);
  }
}

/// Versions before named what a resumption sets aside otherwise, as a result may be named now.
TEST_F(ResumeTest, FilesThatAnEarlierVersionSetAsideAreTakenUp) {
  if (!begin("mp4")) GTEST_SKIP() << "this build writes no mp4";
  const auto path = [this](const std::string& file) { return folder.path() / "out" / file; };
  const auto interrupt = [&] {
    std::filesystem::remove_all(folder.path() / "out");
    run_until(20);
    ASSERT_GT(safe_frames(), 20);
    ASSERT_FALSE(is_done());
    // As it is after the file was set aside and a few packets were copied.
    std::filesystem::rename(path("clip.partial.mp4"), path("clip.before.partial.mp4"));
    std::filesystem::copy_file(path("clip.before.partial.mp4"), path("clip.partial.mp4"));
    std::filesystem::resize_file(path("clip.partial.mp4"), 2000);
    folder.write("out/clip.closing.partial.mp4", "x");
  };
  interrupt();
  nlohmann::json entry = record();
  entry["version"] = 1;
  folder.write("out/.equalux/" + name + ".json", json_text(entry));
  expect_whole_in_the_end(safe_frames());

  // This version writes no such files: they are another result's.
  interrupt();
  const ProgramResult result = run("out");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(folder.names(), Contains("out/clip.before.partial.mp4"));
  EXPECT_THAT(folder.names(), Contains("out/clip.closing.partial.mp4"));
}

TEST_F(ResumeTest, AChangedInputIsNotContinued) {
  for (const std::string& container : containers("y4m")) {
    if (!begin(container)) continue;
    run_until(10);
    const bool interrupted = !is_done();
    if (interrupted) {
      ASSERT_GT(safe_frames(), 10);
    }
    folder.write("clip.y4m", dim_y4m(320, 240, kFrames + 1));
    const ProgramResult result = run("out");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, Not(HasSubstr("goes on")));
    EXPECT_THAT(result.err, HasSubstr(std::to_string(kFrames + 1) + " frames"));
    if (interrupted) {
      EXPECT_THAT(result.err, HasSubstr("clip.y4m: was interrupted, and the input has changed "
                                        "since; is made again\n"));
    }
  }
}

TEST_F(ResumeTest, ChangedOptionsAreNotContinuedAndSoItIsSaid) {
  ASSERT_TRUE(begin("y4m"));
  run_until(10);
  const bool interrupted = !is_done();
  if (interrupted) {
    ASSERT_GT(safe_frames(), 10);
  }
  more = {"--strength", "0.5"};
  const ProgramResult result = run("out");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("goes on")));
  if (interrupted) {
    EXPECT_THAT(result.err, HasSubstr("clip.y4m: was interrupted, and the options have changed "
                                      "since; is made again\n"));
  }
  // What is whole was not interrupted.
  more = {"--strength", "0.4"};
  EXPECT_THAT(run("out").err, Not(HasSubstr("interrupted")));
}

TEST_F(ResumeTest, AFolderThatVanishesIsAnErrorAtOnce) {
  for (const std::string& container : containers("mkv")) {
    if (!begin(container)) continue;
    options.meanwhile = [this](int) {
      const auto limit = std::chrono::steady_clock::now() + 10s;
      while (safe_frames() == 0 && std::chrono::steady_clock::now() < limit)
        std::this_thread::sleep_for(2ms);
      std::filesystem::rename(folder.path() / "out", folder.path() / "elsewhere");
    };
    const ProgramResult gone = run("out");
    EXPECT_THAT(gone.exit_code, AnyOf(73, 74)) << gone.err;
    EXPECT_LT(gone.seconds, 5);
    std::filesystem::remove_all(folder.path() / "out");
    std::filesystem::rename(folder.path() / "elsewhere", folder.path() / "out");
    expect_whole_in_the_end(safe_frames());
  }
}

TEST_F(ResumeTest, OutOfDiskItWaitsForMore) {
  for (const std::string& container : containers("mkv")) {
    if (!begin(container)) continue;
    const auto size = std::filesystem::file_size(folder.path() / "whole" / name);
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit tight{size / 2, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
    const ProgramResult full = run("out");
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_EQ(full.exit_code, 74) << full.err;
    EXPECT_THAT(folder.names(), Not(Contains("out/" + name)));
    const int safe = safe_frames();
    EXPECT_GT(safe, 0);
    expect_whole_in_the_end(safe);
  }
}

}  // namespace
}  // namespace equalux::test
