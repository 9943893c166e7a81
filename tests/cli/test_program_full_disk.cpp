#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/small_disk.h"
#include "tests/support/program.h"

/// Disks that are full: outputs on a tmpfs of 200 KiB, and /dev/full.
namespace equalux::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::size_t kSmallKb = 200;
constexpr std::size_t kAmpleKb = 65536;
constexpr int kFrames = 40;

/// Frames of noise, which no encoder makes small.
std::string noise_y4m(int width, int height, int frames) {
  std::string text = dim_y4m(width, height, frames);
  std::mt19937 random(5);
  const std::size_t header = text.find('\n') + 1;
  const std::size_t frame = (text.size() - header) / static_cast<std::size_t>(frames);
  constexpr std::size_t kMark = 6;  // FRAME and a newline
  for (std::size_t at = header; at < text.size(); at += frame) {
    std::generate_n(text.begin() + static_cast<std::ptrdiff_t>(at + kMark), frame - kMark,
                    [&] { return static_cast<char>(16 + random() % 200); });
  }
  return text;
}

std::vector<std::string> files_on(const fs::path& disk) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(disk)) {
    if (entry.is_regular_file()) files.push_back(entry.path().lexically_relative(disk));
  }
  return files;
}

struct FullDiskTest : ::testing::Test {
  SmallDisk disk{kSmallKb};  // before there are threads
  TempFolder folder;
  ProgramOptions options;

  void SetUp() override {
    if (!disk.missing().empty()) GTEST_SKIP() << disk.missing();
    options.folder = folder.path();
    folder.write("in.y4m", noise_y4m(320, 240, kFrames));
    folder.write("in.ppm", dim_ppm(640, 480));
  }
  [[nodiscard]] std::string on_disk(const std::string& name) const {
    return (disk.path() / name).string();
  }
  ProgramResult run(const std::vector<std::string>& arguments) {
    return run_program(arguments, options);
  }
  /// 74 soon, one line that names the output, and nothing that looks like a result.
  void expect_write_error(const ProgramResult& result, const std::string& name) {
    SCOPED_TRACE(name + ": " + result.err);
    EXPECT_EQ(result.exit_code, 74);
    EXPECT_LT(result.seconds, 5);
    ASSERT_THAT(lines_of(result.err), SizeIs(1));
    EXPECT_THAT(result.err, HasSubstr(name));
  }
};

/// Whether this build has no part that writes such an output, which it must say: any other reason
/// is a failure.
bool left_out(const ProgramResult& result) {
  if (result.exit_code != 69) return false;
  EXPECT_THAT(result.err, HasSubstr("this build"));
  return true;
}

TEST_F(FullDiskTest, EveryOutputOfRunIsAWriteErrorThatLeavesNothing) {
  for (const std::string name : {"out.y4m", "out.mp4", "out.mkv", "out%03d.ppm"}) {
    const ProgramResult result = run({"run", "in.y4m", "-o", on_disk(name), "--quiet"});
    if (left_out(result)) continue;
    expect_write_error(result, name.substr(0, 3));
    EXPECT_THAT(files_on(disk.path()), IsEmpty()) << name;
  }
}

TEST_F(FullDiskTest, AStillToo) {
  for (const std::string name : {"out.ppm", "out.png"}) {
    disk.resize(name == "out.ppm" ? kSmallKb : 4);
    const ProgramResult result = run({"image", "in.ppm", on_disk(name), "--quiet"});
    if (left_out(result)) continue;
    expect_write_error(result, name);
    EXPECT_THAT(files_on(disk.path()), IsEmpty()) << name;
  }
}

/// What is written beside the frames.
TEST_F(FullDiskTest, TimingsHashesAndCurvesToo) {
  disk.resize(4);
  std::ofstream(disk.path() / "filler") << std::string(4096, 'x');
  for (const auto& [option, name] : {std::pair<std::string, std::string>{"--timings", "t.jsonl"},
                                     {"--verify", "v.md5"},
                                     {"--curve-to", "c.json"}}) {
    std::vector<std::string> arguments{"run",     "in.y4m",   "-o",    "null",
                                       "--quiet", "--preset", "stable"};
    arguments.push_back(option + "=" + on_disk(name));
    const ProgramResult result = run(arguments);
    expect_write_error(result, name);
    fs::remove(on_disk(name));
  }
}

TEST_F(FullDiskTest, ABatchWaitsForMoreRoom) {
  for (const std::string extension : {"y4m", "mp4", "mkv"}) {
    SCOPED_TRACE(extension);
    disk.resize(kSmallKb);
    const std::vector<std::string> arguments{"batch",  "in.y4m", "--extension",      extension,
                                             "--jobs", "1",      "--segment-frames", "1"};
    const auto into = [&](const std::string& out) {
      std::vector<std::string> all = arguments;
      all.insert(all.end(), {"--out", out});
      return run(all);
    };
    const ProgramResult whole = into("whole");
    if (left_out(whole)) continue;
    ASSERT_EQ(whole.exit_code, 0) << whole.err;
    const std::string name = "in." + extension;
    ASSERT_GT(fs::file_size(folder.path() / "whole" / name), kSmallKb * 1024);

    const ProgramResult full = into(on_disk("out"));
    EXPECT_EQ(full.exit_code, 74) << full.err;
    EXPECT_LT(full.seconds, 5);
    EXPECT_FALSE(fs::exists(disk.path() / "out" / name));

    disk.resize(kAmpleKb);
    const ProgramResult again = into(on_disk("out"));
    EXPECT_EQ(again.exit_code, 0) << again.err;
    const std::string made = disk.path() / "out" / name;
    EXPECT_TRUE(fs::exists(made));
    fs::copy_file(made, folder.path() / "again", fs::copy_options::overwrite_existing);
    EXPECT_TRUE(folder.read("again") == folder.read("whole/" + name)) << "other bytes";
    fs::remove_all(disk.path() / "out");
    fs::remove_all(folder.path() / "whole");
  }
}

struct StandardOutputIsFull : ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(StandardOutputIsFull, IsAWriteErrorAtOnce) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const TempFolder folder;
  folder.write("in.y4m", dim_y4m(320, 240, kFrames));
  fs::create_symlink("/dev/full", folder.path() / "full.y4m");
  ProgramOptions options;
  options.folder = folder.path();
  options.output = "/dev/full";
  const ProgramResult result = run_program(GetParam(), options);
  EXPECT_EQ(result.exit_code, 74) << result.err;
  EXPECT_LT(result.seconds, 5);
  EXPECT_THAT(lines_of(result.err), SizeIs(1)) << result.err;
}

using Arguments = std::vector<std::string>;
INSTANTIATE_TEST_SUITE_P(
    Commands, StandardOutputIsFull,
    ::testing::Values(Arguments{"run", "in.y4m", "-o", "-", "--quiet"},
                      Arguments{"run", "in.y4m", "-o", "full.y4m", "--quiet"},
                      Arguments{"run", "in.y4m", "-o", "null", "--quiet", "--verify"},
                      Arguments{"run", "in.y4m", "-o", "null", "--quiet", "--timings", "-"},
                      Arguments{"devices"}, Arguments{"devices", "--json"}, Arguments{"--help"},
                      Arguments{"run", "--help"}, Arguments{"run", "--list-encoders"},
                      Arguments{"--version"}, Arguments{"doctor"}));

}  // namespace
}  // namespace equalux::test
