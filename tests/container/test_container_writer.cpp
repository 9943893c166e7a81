#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "pipelines/container/input/shortfall.h"
#include "pipelines/container/output/writer.h"
#include "tests/support/media/sample_media.h"

namespace equalux {
namespace {

using nlohmann::json;
using test::TempFolder;
using testing::HasSubstr;

class ContainerWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::have_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not installed";
  }
  TempFolder folder_;
};

/// The packets of one stream.
json packets(const std::string& path, int stream) {
  return test::ffprobe(
      "-show_packets -show_data_hash md5 -select_streams " + std::to_string(stream),
      path)["packets"];
}

double seconds(const json& packet, const char* key) {
  return packet.contains(key) ? std::stod(packet[key].get<std::string>()) : NAN;
}

/// Same data, and times equal to `tick` seconds. `keys` are the times to be compared.
void expect_same_packets(const json& expected, const json& actual, double tick,
                         const std::vector<const char*>& keys) {
  ASSERT_EQ(expected.size(), actual.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(expected[i]["data_hash"], actual[i]["data_hash"]) << i;
    for (const char* key : keys) {
      if (!expected[i].contains(key)) continue;
      ASSERT_NEAR(seconds(expected[i], key), seconds(actual[i], key), tick) << key << " of " << i;
    }
  }
}

json streams_of(const std::string& path) {
  return test::ffprobe("-show_streams", path)["streams"];
}

std::string tag_of(const json& holder, const std::string& key) {
  const json tags = holder.value("tags", json::object());
  return tags.value(key, std::string());
}

/// Chapters in a form that does not depend on their ticks.
std::vector<std::string> chapters_of(const std::string& path) {
  std::vector<std::string> lines;
  const json chapters = test::ffprobe("-show_chapters", path)["chapters"];
  for (const json& chapter : chapters) {
    lines.push_back(chapter["start_time"].get<std::string>() + " " +
                    chapter["end_time"].get<std::string>() + " " + tag_of(chapter, "title"));
  }
  return lines;
}

std::string global_tag(const std::string& path, const char* key) {
  return tag_of(test::ffprobe("-show_format", path)["format"], key);
}

/// ffprobe's microseconds, rounded.
constexpr double kPrinted = 1.1e-6;

TEST_F(ContainerWriterTest, MatroskaKeepsEverything) {
  const std::string in = folder_ / "in.mkv";
  const std::string out = folder_ / "out.mkv";
  test::make_rich_mkv(folder_, in);
  test::remux(in, out);
  const json before = streams_of(in);
  const json after = streams_of(out);
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].value("codec_name", ""), after[i].value("codec_name", "")) << i;
    EXPECT_EQ(before[i]["disposition"], after[i]["disposition"]) << i;
    for (const char* key : {"language", "title", "filename", "mimetype"}) {
      EXPECT_EQ(tag_of(before[i], key), tag_of(after[i], key)) << i << " " << key;
    }
    if (before[i]["codec_type"] != "attachment") {
      expect_same_packets(packets(in, static_cast<int>(i)), packets(out, static_cast<int>(i)),
                          kPrinted, {"pts_time", "dts_time"});
    }
  }
  expect_same_packets(packets(in, 3), packets(out, 3), kPrinted, {"duration_time"});
  EXPECT_EQ(chapters_of(in).size(), 2U);
  EXPECT_EQ(chapters_of(in), chapters_of(out));
  EXPECT_EQ(global_tag(in, "title"), global_tag(out, "title"));
  EXPECT_EQ(container_shortfall(out), std::nullopt);
  EXPECT_EQ(test::decoded_frames(out), 90);
}

TEST_F(ContainerWriterTest, Mp4KeepsEverything) {
  const std::string in = folder_ / "in.mp4";
  const std::string out = folder_ / "out.mp4";
  test::make_rich_mp4(folder_, in);
  test::remux(in, out);
  const json before = streams_of(in);
  const json after = streams_of(out);
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].value("codec_name", ""), after[i].value("codec_name", "")) << i;
    EXPECT_EQ(before[i]["disposition"], after[i]["disposition"]) << i;
    EXPECT_EQ(before[i].value("side_data_list", json()), after[i].value("side_data_list", json()));
    EXPECT_NEAR(seconds(before[i], "start_time"), seconds(after[i], "start_time"), kPrinted) << i;
    const std::string codec = before[i].value("codec_name", "");
    if (codec == "bin_data") continue;
    EXPECT_EQ(tag_of(before[i], "language"), tag_of(after[i], "language"));
    expect_same_packets(packets(in, static_cast<int>(i)), packets(out, static_cast<int>(i)),
                        kPrinted, {"pts_time", "dts_time"});
  }
  EXPECT_EQ(after[0]["side_data_list"][0]["rotation"], 90);
  EXPECT_EQ(chapters_of(in).size(), 2U);
  EXPECT_EQ(chapters_of(in), chapters_of(out));
  for (const char* key : {"title", "artist", "creation_time"}) {
    EXPECT_EQ(global_tag(in, key), global_tag(out, key)) << key;
  }
  EXPECT_EQ(container_shortfall(out), std::nullopt);
  EXPECT_EQ(test::decoded_frames(out), 90);
  // Plain, not in fragments.
  EXPECT_EQ(test::read_file(out).find("moof"), std::string::npos);
}

/// Decoding times lag behind a gap, which must not lengthen or shorten the track.
TEST_F(ContainerWriterTest, AGapNearTheStartOrTheEndKeepsTheTracksLength) {
  for (const char* gap : {"0.05,1.65", "1.3,2.9"}) {
    SCOPED_TRACE(gap);
    const std::string in = folder_ / "in.mkv";
    test::ffmpeg(std::string("-f lavfi -i testsrc2=s=64x48:r=25:d=3 -vf "
                             "\"select='not(between(t,") +
                 gap + "))'\" -fps_mode vfr -c:v libx264 -bf 3 -pix_fmt yuv420p '" + in + "'");
    for (const char* name : {"out.mp4", "out.mov"}) {
      const std::string out = folder_ / name;
      test::remux(in, out);
      const json streams = streams_of(out);
      EXPECT_NEAR(std::stod(streams[0]["duration"].get<std::string>()), 3.0, 0.002) << name;
      EXPECT_NEAR(
          std::stod(test::ffprobe("-show_format", out)["format"]["duration"].get<std::string>()),
          3.0, 0.002)
          << name;
      EXPECT_EQ(test::decoded_frames(out), 35);
      const auto before = test::ffprobe_times(in);
      const auto after = test::ffprobe_times(out);
      ASSERT_EQ(after.size(), before.size());
      for (std::size_t i = 0; i < before.size(); ++i)
        EXPECT_NEAR(static_cast<double>(after[i]), static_cast<double>(before[i]), 2e4) << i;
    }
  }
}

TEST_F(ContainerWriterTest, TagsWithoutAPlaceAreNamed) {
  const std::string in = folder_ / "in.mkv";
  test::make_clip(in, "-c:v libx264 -preset ultrafast -metadata title=Tee -metadata shot=7");
  testing::internal::CaptureStderr();
  test::remux(in, folder_ / "out.mkv");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  test::remux(in, folder_ / "out.mp4");
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_THAT(line, HasSubstr("has no place for these tags"));
  EXPECT_THAT(line, HasSubstr("SHOT"));
  EXPECT_THAT(line, testing::Not(HasSubstr("title")));
}

/// Puts a SEI message of user data before each picture of a byte stream of H.264.
std::string with_message(const std::string& stream, const std::string& message) {
  const std::string start("\0\0\1", 3);
  const std::string sei = start + "\x06\x04" + static_cast<char>(message.size()) + message + "\x80";
  std::string made;
  for (std::size_t at = 0, next = 0; at < stream.size(); at = next) {
    next = std::min(stream.find(start, at + start.size()), stream.size());
    const int type = at + start.size() < stream.size() ? stream[at + start.size()] & 31 : 0;
    if (type == 1 || type == 5) made += sei;
    made += stream.substr(at, next - at);
  }
  return made;
}

TEST_F(ContainerWriterTest, WhatPicturesHaveInsideThemIsNamed) {
  test::make_clip(folder_ / "plain.mkv", "-c:v libx264 -bf 0 -preset ultrafast");
  test::ffmpeg("-i '" + folder_ / "plain.mkv" + "' -map 0:v -c copy -bsf:v h264_mp4toannexb '" +
               folder_ / "raw.h264" + "'");
  const std::string stream = test::read_file(folder_ / "raw.h264");
  // One pair of bytes of captions, in the form of CEA-708.
  const std::string captions("\xB5\x00\x31GA94\x03\x41\xFF\xFC\x94\x2C\xFF", 14);
  std::ofstream(folder_ / "captions.h264", std::ios::binary) << with_message(stream, captions);
  for (const char* sound : {"", " -i '%' -map 0:v -map 1:a"}) {
    for (const char* in : {"in.mkv", "in.mp4", "in.ts"}) {
      SCOPED_TRACE(std::string(in) + sound);
      std::string inputs = sound;
      if (!inputs.empty()) inputs.replace(inputs.find('%'), 1, folder_ / "plain.mkv");
      test::ffmpeg("-r 25 -i '" + folder_ / "captions.h264" + "'" + inputs +
                   " -map_chapters -1 -c:v copy -c:a aac '" + folder_ / "timed.mp4" + "'");
      test::ffmpeg("-i '" + folder_ / "timed.mp4" + "' -map 0 -c copy '" + folder_ / in + "'");
      for (const char* out : {"out.mkv", "out.mp4"}) {
        testing::internal::CaptureStderr();
        test::remux(folder_ / in, folder_ / out);
        const std::string said = testing::internal::GetCapturedStderr();
        EXPECT_THAT(said, HasSubstr(std::string(in) + ": left out: closed captions, which its "
                                                      "pictures have inside them"));
        EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
      }
    }
  }
  testing::internal::CaptureStderr();
  test::remux(folder_ / "plain.mkv", folder_ / "out.mkv");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(ContainerWriterTest, TagsOfTheirOwnNamesAreKeptInMp4AndMov) {
  const std::string options =
      "-c:v libx264 -preset ultrafast -metadata title=Tee -metadata shot=7 "
      "-movflags use_metadata_tags";
  for (const char* in : {"in.mp4", "in.mov"}) {
    test::make_clip(folder_ / in, options);
    for (const char* out : {"out.mp4", "out.mov", "out.mkv"}) {
      testing::internal::CaptureStderr();
      test::remux(folder_ / in, folder_ / out);
      EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << in << " " << out;
      json tags = test::ffprobe("-show_format", folder_ / out)["format"]["tags"];
      EXPECT_EQ(tags["title"], "Tee") << in << " " << out;
      EXPECT_EQ(tags.value(std::string(out) == "out.mkv" ? "SHOT" : "shot", ""), "7") << in << out;
    }
  }
  // Tags as most files have them stay where most programs look for them.
  test::make_clip(folder_ / "plain.mp4", "-c:v libx264 -preset ultrafast -metadata title=Tee");
  test::remux(folder_ / "plain.mp4", folder_ / "out.mp4");
  const std::string bytes = test::read_file(folder_ / "out.mp4");
  EXPECT_NE(bytes.find("\251nam"), std::string::npos);
  EXPECT_EQ(bytes.find("mdta"), std::string::npos);
}

TEST_F(ContainerWriterTest, TheTimecodeOfMxfIsKept) {
  test::make_clip(folder_ / "in.mxf", "-map 0:v -c:v mpeg2video -timecode 01:02:03:04");
  ASSERT_EQ(global_tag(folder_ / "in.mxf", "timecode"), "01:02:03:04");
  for (const char* name : {"out.mp4", "out.mov", "out.mkv"}) {
    testing::internal::CaptureStderr();
    test::remux(folder_ / "in.mxf", folder_ / name);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << name;
    const bool matroska = std::string(name) == "out.mkv";
    EXPECT_EQ(matroska ? global_tag(folder_ / name, "TIMECODE")
                       : tag_of(streams_of(folder_ / name).at(0), "timecode"),
              "01:02:03:04")
        << name;
  }
}

TEST_F(ContainerWriterTest, TheNavigationOfDvdsIsNotMissed) {
  const std::string in = folder_ / "in.vob";
  test::ffmpeg(
      "-f lavfi -i testsrc2=s=720x576:r=25:d=0.4 -f lavfi -i sine=d=0.4:r=48000 -target pal-dvd '" +
      in + "'");
  ASSERT_EQ(streams_of(in).at(0)["codec_name"], "dvd_nav_packet");
  for (const char* name : {"out.mkv", "out.mp4"}) {
    testing::internal::CaptureStderr();
    test::remux(in, folder_ / name);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << name;
    EXPECT_EQ(streams_of(folder_ / name).size(), 2U) << name;
  }
}

TEST_F(ContainerWriterTest, VariableFrameRateKeepsEveryStamp) {
  const std::string in = folder_ / "in.mp4";
  test::make_variable_rate_mp4(in);
  for (const auto& [name, tick] : {std::pair{"out.mp4", kPrinted}, {"out.mkv", 0.00051}}) {
    test::remux(in, folder_ / name);
    expect_same_packets(packets(in, 0), packets(folder_ / name, 0), tick, {"pts_time"});
  }
  // The last frame lasts: a player shows it.
  double latest = 0;
  for (const json& packet : packets(folder_ / "out.mp4", 0)) {
    latest = std::max(latest, seconds(packet, "pts_time"));
  }
  const json format = test::ffprobe("-show_format", folder_ / "out.mp4")["format"];
  EXPECT_GT(seconds(format, "duration"), latest + 0.02);
}

TEST_F(ContainerWriterTest, Mp4ToMatroskaKeepsRotationAndOffsets) {
  const std::string rich = folder_ / "rich.mp4";
  const std::string in = folder_ / "in.mp4";
  test::make_rich_mp4(folder_, rich);
  test::ffmpeg("-i '" + folder_ / "whole.mp4" + "' -map 0:v -map 0:a -c copy -strict -2 '" + in +
               "'");
  test::turn_mp4(in);
  const std::string out = folder_ / "out.mkv";
  test::remux(in, out);
  const json after = streams_of(out);
  EXPECT_EQ(after[0]["side_data_list"][0]["rotation"], 90);
  EXPECT_EQ(tag_of(after[1], "title"), "");
  for (int stream = 0; stream < 3; ++stream) {
    expect_same_packets(packets(in, stream), packets(out, stream), 0.00051, {"pts_time"});
  }
  // AAC starts before 0 in both.
  EXPECT_LT(seconds(packets(out, 1)[0], "pts_time"), -0.02);
  // A second time, out of Matroska and into it.
  test::remux(out, folder_ / "again.mkv");
  EXPECT_EQ(streams_of(folder_ / "again.mkv")[0]["side_data_list"][0]["rotation"], 90);
  expect_same_packets(packets(out, 1), packets(folder_ / "again.mkv", 1), kPrinted, {"pts_time"});
}

TEST_F(ContainerWriterTest, TransportStreamKeepsItsFirstStamp) {
  test::make_clip(folder_ / "in.ts", "-c:v libx264 -preset ultrafast -bf 2 -c:a aac");
  const json before = packets(folder_ / "in.ts", 0);
  for (const auto& [name, tick] : {std::pair{"out.mp4", kPrinted}, {"out.mkv", 0.00051}}) {
    test::remux(folder_ / "in.ts", folder_ / name);
    const json after = packets(folder_ / name, 0);
    ASSERT_EQ(before.size(), after.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      ASSERT_NEAR(seconds(before[i], "pts_time"), seconds(after[i], "pts_time"), tick) << i;
    }
    EXPECT_EQ(test::decoded_frames(folder_ / name), 50);
  }
}

TEST_F(ContainerWriterTest, WritesVideoAloneWithoutAnInput) {
  test::make_clip(folder_ / "in.mp4", "-map 0:v -c:v libx264 -preset ultrafast");
  const test::EncodedVideo video = test::read_video(folder_ / "in.mp4");
  for (const char* name : {"out.mp4", "out.MOV", "out.m4v", "out.mkv"}) {
    const auto writer = make_container_writer({folder_ / name, "", false});
    writer->check("h264");
    writer->start(video.format);
    test::feed(*writer, video);
    writer->finish(false);
    EXPECT_EQ(test::decoded_frames(folder_ / name), 50) << name;
  }
}

TEST_F(ContainerWriterTest, CutsTheOtherStreamsAtTheVideosEnd) {
  for (const auto& [in, out] : {std::pair{"in.mp4", "out.mp4"}, {"in.mkv", "out.mkv"}}) {
    if (std::string(in) == "in.mp4") {
      test::make_rich_mp4(folder_, folder_ / in);
    } else {
      test::make_rich_mkv(folder_, folder_ / in);
    }
    const test::EncodedVideo video = test::read_video(folder_ / in);
    const auto writer = make_container_writer({folder_ / out, folder_ / in, false});
    writer->start(video.format);
    test::feed(*writer, video, 0, 45);
    writer->finish(true);
    EXPECT_EQ(test::decoded_frames(folder_ / out), 45) << out;
    EXPECT_EQ(container_shortfall(folder_ / out), std::nullopt);
    EXPECT_LT(seconds(packets(folder_ / out, 1).back(), "pts_time"), 1.7) << out;
    EXPECT_THAT(folder_.names(), testing::Not(testing::Contains(HasSubstr("partial"))));
  }
}

TEST_F(ContainerWriterTest, AnotherVideoIsCopiedAndNamed) {
  const std::string in = folder_ / "in.mkv";
  test::ffmpeg(
      "-f lavfi -i testsrc2=s=64x48:r=25:d=1 -f lavfi -i testsrc2=s=32x16:r=25:d=1 -map 0 -map 1 "
      "-c:v ffv1 '" +
      in + "'");
  const auto writer = make_container_writer({folder_ / "out.mkv", in});
  writer->check("h264");
  EXPECT_THAT(writer->copied_videos(), testing::ElementsAre("stream 1 (video, ffv1)"));
  test::make_rich_mkv(folder_, folder_ / "rich.mkv");
  const auto rich = make_container_writer({folder_ / "rich-out.mkv", folder_ / "rich.mkv"});
  rich->check("h264");
  EXPECT_THAT(rich->copied_videos(), testing::IsEmpty());
}

TEST_F(ContainerWriterTest, ChaptersEndWithTheVideo) {
  for (const auto& [in, out] : {std::pair{"in.mp4", "out.mp4"}, {"in.mkv", "out.mkv"}}) {
    const bool iso = std::string(in) == "in.mp4";
    iso ? test::make_rich_mp4(folder_, folder_ / in) : test::make_rich_mkv(folder_, folder_ / in);
    const test::EncodedVideo video = test::read_video(folder_ / in);
    ContainerWriterOptions options{folder_ / out, folder_ / in};
    // Chapters stand in Matroska's head, so that an end counts that is known before; mp4 takes any.
    if (!iso) options.part = {0, false, true, 1'500'000'000};
    const auto writer = make_container_writer(options);
    writer->start(video.format);
    test::feed(*writer, video, 0, 45);
    writer->finish(true);
    const json written = test::ffprobe("-show_format -show_chapters", folder_ / out);
    EXPECT_LT(seconds(written["format"], "duration"), 1.7) << out;
    ASSERT_FALSE(written["chapters"].empty()) << out;
    for (const json& chapter : written["chapters"])
      EXPECT_LT(seconds(chapter, "end_time"), 1.7) << out;
  }
}

TEST_F(ContainerWriterTest, TheSameInputGivesTheSameBytes) {
  const std::string in = folder_ / "in.mp4";
  test::make_clip(in, "-c:v libx264 -preset ultrafast -c:a aac");
  for (const std::string extension : {".mp4", ".mkv"}) {
    test::remux(in, folder_ / ("one" + extension));
    test::remux(in, folder_ / ("two" + extension));
    test::shell("cmp '" + folder_ / ("one" + extension) + "' '" + folder_ / ("two" + extension) +
                "'");
  }
}

}  // namespace
}  // namespace equalux
