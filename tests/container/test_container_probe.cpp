#include <filesystem>
#include <fstream>
#include <random>

#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/container/input/probe.h"
#include "pipelines/container/input/shortfall.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/sample_media.h"

namespace equalux {
namespace {

using test::TempFolder;
using testing::AllOf;
using testing::HasSubstr;

class ContainerProbe : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::have_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not installed";
  }
  TempFolder folder_;
};

/// The code and the line that probing ends with.
std::pair<ExitCode, std::string> failure_of(const std::string& path) {
  try {
    (void)probe_container(path);
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {ExitCode::done, "opened"};
}

TEST_F(ContainerProbe, TellsWhatAMatroskaFileHolds) {
  const std::string path = folder_ / "rich.mkv";
  test::make_rich_mkv(folder_, path);
  const ContainerInfo info = probe_container(path);
  EXPECT_THAT(info.format, HasSubstr("matroska"));
  EXPECT_EQ(info.video_stream, 0);
  EXPECT_EQ(info.video_codec, "h264");
  ASSERT_TRUE(info.duration_ns);
  EXPECT_NEAR(static_cast<double>(*info.duration_ns) / 1e9, 3.2, 0.1);
}

TEST_F(ContainerProbe, TellsFramesRateAndStartOfAnMp4) {
  const std::string path = folder_ / "late.mp4";
  test::make_rich_mp4(folder_, path);
  const ContainerInfo info = probe_container(path);
  EXPECT_EQ(info.video_frames, 90U);
  EXPECT_EQ(info.average_frame_rate, (Rational{30, 1}));
  EXPECT_NEAR(static_cast<double>(info.video_start_ns) / 1e9, 0.023, 0.001);
}

TEST_F(ContainerProbe, TellsTheTransfer) {
  const std::string path = folder_ / "hdr.mkv";
  test::make_clip(path,
                  "-map 0:v -c:v libx265 -x265-params log-level=none -pix_fmt yuv420p10le "
                  "-color_trc smpte2084 -color_primaries bt2020 -colorspace bt2020nc");
  const ContainerInfo info = probe_container(path);
  EXPECT_EQ(info.transfer, "smpte2084");
}

TEST_F(ContainerProbe, PassesOverCoverArtInFrontOfTheVideo) {
  const std::string song = folder_ / "song.mp4";
  test::ffmpeg(
      "-f lavfi -i color=red:s=32x32:d=0.04 -f lavfi -i sine=d=1 -map 0 -map 1 -c:v mjpeg "
      "-disposition:v attached_pic '" +
      song + "'");
  const auto [code, line] = failure_of(song);
  EXPECT_EQ(code, ExitCode::bad_input);
  EXPECT_THAT(line, AllOf(HasSubstr("1 audio stream"), HasSubstr("1 cover picture")));
}

TEST_F(ContainerProbe, NamesWhatIsNoVideo) {
  EXPECT_EQ(failure_of(folder_ / "missing.mp4").first, ExitCode::no_input);
  EXPECT_EQ(failure_of(std::filesystem::path(folder_ / "x").parent_path()).first,
            ExitCode::no_input);
  EXPECT_EQ(failure_of("/dev/null").first, ExitCode::bad_input);

  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  };
  EXPECT_THAT(failure_of(write("empty.mp4", "")).second, HasSubstr("is empty"));
  EXPECT_EQ(failure_of(write("text.txt", "only words\n")).first, ExitCode::bad_input);
  std::mt19937 random(1);
  std::string noise(100'000, ' ');
  for (char& c : noise)
    c = static_cast<char>(random());
  EXPECT_EQ(failure_of(write("noise.mp4", noise)).first, ExitCode::bad_input);

  test::make_clip(folder_ / "tone.m4a", "-map 1:a -c:a aac");
  EXPECT_THAT(failure_of(folder_ / "tone.m4a").second,
              AllOf(HasSubstr("holds no video"), HasSubstr("1 audio stream (aac)")));
  for (const char* name : {"still.png", "still.jpg"}) {
    test::make_clip(folder_ / name, "-map 0:v -frames:v 1");
    const auto [code, line] = failure_of(folder_ / name);
    EXPECT_EQ(code, ExitCode::bad_input);
    EXPECT_THAT(line, HasSubstr("still image"));
  }
}

TEST_F(ContainerProbe, OpensNamesThatLookLikeUrlsAndPatterns) {
  for (const char* name : {"http:clip.mp4", "clip%03d.mp4", "-clip.mp4", "cl ip \xC3\xA4.mp4"}) {
    test::make_clip(folder_ / "plain.mp4", "-map 0:v -frames:v 2 -c:v libx264");
    std::filesystem::rename(folder_ / "plain.mp4", folder_ / name);
    EXPECT_EQ(probe_container(folder_ / name).video_frames, 2U) << name;
  }
}

/// Damages bytes, in the head mostly, and sometimes the length.
std::string mutate(std::string bytes, std::mt19937& random) {
  const auto below = [&](std::size_t limit) { return random() % limit; };
  const std::size_t changes = 1 + below(20);
  for (std::size_t i = 0; i < changes; ++i) {
    const std::size_t range =
        below(2) == 0 ? std::min<std::size_t>(4096, bytes.size()) : bytes.size();
    // The head of some containers lies at their end.
    const std::size_t place = below(3) == 0 ? bytes.size() - 1 - below(range) : below(range);
    bytes[place] = static_cast<char>(below(4) == 0 ? 0xFF : random());
  }
  if (below(4) == 0) bytes.resize(1 + below(bytes.size()));
  return bytes;
}

TEST_F(ContainerProbe, SurvivesDamagedFiles) {
  const int rounds = test::wants_every_count() ? 2000 : 200;
  const std::vector<std::pair<std::string, std::string>> kinds{
      {"a.mp4", "-c:v libx264 -preset ultrafast -c:a aac"},
      {"b.mkv", "-c:v libx264 -preset ultrafast -c:a aac"},
      {"c.avi", "-c:v mjpeg -c:a pcm_s16le"},
      {"d.mp4", "-c:v libx264 -preset ultrafast -c:a aac -movflags frag_keyframe+empty_moov"},
      {"e.ts", "-c:v mpeg2video -c:a mp2"}};
  std::vector<std::string> wholes;
  for (const auto& [name, options] : kinds) {
    test::make_clip(folder_ / name, "-t 1 " + options);
    wholes.push_back(test::read_file(folder_ / name));
  }
  std::mt19937 random(20261121);
  int refused = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto kind = static_cast<std::size_t>(round) % kinds.size();
    const std::string path = folder_ / ("damaged-" + kinds[kind].first);
    std::ofstream(path, std::ios::binary) << mutate(wholes[kind], random);
    const auto before = std::chrono::steady_clock::now();
    for (const bool probing : {true, false}) {
      try {
        if (probing) {
          (void)probe_container(path);
        } else {
          (void)container_shortfall(path);
        }
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), ExitCode::bad_input) << round << ": " << error.what();
        ++refused;
      }
    }
    ASSERT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5)) << round;
  }
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 2 * rounds);
}

}  // namespace
}  // namespace equalux
