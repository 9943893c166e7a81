// `run --serve ... --open`, with programs in place of xdg-open that do what a browser does.
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/program.h"

namespace equalux::test {
namespace {

using testing::HasSubstr;
using testing::Not;

#ifdef EQUALUX_HAVE_GSTREAMER
// Live: what comes as fast as it can keeps every core busy until the browser has gone.
constexpr const char* kInput = "gst:videotestsrc is-live=true";
#else
constexpr const char* kInput = "test:64x48@25";
#endif

class OpenedPage : public ::testing::Test {
 protected:
  /// Runs on a test picture, with a script as xdg-open, which gets the address as $1.
  ProgramResult run(const std::string& script) {
    folder_.write("xdg-open", "#!/bin/sh\n" + script);
    std::filesystem::permissions(folder_ / "xdg-open", std::filesystem::perms::owner_all);
    return run_with_path(folder_.path().string() + ":/usr/bin:/bin");
  }
  ProgramResult run_with_path(const std::string& path, const std::string& input = kInput) {
    ProgramOptions options;
    options.folder = folder_.path();
    options.environment = {{"PATH", path}, {"FOLDER", folder_.path().string()}};
    options.timeout_s = 50;
    return run_program({"run", input, "-o", "null", "--serve", "0", "--open"}, options);
  }

  const TempFolder folder_;
};

TEST_F(OpenedPage, EndsTheRunWhenItIsClosed) {
  if (!std::filesystem::exists("/usr/bin/curl")) GTEST_SKIP() << "curl is not installed";
  const ProgramResult result = run(R"sh(
curl -s "$1" >"$FOLDER/page"
token=$(sed -n 's/.*name="token" content="\([^"]*\)".*/\1/p' "$FOLDER/page")
here() { curl -s -m "$1" -H "Authorization: Bearer $token" "${2%%\?*}api/here"; }
here 1 "$1"
# Loaded again.
here 1 "$1"
curl -s -o /dev/null -w '%{http_code}' "$1" >"$FOLDER/again"
printf '%s' "$1" >"$FOLDER/address"
)sh");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("signal")));
  EXPECT_THAT(folder_.read("page"), HasSubstr("<title>equalux</title>"));
  EXPECT_EQ(folder_.read("again"), "401");
  EXPECT_THAT(folder_.read("address"), HasSubstr("/?once="));
  EXPECT_THAT(folder_.read("address"), Not(HasSubstr("token")));
}

TEST_F(OpenedPage, ThatDoesNotOpenIsSaid) {
  const ProgramResult result = run("exit 3\n");
  EXPECT_EQ(result.exit_code, 69);
  EXPECT_THAT(result.err, HasSubstr("--open: no browser came to the page"));
  std::filesystem::remove(folder_ / "xdg-open");
  const ProgramResult missing = run_with_path(folder_.path().string());
  EXPECT_EQ(missing.exit_code, 69);
  EXPECT_THAT(missing.err, HasSubstr("--open needs xdg-open"));
}

TEST_F(OpenedPage, IsNotOpenedForAnInputThatIsMissing) {
  folder_.write("xdg-open", "#!/bin/sh\n: >\"$FOLDER/opened\"\nsleep 1\nexit 3\n");
  std::filesystem::permissions(folder_ / "xdg-open", std::filesystem::perms::owner_all);
  const ProgramResult result =
      run_with_path(folder_.path().string() + ":/usr/bin:/bin", "camera:77");
  EXPECT_EQ(result.exit_code, 66) << result.err;
  EXPECT_THAT(result.err, HasSubstr("camera:77"));
  // What had been started goes on by itself.
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "opened"));
}

TEST_F(OpenedPage, NeedsAPage) {
  const ProgramResult result = run_program({"run", kInput, "-o", "null", "--open"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--open has no page to open"));
}

}  // namespace
}  // namespace equalux::test
