#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/container/input/open_input.h"
#include "pipelines/container/input/packet_reader.h"
#include "tests/support/media/media_files.h"

namespace equalux {
namespace {

/// Ticks of transport and program streams.
constexpr std::int64_t kPicture = 90'000 / 25;

/// What a reader gives of one file.
struct Reading {
  std::vector<std::int64_t> pictures;  ///< pts, AV_NOPTS_VALUE where there is none
  std::vector<std::int64_t> decoded;   ///< dts of the same packets
  std::vector<std::int64_t> sound;     ///< pts
  std::vector<std::int64_t> restarts_ns;
};

Reading read_all(AVFormatContext& input) {
  PacketReader reader(input, filtered_stream(input));
  Reading reading;
  const PacketPtr packet = make_packet();
  while (reader.read(*packet) >= 0) {
    const bool video = packet->stream_index == filtered_stream(input);
    (video ? reading.pictures : reading.sound).push_back(packet->pts);
    if (video) reading.decoded.push_back(packet->dts);
    av_packet_unref(packet.get());
  }
  reading.restarts_ns = reader.restarts_ns();
  return reading;
}

class PacketReaderTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::have_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not installed";
  }
  /// Two seconds of pictures and sound.
  std::string make(const std::string& name, const std::string& options) {
    test::ffmpeg("-f lavfi -i testsrc2=s=64x48:r=25:d=2 -f lavfi -i sine=d=2:r=48000 -g 10 -bf 2 " +
                 options + " '" + folder_ / name + "'");
    return folder_ / name;
  }
  std::string join(const std::string& first, const std::string& second) {
    std::ofstream joined(folder_ / "joined", std::ios::binary);
    for (const std::string& part : {first, second})
      joined << std::ifstream(part, std::ios::binary).rdbuf();
    return folder_ / "joined";
  }
  static Reading read(const std::string& path) { return read_all(*open_input(path)); }
  test::TempFolder folder_;
};

TEST_F(PacketReaderTest, PartsFollowEachOther) {
  const std::string h264 = "-c:v libx264 -preset ultrafast -c:a aac ";
  const std::string mpeg2 = "-c:v mpeg2video -c:a mp2 ";
  struct Case {
    std::string name, options, second;
  };
  for (const Case& now : {Case{"a.ts", h264, ""}, Case{"a.ts", mpeg2, ""}, Case{"a.vob", mpeg2, ""},
                          Case{"a.mpg", mpeg2, ""}, Case{"a.ts", h264, "-output_ts_offset 500"},
                          Case{"a.ts", "-output_ts_offset 500 " + h264, "-output_ts_offset 2"}}) {
    SCOPED_TRACE(now.name + " " + now.options + now.second);
    const std::string first = make(now.name, now.options);
    const std::string second = now.second.empty() ? first : make("b.ts", now.options + now.second);
    const Reading a = read(first);
    const Reading b = read(second);
    const Reading both = read(join(first, second));
    ASSERT_EQ(a.pictures.size(), 50U);
    ASSERT_EQ(both.pictures.size(), 100U);
    EXPECT_EQ(both.restarts_ns.size(), 1U);
    const std::int64_t start = a.decoded.front();
    for (std::size_t i = 0; i < 100; ++i)
      EXPECT_EQ(both.decoded[i], start + static_cast<std::int64_t>(i) * kPicture) << i;
    const std::int64_t shift = both.decoded[50] - b.decoded.front();
    for (std::size_t i = 0; i < 50; ++i) {
      EXPECT_EQ(both.pictures[i], a.pictures[i]) << i;
      if (b.pictures[i] != AV_NOPTS_VALUE) {
        EXPECT_EQ(both.pictures[i + 50], b.pictures[i] + shift) << i;
      }
    }
    // The sound is moved by as much, and a packet at most is left out where the two overlap.
    ASSERT_GE(both.sound.size() + 2, a.sound.size() + b.sound.size());
    for (std::size_t i = 0; i < a.sound.size(); ++i)
      EXPECT_EQ(both.sound[i], a.sound[i]) << i;
    for (std::size_t i = 1; i + a.sound.size() < both.sound.size(); ++i) {
      EXPECT_EQ(both.sound[both.sound.size() - i], b.sound[b.sound.size() - i] + shift) << i;
    }
    // Nor does it depend on the streams that are read.
    const InputContext input = open_input(folder_ / "joined");
    input->streams[1 - filtered_stream(*input)]->discard = AVDISCARD_ALL;
    EXPECT_EQ(read_all(*input).decoded, both.decoded);
  }
}

/// Parts whose sound ends before or after their pictures: it begins with the pictures of each part
/// all the same, as soon as that of the part before it is over.
TEST_F(PacketReaderTest, SoundOfAnyLengthStaysInStep) {
  const std::string codecs = "-c:v libx264 -preset ultrafast -c:a aac ";
  const std::string brief = make("brief.ts", codecs + "-af atrim=end=0.8");
  const std::string lasting = make("lasting.ts", codecs + "-af apad=whole_dur=2.9");
  const std::string usual = make("usual.ts", codecs);
  const std::vector<std::string> parts{brief, usual, brief, lasting, usual, usual};
  std::string joined = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    std::filesystem::rename(join(joined, parts[i]), folder_ / "whole.ts");
    joined = folder_ / "whole.ts";
  }
  const Reading all = read(joined);
  ASSERT_EQ(all.pictures.size(), 50 * parts.size());
  std::vector<std::int64_t> expected;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Reading part = read(parts[i]);
    const std::int64_t shift = all.decoded[50 * i] - part.decoded.front();
    for (const std::int64_t time : part.sound) {
      const bool overlaps = !expected.empty() && time + shift < expected.back() + 1920 / 2;
      if (!overlaps) expected.push_back(time + shift);
    }
  }
  EXPECT_EQ(all.sound, expected);
}

TEST_F(PacketReaderTest, AFullCounterIsNoRestart) {
  // The counter of 33 bits is full at 95443.7 s.
  const std::string path = make("a.ts", "-c:v libx264 -c:a aac -output_ts_offset 95441");
  Dictionary options;
  options.set("correct_ts_overflow", "0");
  AVFormatContext* raw = nullptr;
  ASSERT_EQ(avformat_open_input(&raw, path.c_str(), nullptr, options.address()), 0);
  const InputContext input(raw);
  ASSERT_GE(avformat_find_stream_info(raw, nullptr), 0);
  const Reading reading = read_all(*input);
  ASSERT_EQ(reading.decoded.size(), 50U);
  for (std::size_t i = 1; i < 50; ++i)
    EXPECT_EQ(reading.decoded[i] - reading.decoded[i - 1], kPicture) << i;
  EXPECT_GT(reading.decoded.back(), std::int64_t{1} << 33);
  for (std::size_t i = 1; i < reading.sound.size(); ++i)
    EXPECT_NEAR(static_cast<double>(reading.sound[i] - reading.sound[i - 1]), 1920, 1) << i;
  EXPECT_TRUE(reading.restarts_ns.empty());
}

TEST_F(PacketReaderTest, ADamagedTimeIsNoRestart) {
  const std::string path = make("a.ts", "-c:v mpeg2video -bf 0 -c:a mp2");
  const Reading whole = read(path);
  std::string bytes = test::shell("cat '" + path + "'");
  // The 20th picture, and some sound, get a time 13 hours later.
  for (const auto& [head, number] :
       {std::pair{std::string("\0\0\x01\xE0", 4), 20}, {std::string("\0\0\x01\xC0", 4), 3}}) {
    std::size_t at = 0;
    for (int i = 0; i < number; ++i)
      at = bytes.find(head, at + 1);
    ASSERT_NE(at, std::string::npos);
    bytes[at + 9] = static_cast<char>(bytes[at + 9] | 0x08);
  }
  std::ofstream(folder_ / "damaged.ts", std::ios::binary) << bytes;
  const Reading damaged = read(folder_ / "damaged.ts");
  EXPECT_EQ(damaged.pictures, whole.pictures);
  EXPECT_EQ(damaged.decoded, whole.decoded);
  EXPECT_EQ(damaged.sound, whole.sound);
  EXPECT_TRUE(damaged.restarts_ns.empty());
}

TEST_F(PacketReaderTest, AGapStaysAGap) {
  const std::string first = make("a.ts", "-c:v libx264 -c:a aac");
  const std::string second = make("b.ts", "-c:v libx264 -c:a aac -output_ts_offset 20");
  const Reading both = read(join(first, second));
  EXPECT_TRUE(both.restarts_ns.empty());
  EXPECT_NEAR(static_cast<double>(both.decoded[50] - both.decoded[0]), 20 * 90'000, 9'000);
}

}  // namespace
}  // namespace equalux
