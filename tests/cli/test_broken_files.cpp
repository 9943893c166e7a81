#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "src/common/json_text.h"
#include "tests/support/long_counts.h"
#include "tests/support/program.h"

/// Inputs that were cut off, overwritten or had bits flipped: whatever they are, every one ends in
/// a state that the report names, within seconds, and the program lives.
namespace equalux::test {
namespace {

using ::testing::AnyOf;

/// A file as a bad disk, a broken transfer or a crashed recorder leaves it.
std::string broken(std::string bytes, std::mt19937& random) {
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  switch (below(5)) {
    case 0:  // cut off
      bytes.resize(below(bytes.size()));
      break;
    case 1:  // a few bits of the head
      for (int i = 0; i < 8; ++i)
        bytes[below(std::min<std::size_t>(bytes.size(), 600))] ^= static_cast<char>(1U << below(8));
      break;
    case 2:  // bits anywhere
      for (std::size_t i = 0; i < 1 + bytes.size() / 2000; ++i)
        bytes[below(bytes.size())] ^= static_cast<char>(1U << below(8));
      break;
    case 3: {  // a hole
      const std::size_t from = below(bytes.size());
      const std::size_t size = std::min(bytes.size() - from, below(4096) + 1);
      std::fill_n(bytes.begin() + static_cast<long>(from), size, '\0');
      break;
    }
    default:  // a part is missing
      bytes.erase(below(bytes.size()), below(2000) + 1);
      break;
  }
  return bytes;
}

struct BrokenFiles : ::testing::Test {
  TempFolder folder;
  ProgramOptions options;
  std::mt19937 random{1234};

  BrokenFiles() { options.folder = folder.path(); }

  /// Fills a folder with broken forms of a file.
  void break_file(const std::string& name, int count) {
    const std::string whole = folder.read(name);
    ASSERT_FALSE(whole.empty()) << name;
    const std::filesystem::path path(name);
    for (int i = 0; i < count; ++i) {
      folder.write("set/" + path.stem().string() + std::to_string(i) + path.extension().string(),
                   broken(whole, random));
    }
  }

  void expect_that_every_one_ends() {
    options.timeout_s = wants_every_count() ? 3600 : 120;
    const ProgramResult result = run_program({"batch", "set", "--out", "out", "--preset", "stable",
                                              "--jobs", "2", "--quiet", "--log-level", "off"},
                                             options);
    EXPECT_THAT(result.exit_code, AnyOf(0, 3, 65)) << result.err;
    const auto report = parse_json(folder.read("out/report.json"));
    std::map<std::string, int> statuses;
    for (const auto& file : report.at("files")) {
      const std::string status = file.at("status");
      ++statuses[status];
      EXPECT_THAT(status, AnyOf("done", "partial", "failed")) << json_text(file, 1);
      // A worker that crashed or was killed would have failed with 69.
      EXPECT_THAT(file.at("exit_code").get<int>(), AnyOf(0, 3, 2, 65)) << json_text(file, 1);
      EXPECT_LT(file.at("elapsed_s").get<double>(), 30) << json_text(file, 1);
    }
    for (const auto& [status, count] : statuses)
      RecordProperty(status, count);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path() / "out"))
      EXPECT_EQ(entry.path().string().find(".partial."), std::string::npos) << entry.path();
  }
};

TEST_F(BrokenFiles, RawVideo) {
  folder.write("raw.y4m", dim_y4m(64, 48, 8));
  break_file("raw.y4m", wants_every_count() ? 500 : 10);
  expect_that_every_one_ends();
}

TEST_F(BrokenFiles, Containers) {
  if (std::system("command -v ffmpeg >/dev/null") != 0) GTEST_SKIP() << "ffmpeg is not installed";
  for (const auto& [name, codec] : std::vector<std::pair<std::string, std::string>>{
           {"a.mp4", "libx264 -preset ultrafast -pix_fmt yuv420p"},
           {"b.mkv", "libx264 -preset ultrafast -pix_fmt yuv420p"},
           {"c.avi", "mjpeg -pix_fmt yuvj420p"}}) {
    const std::string made =
        "ffmpeg -v error -f lavfi -i testsrc2=size=128x96:rate=25:duration=1 -f lavfi -i "
        "sine=duration=1 -c:v " +
        codec + " '" + folder / name + "'";
    ASSERT_EQ(std::system(made.c_str()), 0);
    break_file(name, wants_every_count() ? 500 : 6);
  }
  expect_that_every_one_ends();
}

TEST_F(BrokenFiles, Stills) {
  folder.write("whole.ppm", dim_ppm(64, 48));
  const auto made = [&](const std::string& name) {
    return run_program({"image", "whole.ppm", name, "--quiet"}, options).exit_code;
  };
  int tried = 0;
  for (const std::string& extension :
       {std::string("ppm"), std::string("png"), std::string("jpg")}) {
    if (made("still." + extension) != 0) continue;  // A build without OpenCV.
    const std::string whole = folder.read("still." + extension);
    for (int i = 0; i < (wants_every_count() ? 170 : 3); ++i) {
      folder.write("in." + extension, broken(whole, random));
      const ProgramResult result =
          run_program({"image", "in." + extension, "out." + extension, "-y", "--quiet"}, options);
      EXPECT_THAT(result.exit_code, AnyOf(0, 2, 65, 66)) << extension << " " << i << result.err;
      EXPECT_LT(result.seconds, 10);
      ++tried;
    }
  }
  EXPECT_GT(tried, 0);
}

}  // namespace
}  // namespace equalux::test
