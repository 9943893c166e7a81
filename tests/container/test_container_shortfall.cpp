#include <filesystem>
#include <fstream>

#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/container/input/matroska_file.h"
#include "pipelines/container/input/shortfall.h"
#include "tests/support/media/sample_media.h"

namespace equalux {
namespace {

using test::TempFolder;
using testing::HasSubstr;

struct Kind {
  const char* label;
  const char* file;
  const char* options;
  enum class Declares { nothing, bytes, duration } declares;
};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.label;
}

class ContainerShortfall : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (!test::have_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not installed";
  }
  TempFolder folder_;
};

TEST_P(ContainerShortfall, IsNothingForAWholeFile) {
  test::make_clip(folder_ / GetParam().file, GetParam().options);
  EXPECT_EQ(container_shortfall(folder_ / GetParam().file), std::nullopt);
}

TEST_P(ContainerShortfall, IsToldForACutFile) {
  const std::string path = folder_ / GetParam().file;
  test::make_clip(path, GetParam().options);
  const auto size = std::filesystem::file_size(path);
  for (const unsigned percent : {90U, 60U, 30U}) {
    // A tenth of two seconds is within the tolerance.
    if (percent == 90 && GetParam().declares == Kind::Declares::duration) continue;
    std::filesystem::resize_file(path, size * percent / 100);
    if (GetParam().declares == Kind::Declares::nothing) {
      EXPECT_EQ(container_shortfall(path), std::nullopt) << percent;
      continue;
    }
    const auto shortfall = container_shortfall(path);
    ASSERT_TRUE(shortfall) << percent;
    EXPECT_THAT(*shortfall, testing::AnyOf(HasSubstr("holds "), HasSubstr(" short of ")))
        << percent;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Containers, ContainerShortfall,
    testing::Values(
        Kind{"mp4", "a.mp4", "-c:v libx264 -preset ultrafast -bf 2 -c:a aac",
             Kind::Declares::bytes},
        Kind{"mp4_faststart", "a.mp4",
             "-c:v libx264 -preset ultrafast -bf 2 -c:a aac -movflags faststart",
             Kind::Declares::bytes},
        Kind{"mp4_fragments", "a.mp4",
             "-c:v libx264 -preset ultrafast -g 10 -c:a aac -movflags frag_keyframe+empty_moov",
             Kind::Declares::bytes},
        Kind{"mp4_late_start", "a.mp4",
             "-c:v libx264 -preset ultrafast -c:a aac -output_ts_offset 1.7",
             Kind::Declares::bytes},
        Kind{"mov", "a.mov", "-c:v mpeg4 -c:a pcm_s16le", Kind::Declares::bytes},
        Kind{"mkv", "a.mkv", "-c:v libx264 -preset ultrafast -bf 2 -c:a aac",
             Kind::Declares::bytes},
        Kind{"mkv_late_start", "a.mkv",
             "-c:v libx264 -preset ultrafast -c:a aac -output_ts_offset 1.7",
             Kind::Declares::bytes},
        Kind{"mkv_live", "a.mkv", "-c:v mpeg4 -c:a aac -f matroska -live 1",
             Kind::Declares::nothing},
        Kind{"webm", "a.webm", "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -c:a libopus",
             Kind::Declares::bytes},
        Kind{"avi", "a.avi", "-c:v mpeg4 -c:a mp3", Kind::Declares::bytes},
        Kind{"wmv", "a.wmv", "-c:v wmv2 -c:a wmav2", Kind::Declares::bytes},
        Kind{"flv", "a.flv", "-c:v flv -c:a mp3", Kind::Declares::duration},
        Kind{"ts", "a.ts", "-c:v mpeg2video -c:a mp2", Kind::Declares::nothing}),
    [](const auto& info) { return info.param.label; });

TEST(ContainerShortfallFiles, TellsAnEarlyEndWhereNoByteIsMissing) {
  if (!test::have_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not installed";
  const TempFolder folder;
  const std::string path = folder / "short.mkv";
  test::ffmpeg(
      "-f lavfi -i testsrc2=s=160x120:r=25:d=8 -c:v mpeg4 -g 25 -cluster_time_limit 1000 '" + path +
      "'");
  // The Segment's size field becomes "unknown", as a live writer leaves it; then the end goes.
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  std::string head(256, '\0');
  file.read(head.data(), 256);
  const auto segment = head.find("\x18\x53\x80\x67");
  ASSERT_NE(segment, std::string::npos);
  file.seekp(static_cast<std::streamoff>(segment) + 4);
  file.write("\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8);
  file.close();
  EXPECT_EQ(container_shortfall(path), std::nullopt);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const auto shortfall = container_shortfall(path);
  ASSERT_TRUE(shortfall);
  EXPECT_THAT(*shortfall, HasSubstr("short of its declared 8.00 s"));
}

TEST(ContainerShortfallFiles, RichFilesAreWhole) {
  if (!test::have_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not installed";
  const TempFolder folder;
  test::make_rich_mkv(folder, folder / "a.mkv");
  test::make_rich_mp4(folder, folder / "a.mp4");
  test::make_variable_rate_mp4(folder / "b.mp4");
  for (const char* name : {"a.mkv", "a.mp4", "b.mp4"}) {
    EXPECT_EQ(container_shortfall(folder / name), std::nullopt) << name;
  }
  const std::string debian = "/usr/share/doc/opencv-doc/examples/data/vtest.avi";
  if (std::filesystem::exists(debian)) {
    EXPECT_EQ(container_shortfall(debian), std::nullopt);
  }
}

/// Packets of the first video, as ffprobe counts them.
std::uint64_t packets_of(const std::string& path) {
  const std::string count = test::shell(
      "ffprobe -v error -select_streams v:0 -count_packets -show_entries "
      "stream=nb_read_packets -of csv=p=0 '" +
      path + "'");
  return std::stoull(count);
}

TEST(MatroskaSurvey, HasNothingToSayOfWholeFiles) {
  if (!test::have_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not installed";
  const TempFolder folder;
  test::make_rich_mkv(folder, folder / "rich.mkv");
  const char* const kinds[] = {
      "-c:v libx264 -bf 2 -c:a aac -f matroska",
      "-c:v mpeg4 -c:a aac -f matroska -live 1",
      "-c:v rawvideo -c:a pcm_s16le -cluster_time_limit 200 -f matroska",
      "-c:v ffv1 -an -write_crc32 0 -reserve_index_space 2000 -f matroska",
      "-c:v libvpx-vp9 -cpu-used 8 -deadline realtime -c:a libopus -f webm",
      "-c:v libx264 -vf select='not(mod(n\\,3))' -fps_mode vfr -f matroska"};
  int number = 0;
  for (const char* kind : kinds)
    test::make_clip(folder / (std::to_string(number++) + ".mkv"), kind);
  // What other writers make of it; each where it is installed.
  for (const char* command :
       {"mkvmerge -q -o merged.mkv 0.mkv", "mkvmerge -q --clusters-in-meta-seek -o meta.mkv 0.mkv",
        "gst-launch-1.0 -q filesrc location=0.mkv ! matroskademux ! h264parse ! matroskamux ! "
        "filesink location=gst.mkv",
        "gst-launch-1.0 -q filesrc location=0.mkv ! matroskademux ! h264parse ! matroskamux "
        "streamable=true ! filesink location=stream.mkv"}) {
    (void)test::shell("cd '" + (folder / "") + "' && { " + command + " || true; } 2>/dev/null");
  }
  ASSERT_GE(folder.names().size(), 7U);
  for (const std::string& name : folder.names()) {
    if (!name.ends_with(".mkv")) continue;
    const auto survey = survey_matroska(folder / name);
    ASSERT_TRUE(survey) << name;
    EXPECT_EQ(survey->damage, "") << name;
    EXPECT_EQ(survey->video_blocks, packets_of(folder / name)) << name;
  }
  test::make_clip(folder / "other.mp4", "-c:v mpeg4");
  EXPECT_EQ(survey_matroska(folder / "other.mp4"), std::nullopt);
  EXPECT_EQ(survey_matroska(folder / "none.mkv"), std::nullopt);
}

TEST(MatroskaSurvey, SaysWhatIsDamaged) {
  if (!test::have_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not installed";
  const TempFolder folder;
  const std::string path = folder / "a.mkv";
  test::make_clip(path, "-c:v rawvideo -pix_fmt yuv420p -s 64x48 -an -cluster_time_limit 200");
  const std::string whole = test::read_file(path);
  const auto with = [&](std::size_t from, const std::string& damage) {
    std::string bytes = whole;
    bytes.replace(from, damage.size(), damage);
    std::ofstream(path, std::ios::binary) << bytes;
    return survey_matroska(path)->damage;
  };
  // A picture has 4608 bytes, a cluster 6 of them.
  const std::size_t middle = whole.size() / 2;
  for (const char byte : {'\0', '\xFF', '\x55'}) {
    const std::string damage = with(middle, std::string(20'000, byte));
    EXPECT_THAT(damage,
                testing::ContainsRegex("is damaged between 1.00 s and 1.20 s: [12][0-9]{4} bytes "
                                       "from byte [0-9]+ on cannot be read$"));
  }
  EXPECT_THAT(with(1000, std::string(5000, '\0')), HasSubstr("is damaged"));
  EXPECT_THAT(with(whole.size() - 20'000, std::string(20'000, '\0')),
              HasSubstr("is damaged behind"));
  EXPECT_EQ(with(middle, "x"), "") << "what a picture holds is not looked at";
}

TEST(ContainerShortfallFiles, AMissingFileIsAnError) {
  EXPECT_THROW((void)container_shortfall("/nowhere/a.mp4"), Error);
}

}  // namespace
}  // namespace equalux
