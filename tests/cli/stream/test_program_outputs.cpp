#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tests/support/program_test.h"

/// What becomes of files that stand where an output is to be.
namespace equalux::test {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kOld = "somebody's work";

class Outputs : public ProgramTest {
 protected:
  Outputs() {
    folder_.write("in.y4m", dim_y4m(32, 16, 3));
    folder_.write("in.ppm", dim_ppm(32, 16));
  }
  /// Refused in one line that names `file` and -y, and nothing changed.
  void expect_kept(const std::vector<std::string>& arguments, const std::string& file) {
    const std::vector<std::string> before = folder_.names();
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 73) << result.err;
    EXPECT_THAT(lines_of(result.err), SizeIs(1));
    EXPECT_THAT(result.err, HasSubstr("output " + file + " is there already"));
    EXPECT_THAT(result.err, HasSubstr("-y overwrites it"));
    EXPECT_EQ(folder_.read(file), kOld);
    EXPECT_EQ(folder_.names(), before);
  }
  void expect_replaced(const std::vector<std::string>& arguments, const std::string& file) {
    folder_.write(file, kOld);
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(folder_.read(file), kOld);
  }
};

TEST_F(Outputs, StayUnlessTheyMayBeOverwritten) {
  for (const auto& [arguments, file] :
       {std::pair<std::vector<std::string>, std::string>{{"run", "in.y4m", "-o", "a.y4m"}, "a.y4m"},
        {{"run", "in.y4m", "-o", "f%02d.ppm"}, "f07.ppm"},
        {{"image", "in.ppm", "b.ppm"}, "b.ppm"}}) {
    folder_.write(file, kOld);
    expect_kept(arguments, file);
    std::vector<std::string> never = arguments;
    never.insert(never.end(), {"-y", "-n"});  // The last one holds.
    expect_kept(never, file);
  }
  expect_replaced({"run", "in.y4m", "-y", "-o", "a.y4m"}, "a.y4m");
  expect_replaced({"run", "in.y4m", "-o", "f%02d.ppm", "-n", "--overwrite"}, "f00.ppm");
  folder_.write("always.toml", "overwrite = true\n");
  expect_replaced({"image", "in.ppm", "b.ppm", "--config", "always.toml"}, "b.ppm");
  folder_.write("b.ppm", kOld);
  expect_kept({"image", "in.ppm", "b.ppm", "--config", "always.toml", "-n"}, "b.ppm");
}

TEST_F(Outputs, LinksAreFilesToo) {
  folder_.write("target.y4m", kOld);
  std::filesystem::create_symlink("target.y4m", folder_ / "link.y4m");
  expect_kept({"run", "in.y4m", "-o", "link.y4m"}, "link.y4m");
  std::filesystem::create_symlink("nowhere", folder_ / "broken.y4m");
  EXPECT_EQ(run({"run", "in.y4m", "-o", "broken.y4m"}).exit_code, 73);
}

TEST_F(Outputs, DevicesAreWrittenTo) {
  std::filesystem::create_symlink("/dev/null", folder_ / "null.y4m");
  const ProgramResult result = run({"run", "in.y4m", "-n", "-o", "null.y4m"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(Outputs, ReportsReplaceOlderOnes) {
  folder_.write("times.jsonl", kOld);
  folder_.write("hashes", kOld);
  folder_.write("curve.json", kOld);
  const ProgramResult result = run({"run", "in.y4m", "-o", "null", "--timings", "times.jsonl",
                                    "--verify=hashes", "--curve-to", "curve.json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* name : {"times.jsonl", "hashes", "curve.json"})
    EXPECT_NE(folder_.read(name), kOld) << name;
}

/// script(1) gives the program a terminal.
TEST_F(Outputs, OnATerminalItIsAsked) {
  folder_.write("a.y4m", kOld);
  const auto answered = [&](const std::string& answer) {
    const std::string command = "cd '" + folder_.path().string() + "' && echo " + answer +
                                " | script -qec '" EQUALUX_PROGRAM_FOLDER
                                "/equalux run in.y4m -o a.y4m --quiet' /dev/null > said";
    const int status = std::system(command.c_str());
    EXPECT_THAT(folder_.read("said"), HasSubstr("a.y4m is there already, overwrite it? [y/N]"));
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(answered("n"), 73);
  EXPECT_EQ(folder_.read("a.y4m"), kOld);
  EXPECT_EQ(answered("y"), 0);
  EXPECT_NE(folder_.read("a.y4m"), kOld);
}

}  // namespace
}  // namespace equalux::test
