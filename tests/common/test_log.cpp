#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/common/log.h"
#include "src/common/status_line.h"

namespace equalux::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

using Lines = std::vector<std::pair<LogLevel, std::string>>;

/// The one logger's lines, in place of stderr.
class LogTest : public ::testing::Test {
 protected:
  LogTest() {
    logger().send_to(
        [this](LogLevel level, std::string_view line) { lines_.emplace_back(level, line); });
  }
  ~LogTest() override {
    logger().send_to(nullptr);
    logger().set_level(LogLevel::warn);
  }

  Lines lines_;
};

TEST(StatusLine, MakesRoomForLinesOfTheLog) {
  // Another process, whose log goes to stderr.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto say = [] {
    show_status("frame 1");
    show_status("frame 20");
    logger().warn("left out");
    show_status("");
    logger().warn("recorded");
    std::exit(0);
  };
  EXPECT_EXIT(say(), ::testing::ExitedWithCode(0),
              HasSubstr("\r\x1b[Kframe 1\r\x1b[Kframe 20\r\x1b[Kequalux: left out\nframe 20"
                        "\r\x1b[Kequalux: recorded\n"));
}

TEST_F(LogTest, WhatATerminalWouldObeyIsShown) {
  EXPECT_EQ(printable("a\x1b[31mb\tc\nd\x7f\r"), "a\\x1b[31mb\\tc\\nd\\x7f\\x0d");
  EXPECT_EQ(printable("gr\u00fc\u00df \u4e2d \u0085"), "gr\u00fc\u00df \u4e2d \\x85");
  logger().set_level(LogLevel::warn);
  logger().warn("{}: left out", "e\x1b]0;title\x07.mp4");
  EXPECT_THAT(lines_, ElementsAre(Pair(LogLevel::warn, "e\\x1b]0;title\\x07.mp4: left out")));
}

TEST(Counted, OneIsNoMany) {
  EXPECT_EQ(counted(0, "frame"), "0 frames");
  EXPECT_EQ(counted(1, "frame"), "1 frame");
  EXPECT_EQ(counted(2, "other file"), "2 other files");
}

TEST_F(LogTest, LinesAreFormattedAndHaveTheirLevel) {
  logger().set_level(LogLevel::trace);
  const std::string name = "in.mp4";
  logger().debug("{}: {} frames", name, 25);
  logger().info("{:.2f} s", 1.005 + 1);
  logger().warn("{{}} {}", "is no gap");
  logger().error("last");
  EXPECT_THAT(
      lines_,
      ElementsAre(Pair(LogLevel::debug, "in.mp4: 25 frames"), Pair(LogLevel::info, "2.00 s"),
                  Pair(LogLevel::warn, "{} is no gap"), Pair(LogLevel::error, "last")));
}

TEST_F(LogTest, WhatIsHiddenIsInNoLine) {
  logger().hide("pass", "+");
  logger().hide("password", "***");
  logger().hide("password", "again");
  logger().hide("", "nothing");
  logger().warn("{} and {}", "password1", "passport");
  EXPECT_THAT(lines_, ElementsAre(Pair(LogLevel::warn, "***1 and +port")));
  EXPECT_EQ(logger().without_secrets("a password"), "a ***");
}

TEST_F(LogTest, ALineThatIsWrittenIsNotFormatted) {
  logger().write(LogLevel::warn, "a file called {0} and {nobody}");
  EXPECT_THAT(lines_, ElementsAre(Pair(LogLevel::warn, "a file called {0} and {nobody}")));
}

TEST_F(LogTest, LevelsBelowTheOneThatIsSetAreLost) {
  const std::pair<const char*, std::size_t> cases[] = {{"trace", 5}, {"debug", 4}, {"info", 3},
                                                       {"warn", 2},  {"error", 1}, {"off", 0}};
  for (const auto& [name, written] : cases) {
    SCOPED_TRACE(name);
    lines_.clear();
    set_up_logging(name);
    std::size_t level = 0;
    for (const LogLevel each :
         {LogLevel::trace, LogLevel::debug, LogLevel::info, LogLevel::warn, LogLevel::error}) {
      EXPECT_EQ(logger().writes(each), level++ >= 5 - written);
      logger().write(each, "line");
    }
    EXPECT_EQ(lines_.size(), written);
  }
}

TEST_F(LogTest, WithoutASinkLinesAreLost) {
  logger().send_to(nullptr);
  logger().error("nobody reads this");
  EXPECT_THAT(lines_, ElementsAre());
}

TEST_F(LogTest, ASinkThatFailsIsNobodysError) {
  logger().send_to([this](LogLevel level, std::string_view line) {
    if (line == "lost") throw std::bad_alloc();
    lines_.emplace_back(level, line);
  });
  logger().error("lost");
  logger().error("kept");
  EXPECT_THAT(lines_, ElementsAre(Pair(LogLevel::error, "kept")));
}

TEST_F(LogTest, AnotherLevelIsRefused) {
  try {
    set_up_logging("loud");
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("'loud', must be trace, debug, info, warn, error or off"));
  }
}

}  // namespace
}  // namespace equalux::test
