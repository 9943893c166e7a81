#include <cstdio>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/core/frame_hash.h"
#include "pipelines/core/frame_time.h"
#include "tests/support/media/test_images.h"
#include "tests/support/temp_folder.h"

namespace equalux::test {
namespace {

using ::testing::HasSubstr;

StreamInfo stream(PixelFormat format, int width, int height) {
  StreamInfo info;
  info.desc.format = format;
  info.desc.width = width;
  info.desc.height = height;
  info.frame_rate = {30000, 1001};
  return info;
}

/// Lines that are no comment.
std::string frame_lines(const std::string& text) {
  std::istringstream in(text);
  std::string line;
  std::string out;
  while (std::getline(in, line)) {
    if (!line.starts_with('#')) out += line + "\n";
  }
  return out;
}

TEST(FrameHash, KnownSum) {
  // MD5 of "abc", RFC 1321.
  const std::string abc = "abc";
  ConstImageView view;
  view.desc = stream(PixelFormat::gray8, 3, 1).desc;
  view.data[0] = reinterpret_cast<const std::uint8_t*>(abc.data());
  view.stride[0] = 3;
  EXPECT_EQ(frame_md5(view), "900150983cd24fb0d6963f7d28e17f72");
}

TEST(FrameHash, PaddingAndDirectionDoNotCount) {
  const ImageDesc desc = stream(PixelFormat::i420, 17, 9).desc;
  const PaddedImage tight(desc);
  const PaddedImage padded(desc, 5, false, 3);
  const PaddedImage bottom_up(desc, 2, true);
  for (const PaddedImage* image : {&tight, &padded, &bottom_up})
    fill(image->view(), Content::noise);
  EXPECT_EQ(frame_md5(tight.view()), frame_md5(padded.view()));
  EXPECT_EQ(frame_md5(tight.view()), frame_md5(bottom_up.view()));
}

TEST(FrameHash, HeaderIsFramemd5s) {
  StreamInfo info = stream(PixelFormat::i420, 64, 48);
  info.pixel_aspect = {4, 3};
  const std::string header = frame_hash_header(info);
  EXPECT_EQ(header.substr(0, header.find("#software")),
            "#format: frame checksums\n#version: 2\n#hash: MD5\n");
  EXPECT_THAT(header, HasSubstr("#tb 0: 1001/30000\n#media_type 0: video\n#codec_id 0: rawvideo\n"
                                "#dimensions 0: 64x48\n#sar 0: 4/3\n"));
}

TEST(FrameHash, TimestampsAreFrameNumbersAtAKnownRate) {
  const StreamInfo info = stream(PixelFormat::gray8, 4, 4);
  const Image image(info.desc);
  Frame frame;
  frame.image = image.view();
  for (const std::uint64_t n : {0ULL, 1ULL, 2ULL, 1799ULL, 107'892ULL}) {
    frame.pts_ns = frame_time_ns(n, info.frame_rate);
    const std::string line = frame_hash_line(frame, frame_hash_time_base(info));
    std::ostringstream expected;
    expected << "0, ";
    for (int i = 0; i < 2; ++i) {
      expected.width(10);
      expected << n << ", ";
    }
    EXPECT_THAT(line, ::testing::StartsWith(expected.str() + "       1,       16, "));
  }
}

TEST(FrameHash, UnknownRateCountsNanoseconds) {
  StreamInfo info = stream(PixelFormat::gray8, 4, 4);
  info.frame_rate = {0, 1};
  EXPECT_EQ(frame_hash_time_base(info), (Rational{1, 1'000'000'000}));
}

TEST(FrameTime, RoundsAndKeepsLargeNumbers) {
  EXPECT_EQ(frame_time_ns(1, {30000, 1001}), 33'366'667);
  EXPECT_EQ(frame_time_ns(3, {30000, 1001}), 100'100'000);
  EXPECT_EQ(frame_time_ns(100'000'000'000, {240, 1}), 416'666'666'666'666'667);
  EXPECT_EQ(frame_time_ns(5, {0, 1}), 0);
  EXPECT_EQ(ticks_from_ns(-33'366'667, {1001, 30000}), -1);
  EXPECT_EQ(ticks_from_ns(1'500'000, {1, 1000}), 2);
}

struct Case {
  PixelFormat format;
  const char* ffmpeg_name;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << to_string(c.format);
}

/// Our lines against the real thing, fed with the same tight bytes.
class AgainstFfmpeg : public ::testing::TestWithParam<Case> {};

TEST_P(AgainstFfmpeg, LinesAreTheSame) {
  if (std::system("command -v ffmpeg >/dev/null") != 0) GTEST_SKIP() << "no ffmpeg here";
  const TempFolder folder;
  const StreamInfo info = stream(GetParam().format, 33, 17);
  FrameHashWriter writer(folder / "ours", info);
  std::string raw;
  for (std::uint64_t n = 0; n < 3; ++n) {
    Frame frame;
    frame.pixels = Image(info.desc);
    fill(frame.pixels.view(), Content::noise, static_cast<std::uint32_t>(n + 1));
    frame.image = std::as_const(frame.pixels).view();
    frame.pts_ns = frame_time_ns(n, info.frame_rate);
    frame.duration_ns = frame_time_ns(n + 1, info.frame_rate) - frame.pts_ns;
    writer.write(frame);
    const std::vector<std::uint8_t> tight = tight_copy(frame.image);
    raw.append(tight.begin(), tight.end());
  }
  writer.finish();
  write_file(folder / "raw", raw);
  const std::string command = "ffmpeg -v error -f rawvideo -pix_fmt " +
                              std::string(GetParam().ffmpeg_name) + " -s 33x17 -r 30000/1001 -i " +
                              (folder / "raw") + " -f framemd5 " + (folder / "theirs");
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(frame_lines(read_file(folder / "ours")), frame_lines(read_file(folder / "theirs")));
}

INSTANTIATE_TEST_SUITE_P(
    Formats, AgainstFfmpeg,
    ::testing::Values(Case{PixelFormat::gray8, "gray"}, Case{PixelFormat::rgb, "rgb24"},
                      Case{PixelFormat::bgr, "bgr24"}, Case{PixelFormat::bgra, "bgra"},
                      Case{PixelFormat::xrgb, "0rgb"}, Case{PixelFormat::nv12, "nv12"},
                      Case{PixelFormat::i420, "yuv420p"}, Case{PixelFormat::yuy2, "yuyv422"},
                      Case{PixelFormat::uyvy, "uyvy422"}, Case{PixelFormat::y42b, "yuv422p"},
                      Case{PixelFormat::y444, "yuv444p"}),
    [](const auto& info) { return std::string(to_string(info.param.format)); });

}  // namespace
}  // namespace equalux::test
