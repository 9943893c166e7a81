// Results that are written down: frame hashes of the sample clip, which no machine and no change
// may alter, and the report's published pictures where a folder with them is named.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/cpu/common/simd_targets.h"
#include "tests/golden/published_pictures.h"
#include "tests/support/program.h"

namespace equalux::test {
namespace {

#ifdef EQUALUX_HAVE_GSTREAMER
std::vector<std::string> frame_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string& line : lines_of(text)) {
    if (!line.starts_with('#')) lines.push_back(line);
  }
  return lines;
}

std::string file_text(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}
#endif

/// Regenerate after a change of the clip alone:
///   equalux run samples/clip.mp4 -o null --preset plain --quiet
///   --verify=tests/data/clip_fused_i420.framemd5
class GoldenTargets : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenTargets, FrameHashesOfTheSampleClip) {
#if !defined(EQUALUX_HAVE_GSTREAMER)
  GTEST_SKIP() << "built without GStreamer, which decodes the clip";
#else
  const std::filesystem::path source = EQUALUX_SOURCE_FOLDER;
  const std::vector<std::string> expected =
      frame_lines(file_text(source / "tests/data/clip_fused_i420.framemd5"));
  ASSERT_EQ(expected.size(), 225u);
  const std::vector<std::string_view> here = simd_targets();
  const bool runs = GetParam() == "best" || std::count(here.begin(), here.end(), GetParam()) != 0;
  ProgramOptions options;
  if (GetParam() != "best") options.environment = {{"EQUALUX_SIMD", GetParam()}};
  for (const char* threads : {"1", "2"}) {
    const ProgramResult result =
        run_program({"run", (source / "samples/clip.mp4").string(), "-o", "null", "--preset",
                     "plain", "--quiet", "--threads", threads, "--verify"},
                    options);
    if (!runs) {
      EXPECT_EQ(result.exit_code, 2);
      EXPECT_THAT(result.err, ::testing::HasSubstr("EQUALUX_SIMD is '" + GetParam() + "'"));
      GTEST_SKIP() << "this machine does not run " << GetParam();
    }
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(frame_lines(result.out), expected) << threads;
  }
#endif
}

INSTANTIATE_TEST_SUITE_P(Targets, GoldenTargets, ::testing::Values("best", "AVX2", "scalar"),
                         [](const auto& info) { return info.param; });

TEST(Golden, PublishedPictures) {
  expect_published_pictures("cpu");
}

}  // namespace
}  // namespace equalux::test
