#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/long_counts.h"
#include "tests/support/program.h"

/// The program where malloc fails: at one call, or from one on. Video of containers is left out:
/// GLib ends a process that is short of memory.
namespace equalux::test {
namespace {

using ::testing::AnyOf;
using ::testing::SizeIs;
using ::testing::StartsWith;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

struct Command {
  const char* name;
  std::vector<std::string> arguments;
  std::string result;  ///< a file; empty = stdout
};

struct ShortMemory : ::testing::TestWithParam<Command> {
  TempFolder folder;
  ProgramOptions options;

  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "sanitizers have a malloc of their own";
    options.folder = folder.path();
    options.input = dim_y4m(64, 48, 5);
    folder.write("in.ppm", dim_ppm(64, 48));
    folder.write("in.y4m", options.input);
  }
  ProgramResult run(const std::string& fails_at) {
    options.environment = {{"LD_PRELOAD", EQUALUX_SHORT_MALLOC},
                           {"EQUALUX_MALLOC_COUNT", folder / "count"}};
    if (!fails_at.empty()) options.environment.emplace_back("EQUALUX_MALLOC_FAILS", fails_at);
    if (!GetParam().result.empty()) std::filesystem::remove(folder / GetParam().result);
    return run_program(GetParam().arguments, options);
  }
  [[nodiscard]] std::string result_of(const ProgramResult& result) const {
    return GetParam().result.empty() ? result.out : folder.read(GetParam().result);
  }
  [[nodiscard]] bool has_result(const ProgramResult& result) const {
    return GetParam().result.empty() ? !result.out.empty()
                                     : std::filesystem::exists(folder / GetParam().result);
  }
};

TEST_P(ShortMemory, IsOneLineAndACodeAndNoResultOrTheRightOne) {
  const ProgramResult sound = run("");
  ASSERT_EQ(sound.exit_code, 0) << sound.err;
  const std::string whole = result_of(sound);
  const int calls = std::stoi(folder.read("count"));
  ASSERT_GT(calls, 100);
  const int step = std::max(1, calls / (wants_every_count() ? 300 : 8));
  int failed = 0;
  for (const char* lasting : {"", "+"}) {
    for (int at = step / 2; at < calls; at += step) {
      const ProgramResult result = run(std::to_string(at) + lasting);
      SCOPED_TRACE(std::to_string(at) + lasting + " of " + std::to_string(calls) + ": " +
                   result.err);
      EXPECT_LT(result.seconds, 5);
      if (result.exit_code == 0) {
        EXPECT_TRUE(result_of(result) == whole) << "a wrong result";
        continue;
      }
      ++failed;
      EXPECT_THAT(result.exit_code, AnyOf(3, 65, 66, 69, 73, 74));
      EXPECT_THAT(lines_of(result.err), SizeIs(1));
      EXPECT_THAT(result.err, StartsWith("equalux: "));
      if (GetParam().result.empty()) {
        EXPECT_THAT(whole, StartsWith(result_of(result)));
      } else if (result.exit_code != 3) {
        EXPECT_FALSE(has_result(result));
      }
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(failed, 8);
  RecordProperty("failed", failed);
}

std::string name_of(const ::testing::TestParamInfo<Command>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(
    Commands, ShortMemory,
    ::testing::Values(
        Command{"pipe",
                {"run", "-", "-o", "-", "--quiet", "--preset", "stable", "--backend", "cpu"},
                ""},
        Command{
            "file", {"run", "in.y4m", "-o", "out.y4m", "--quiet", "--backend", "cpu"}, "out.y4m"},
        Command{"image", {"image", "in.ppm", "out.ppm", "--quiet", "--backend", "cpu"}, "out.ppm"}),
    name_of);

}  // namespace
}  // namespace equalux::test
