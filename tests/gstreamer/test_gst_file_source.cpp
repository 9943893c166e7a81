#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/inotify.h>
#include <unistd.h>

#include "pipelines/files/descriptor_io.h"
#include "pipelines/gstreamer/decode/file_source.h"
#include "src/common/log.h"
#include "tests/gstreamer/video_files.h"

namespace equalux {
namespace {

using ::testing::HasSubstr;

constexpr double kTimeLimit = 5.0;  // s, for every refusal

/// One input: how FFmpeg makes it, and the layout that it must arrive in.
struct Input {
  const char* name;
  const char* arguments;
  const char* file;
  PixelFormat format = PixelFormat::i420;
  const char* pixels = "yuv420p";
};

std::string source_of(const std::string& size) {
  return "-f lavfi -i testsrc2=s=" + size + ":r=25:d=1.2 ";
}

class FileSourceTest : public testing::TestWithParam<Input> {
 protected:
  void SetUp() override {
    if (!test::have_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not installed";
  }
  std::string make(const std::string& name, const std::string& arguments,
                   const std::string& size = "322x242") {
    test::ffmpeg(source_of(size) + arguments + " '" + folder_ / name + "'");
    return folder_ / name;
  }
  static test::Decoded decode(const std::string& path) {
    return test::decode(*make_file_source(path));
  }
  test::TempFolder folder_;
};

TEST_P(FileSourceTest, GivesFfmpegsFramesAndTimes) {
  const Input& input = GetParam();
  const std::string path = make(input.file, input.arguments);
  const test::Decoded ours = decode(path);

  EXPECT_EQ(to_string(ours.info.desc.format), to_string(input.format));
  const std::vector<std::int64_t> times = test::ffprobe_times(path);
  ASSERT_EQ(ours.pts_ns.size(), times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(ours.pts_ns[i]), static_cast<double>(times[i]), 1e3) << i;
  }
  EXPECT_TRUE(ours.bytes == test::ffmpeg_bytes(folder_, path, input.pixels));
}

constexpr const char* kVfr =
    "-vf select='not(mod(n\\,3))+eq(mod(n\\,7)\\,0)' -fps_mode vfr -enc_time_base 1/90000 "
    "-c:v libx264 -bf 3 -pix_fmt yuv420p";

INSTANTIATE_TEST_SUITE_P(
    , FileSourceTest,
    testing::Values(
        Input{"mp4_with_b_frames", "-c:v libx264 -bf 3 -pix_fmt yuv420p", "a.mp4"},
        Input{"mov", "-c:v libx264 -bf 3 -pix_fmt yuv420p", "a.mov"},
        Input{"mkv", "-c:v libx264 -bf 3 -pix_fmt yuv420p", "a.mkv"},
        Input{"ts", "-c:v mpeg2video -bf 2 -pix_fmt yuv420p", "a.ts"},
        Input{"avi", "-c:v mpeg4 -pix_fmt yuv420p", "a.avi"},
        Input{"webm", "-c:v libvpx -deadline realtime -pix_fmt yuv420p", "a.webm"},
        Input{"variable_rate_mp4", kVfr, "a.mp4"}, Input{"variable_rate_mkv", kVfr, "a.mkv"},
        Input{"late_start", "-c:v libx264 -bf 2 -pix_fmt yuv420p -output_ts_offset 0.523", "a.mkv"},
        Input{"i422", "-c:v libx264 -pix_fmt yuv422p", "a.mp4", PixelFormat::y42b, "yuv422p"},
        Input{"i444", "-c:v libx264 -pix_fmt yuv444p", "a.mp4", PixelFormat::y444, "yuv444p"},
        Input{"gray", "-c:v ffv1 -pix_fmt gray", "a.mkv", PixelFormat::gray8, "gray"},
        Input{"mjpeg_422", "-c:v mjpeg -pix_fmt yuvj422p", "a.avi", PixelFormat::y42b, "yuvj422p"},
        Input{"i420_10", "-c:v libx264 -bf 2 -pix_fmt yuv420p10le", "a.mp4", PixelFormat::i420_10le,
              "yuv420p10le"},
        Input{"i422_10", "-c:v libx264 -pix_fmt yuv422p10le", "a.mkv", PixelFormat::i422_10le,
              "yuv422p10le"},
        Input{"i444_10", "-c:v libx264 -pix_fmt yuv444p10le", "a.mp4", PixelFormat::y444_10le,
              "yuv444p10le"},
        Input{"i420_12", "-c:v ffv1 -pix_fmt yuv420p12le", "a.mkv", PixelFormat::i420_12le,
              "yuv420p12le"},
        Input{"i444_12", "-c:v ffv1 -pix_fmt yuv444p12le", "a.mkv", PixelFormat::y444_12le,
              "yuv444p12le"},
        Input{"i422_10_prores", "-c:v prores_ks -pix_fmt yuv422p10le", "a.mov",
              PixelFormat::i422_10le, "yuv422p10le"},
        Input{"gray16", "-c:v ffv1 -pix_fmt gray16le", "a.mkv", PixelFormat::gray16_le, "gray16le"},
        Input{"rgb_10", "-c:v ffv1 -pix_fmt gbrp10le", "a.mkv", PixelFormat::rgba64_le, "rgba64le"},
        Input{"gif", "-r 25", "a.gif", PixelFormat::bgra, "bgra"},
        Input{"cinepak", "-vf scale=64:48 -c:v cinepak", "a.avi", PixelFormat::rgb, "rgb24"},
        Input{"animation", "-c:v qtrle", "a.mov", PixelFormat::rgb, "rgb24"},
        Input{"animation_argb", "-c:v qtrle -pix_fmt argb", "a.mov", PixelFormat::argb, "argb"},
        Input{"flash_screen", "-c:v flashsv", "a.flv", PixelFormat::bgr, "bgr24"},
        Input{"video_1", "-vf scale=64:48 -c:v msvideo1", "a.avi", PixelFormat::bgr, "bgr24"},
        Input{"av1_gray", "-c:v libaom-av1 -cpu-used 8 -pix_fmt gray", "a.mkv", PixelFormat::gray8,
              "gray"},
        Input{"jpeg2000", "-c:v jpeg2000 -pred 1 -pix_fmt rgb24", "a.mov", PixelFormat::rgb,
              "rgb24"},
        Input{"jpeg2000_mkv", "-c:v jpeg2000 -pred 1 -pix_fmt yuv420p", "a.mkv"},
        Input{"jpeg2000_444", "-c:v jpeg2000 -pred 1 -pix_fmt yuv444p", "a.mkv", PixelFormat::y444,
              "yuv444p"},
        Input{"nut", "-c:v rawvideo -pix_fmt yuv420p", "a.nut"},
        Input{"gray_nut", "-vf scale=321:241 -c:v rawvideo -pix_fmt gray", "a.nut",
              PixelFormat::gray8, "gray"},
        Input{"bgr", "-c:v rawvideo -pix_fmt bgr24", "a.avi", PixelFormat::bgr, "bgr24"},
        Input{"uyvy", "-c:v rawvideo -pix_fmt uyvy422", "a.mov", PixelFormat::uyvy, "uyvy422"}),
    [](const auto& named) { return std::string(named.param.name); });

// Opening analyses the streams, which decodes pictures: 10 to 50 ms of each clip of a batch, and a
// connection of its own where the file is on a server.
TEST_F(FileSourceTest, AFileIsOpenedOnce) {
  const std::string path = make("a.avi", "-c:v mpeg4", "64x48");
  const Descriptor watch(inotify_init1(IN_NONBLOCK));
  // Closing, too: of equal events in a row only one is told.
  ASSERT_GE(inotify_add_watch(watch.get(), path.c_str(), IN_OPEN | IN_CLOSE), 0);
  const auto source = make_file_source(path);
  const StreamInfo info = source->open(test::accepts_all);
  FramePool pool(info.desc, 2, source->lends_buffers());
  EXPECT_TRUE(source->read(*pool.acquire()));
  alignas(inotify_event) std::array<char, 4096> events{};
  EXPECT_EQ(::read(watch.get(), events.data(), events.size()),
            static_cast<ssize_t>(sizeof(inotify_event)));
}

TEST_F(FileSourceTest, RawGrayPicturesOfMovAreRefusedAtOnce) {
  const std::string path = make("a.mov", "-c:v rawvideo -pix_fmt gray", "64x48");
  try {
    (void)make_file_source(path)->open(test::accepts_all);
    ADD_FAILURE() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_input);
    EXPECT_THAT(error.what(), testing::HasSubstr("holds raw gray or palette pictures in mov"));
  }
}

TEST_F(FileSourceTest, AStreamOfJpegPicturesIsAVideoByItsName) {
  for (const char* name : {"a.mjpeg", "a.MJPG"}) {
    const std::string path = make(name, "-c:v mjpeg -pix_fmt yuvj420p -f mjpeg", "64x48");
    const test::Decoded ours = decode(path);
    ASSERT_EQ(ours.pts_ns.size(), 30U) << name;
    for (std::size_t i = 0; i < ours.pts_ns.size(); ++i)
      EXPECT_EQ(ours.pts_ns[i], static_cast<std::int64_t>(i) * 40'000'000) << i;
  }
}

/// A Matroska master or value with a size of one byte.
std::string element(const std::string& id, const std::string& content) {
  return id + static_cast<char>(0x80U | content.size()) + content;
}

/// A number as an element of two bytes.
std::string number(const std::string& id, unsigned value) {
  return element(id, {static_cast<char>(value >> 8), static_cast<char>(value)});
}

/// Puts elements into a second master of the video, in the place of the track's title, which has 60
/// letters.
void put_into_video(const std::string& path, std::string elements) {
  std::string bytes = test::read_file(path);
  const std::size_t title = bytes.find("\x53\x6E\xBC");
  ASSERT_NE(title, std::string::npos);
  elements += element("\xEC", std::string(61 - 2 - elements.size(), '\0'));
  bytes.replace(title, 63, element("\xE0", elements));
  std::ofstream(path, std::ios::binary) << bytes;
}

const std::string kTitle = "-write_crc32 0 -metadata:s:v title=" + std::string(60, 'x') + " ";

std::string crop_elements(unsigned left, unsigned top, unsigned right, unsigned bottom) {
  return number("\x54\xCC", left) + number("\x54\xBB", top) + number("\x54\xDD", right) +
         number("\x54\xAA", bottom);
}

TEST_F(FileSourceTest, ACropOfMatroskaIsApplied) {
  struct Case {
    const char* codec;
    const char* pixels;  // of the result
    const char* rest;    // as ffmpeg's filter crops: width, height, left and top
  };
  // 5, 3, 4 and 1 pixels at the edges, to whole chroma samples.
  const Case cases[] = {
      {"ffv1 -pix_fmt yuv420p", "yuv420p", "58:46:4:2"},
      {"ffv1 -pix_fmt yuv422p", "yuv422p", "58:44:4:3"},
      {"ffv1 -pix_fmt yuv444p", "yuv444p", "57:44:5:3"},
      {"ffv1 -pix_fmt yuv420p10le", "yuv420p10le", "58:46:4:2"},
      {"ffv1 -pix_fmt yuva420p", "yuva420p", "58:46:4:2"},
      {"ffv1 -pix_fmt yuva444p10le", "yuva444p10le", "57:44:5:3"},
      {"ffv1 -pix_fmt bgr0", "bgr0", "57:44:5:3"},
      {"ffv1 -pix_fmt gray", "gray", "57:44:5:3"},
      {"rawvideo -pix_fmt yuyv422", "yuyv422", "58:44:4:3"},
      {"mpeg2video -flags +ildct+ilme -top 1 -pix_fmt yuv420p", "yuv420p", "58:48:4:0"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.codec);
    const std::string path = make("a.mkv", kTitle + "-c:v " + c.codec, "66x48");
    test::ffmpeg("-i '" + path + "' -vf crop=" + c.rest + ":exact=1 -f rawvideo -pix_fmt " +
                 c.pixels + " '" + folder_ / "rest.raw" + "'");
    put_into_video(path, crop_elements(5, 3, 4, 1));
    const test::Decoded ours = decode(path);
    EXPECT_EQ(std::to_string(ours.info.desc.width) + ":" + std::to_string(ours.info.desc.height),
              std::string(c.rest).substr(0, 5));
    EXPECT_TRUE(ours.bytes == test::read_file(folder_ / "rest.raw"));
    EXPECT_EQ(ours.pts_ns.size(), 30U);
  }
}

TEST_F(FileSourceTest, ACropOfMatroskaKeepsTheShapeThatTheFileTells) {
  const std::string path = make("a.mkv", kTitle + "-c:v ffv1 -pix_fmt yuv420p", "64x48");
  const std::string whole = test::read_file(path);
  const auto aspect = [&](const std::string& more) {
    std::ofstream(path, std::ios::binary) << whole;
    put_into_video(path, crop_elements(0, 8, 0, 8) + more);
    const Rational is = decode(path).info.pixel_aspect;
    return is.value();
  };
  const std::string wide = number("\x54\xB0", 160) + number("\x54\xBA", 90);
  EXPECT_DOUBLE_EQ(aspect(""), 1.0);
  EXPECT_DOUBLE_EQ(aspect(wide), 16.0 / 9 * 32 / 64);
  EXPECT_DOUBLE_EQ(aspect(wide + element("\x54\xB2", "\x03")), 16.0 / 9 * 32 / 64);
  std::ofstream(path, std::ios::binary) << whole;
  put_into_video(path, crop_elements(40, 0, 40, 0));
  testing::internal::CaptureStderr();
  EXPECT_EQ(decode(path).info.desc.width, 64);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("crop larger than its pictures"));
}

TEST_F(FileSourceTest, ACleanApertureIsNamed) {
  const std::string path = make("a.mov", "-c:v rawvideo -pix_fmt uyvy422", "64x48");
  std::string bytes = test::read_file(path);
  const std::size_t box = bytes.find("clap");
  ASSERT_NE(box, std::string::npos);
  const auto said = [&] {
    testing::internal::CaptureStderr();
    logger().set_level(LogLevel::info);
    EXPECT_EQ(decode(path).info.desc.width, 64);
    logger().set_level(LogLevel::warn);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(said(), testing::Not(HasSubstr("aperture"))) << "it is the whole picture";
  bytes[box + 7] = 60;
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_THAT(said(), HasSubstr("a.mov: its clean aperture of 60x48 pixels is not applied"));
}

TEST_F(FileSourceTest, EditListHidesTheFramesBeforeIt) {
  const std::string whole = make("whole.mp4", "-c:v libx264 -bf 3 -g 100 -pix_fmt yuv420p");
  const std::string cut = folder_ / "cut.mp4";
  test::ffmpeg("-ss 0.42 -i '" + whole + "' -c copy '" + cut + "'");
  const test::Decoded ours = decode(cut);
  const auto times = test::ffprobe_times(cut);
  ASSERT_EQ(ours.pts_ns.size(), times.size());
  EXPECT_LT(times.size(), test::ffprobe_times(whole).size());
  EXPECT_NEAR(static_cast<double>(ours.pts_ns.front()), static_cast<double>(times.front()), 1e3);
}

/// Even steps from the first time on.
void expect_even_times(const test::Decoded& decoded, std::size_t count, double first_s,
                       double step_s) {
  ASSERT_EQ(decoded.pts_ns.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_NEAR(static_cast<double>(decoded.pts_ns[i]),
                1e9 * (first_s + static_cast<double>(i) * step_s), 1e3)
        << i;
  }
}

TEST_F(FileSourceTest, ElementaryStreamsComeAtTheirRateFromZeroOn) {
  const std::pair<const char*, const char*> streams[] = {
      {"a.h264", "-c:v libx264 -bf 3"},
      {"a.h265", "-c:v libx265 -x265-params log-level=none"},
      {"a.m2v", "-c:v mpeg2video -bf 2"}};
  for (const auto& [name, encoder] : streams) {
    SCOPED_TRACE(name);
    const std::string path =
        make(name, std::string("-r 24000/1001 -pix_fmt yuv420p ") + encoder, "160x128");
    const test::Decoded own = decode(path);
    EXPECT_EQ(own.info.frame_rate, (Rational{24000, 1001}));
    expect_even_times(own, own.pts_ns.size(), 0, 1001.0 / 24000);
    EXPECT_GE(own.pts_ns.size(), 28U);
    FileSourceOptions options;
    options.rate = Rational{50, 1};
    const auto source = make_file_source(path, options);
    const test::Decoded asked = test::decode(*source);
    EXPECT_EQ(asked.info.frame_rate, (Rational{50, 1}));
    expect_even_times(asked, own.pts_ns.size(), 0, 0.02);
    EXPECT_EQ(source->shortfall(), std::nullopt);
  }
}

/// Small pictures share a packet of a program stream, and only the first of them has a time there.
TEST_F(FileSourceTest, ProgramStreamsWithPicturesWithoutATimeKeepEvenTimes) {
  const std::string path = folder_ / "a.mpg";
  test::ffmpeg("-f lavfi -i testsrc2=s=160x128:r=25:d=4 -c:v mpeg2video -bf 2 -b:v 300k -f vob '" +
               path + "'");
  const auto packets = test::ffprobe("-show_packets -select_streams v", path)["packets"];
  const auto without = std::count_if(packets.begin(), packets.end(), [](const auto& packet) {
    return !packet.contains("pts_time");
  });
  ASSERT_GT(without, 3);
  const test::Decoded ours = decode(path);
  const double first_s = static_cast<double>(test::ffprobe_times(path).front()) / 1e9;
  expect_even_times(ours, 100, first_s, 0.04);
}

TEST_F(FileSourceTest, OddSizesArrive) {
  const std::string path =
      make("odd.mkv", "-vf format=yuv444p,crop=321:241,scale=321:241 -c:v ffv1 -pix_fmt yuv420p");
  const test::Decoded ours = decode(path);
  EXPECT_EQ(ours.info.desc.width, 321);
  EXPECT_EQ(ours.info.desc.height, 241);
  EXPECT_TRUE(ours.bytes == test::ffmpeg_bytes(folder_, path, "yuv420p"));
}

TEST_F(FileSourceTest, ColourTagsAreRead) {
  const test::Decoded tagged =
      decode(make("tagged.mp4", "-c:v libx264 -pix_fmt yuv420p -color_range pc -colorspace bt709"));
  EXPECT_EQ(tagged.info.desc.range, ColorRange::full);
  EXPECT_EQ(tagged.info.desc.matrix, ColorMatrix::bt709);
  const test::Decoded plain = decode(make("plain.mp4", "-c:v libx264 -pix_fmt yuv420p"));
  EXPECT_EQ(plain.info.desc.range, ColorRange::limited);
  EXPECT_EQ(plain.info.desc.matrix, ColorMatrix::bt601);
  EXPECT_EQ(plain.info.colorimetry, "");
}

TEST_F(FileSourceTest, TheContainersAspectRatioCounts) {
  const std::string square = make("square.mp4", "-c:v libx264 -pix_fmt yuv420p", "160x120");
  const std::string wide = make("wide.mp4", "-vf setsar=2/1 -c:v libx264 -pix_fmt yuv420p");
  for (const char* name : {"a.mp4", "a.mkv"}) {
    const std::string path = folder_ / name;
    test::ffmpeg("-i '" + square + "' -c copy -aspect 16:9 '" + path + "'");
    EXPECT_EQ(decode(path).info.pixel_aspect, (Rational{4, 3})) << name;
  }
  // Where the bitstream tells another, too.
  test::ffmpeg("-i '" + wide + "' -c copy -aspect 322:242 '" + folder_ / "over.mp4" + "'");
  EXPECT_EQ(decode(folder_ / "over.mp4").info.pixel_aspect, (Rational{1, 1}));
  EXPECT_EQ(decode(wide).info.pixel_aspect, (Rational{2, 1}));
  const std::pair<const char*, const char*> codecs[] = {
      {"ffv1.mkv", "-c:v ffv1 -pix_fmt yuv444p"},
      {"vp9.webm", "-c:v libvpx-vp9 -cpu-used 8 -deadline realtime"},
      {"rgb.avi", "-c:v ffv1 -pix_fmt bgr0"}};
  for (const auto& [name, codec] : codecs) {
    const std::string path = make(name, std::string("-vf setsar=1/2 ") + codec, "64x32");
    EXPECT_EQ(decode(path).info.pixel_aspect, (Rational{1, 2})) << name;
  }
}

TEST_F(FileSourceTest, PixelsOfAWildShapeAreSquare) {
  testing::internal::CaptureStderr();
  const std::string path = make("a.mkv", "-vf setsar=3000:max=10000 -c:v ffv1");
  EXPECT_EQ(make_file_source(path)->open(test::accepts_all).pixel_aspect, (Rational{1, 1}));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("are taken for square"));
}

TEST_F(FileSourceTest, FieldOrderIsRead) {
  const test::Decoded ours = decode(
      make("fields.mkv", "-c:v mpeg2video -flags +ildct+ilme -top 1 -pix_fmt yuv420p", "320x240"));
  EXPECT_EQ(ours.info.field_order, FieldOrder::top_first);
  EXPECT_EQ(ours.fields.back(), FieldOrder::top_first);
}

TEST_F(FileSourceTest, RgbIsMadeWhereOnlyRgbIsTaken) {
  const std::string path = make("a.mp4", "-c:v libx264 -pix_fmt yuv420p");
  const test::Decoded ours = test::decode(*make_file_source(path), test::accepts_rgb);
  EXPECT_EQ(to_string(ours.info.desc.format), "bgr");
  EXPECT_EQ(ours.pts_ns.size(), 30U);
}

TEST_F(FileSourceTest, DeepVideoIsRefusedWhereTheFiltersTakeEightBits) {
  const std::string deep = make("deep.mp4", "-c:v libx264 -pix_fmt yuv420p10le");
  const auto failure = test::failure_of(
      [&] { static_cast<void>(test::decode(*make_file_source(deep), has_byte_samples)); });
  // As of YUV4MPEG2: with other filters it can be done.
  EXPECT_EQ(failure.code, ExitCode::usage);
  EXPECT_THAT(failure.text, HasSubstr("is 10-bit video; the filters take 8 bits"));
}

TEST_F(FileSourceTest, ColourIsRefusedWhereTheFiltersTakeGrayAlone) {
  const std::string path = make("a.mp4", "-c:v libx264 -pix_fmt yuv420p");
  const auto failure = test::failure_of([&] {
    static_cast<void>(test::decode(
        *make_file_source(path), [](PixelFormat format) { return format == PixelFormat::gray8; }));
  });
  EXPECT_EQ(failure.code, ExitCode::usage);
  EXPECT_THAT(failure.text, HasSubstr("which the filters do not take, must be gray"));
}

TEST_F(FileSourceTest, HdrTagsAreRead) {
  for (const char* transfer : {"smpte2084", "arib-std-b67"}) {
    const std::string path = make(std::string(transfer) + ".mp4",
                                  "-c:v libx264 -pix_fmt yuv420p10le -colorspace bt2020nc "
                                  "-color_primaries bt2020 -color_trc " +
                                      std::string(transfer));
    const test::Decoded ours = decode(path);
    EXPECT_EQ(ours.info.desc.matrix, ColorMatrix::bt2020);
    EXPECT_EQ(ours.info.desc.format, PixelFormat::i420_10le);
    EXPECT_NE(ours.info.colorimetry, "");
    EXPECT_TRUE(ours.bytes == test::ffmpeg_bytes(folder_, path, "yuv420p10le"));
  }
}

TEST_F(FileSourceTest, UnusableFilesAreRefusedSoon) {
  test::ffmpeg("-f lavfi -i sine=d=1 -c:a aac '" + folder_ / "audio.mp4" + "'");
  std::ofstream(folder_ / "empty.mp4").flush();
  std::ofstream(folder_ / "noise.mp4") << std::string(50'000, '\x5a');
  const std::string whole = make("whole.mp4", "-c:v libx264 -pix_fmt yuv420p");
  std::ofstream(folder_ / "head.mp4") << test::read_file(whole).substr(0, 700);
  for (const char* name : {"audio.mp4", "empty.mp4", "noise.mp4", "head.mp4"}) {
    const auto failure = test::failure_of([&] { static_cast<void>(decode(folder_ / name)); });
    EXPECT_EQ(failure.code, ExitCode::bad_input) << name;
    EXPECT_THAT(failure.text, HasSubstr(name));
    EXPECT_LT(failure.seconds, kTimeLimit) << name;
  }
  const auto missing = test::failure_of([&] { static_cast<void>(decode(folder_ / "none.mp4")); });
  EXPECT_EQ(missing.code, ExitCode::no_input);
}

TEST_F(FileSourceTest, ACutFileGivesItsFramesAndSaysWhatIsMissing) {
  const std::string whole = make("whole.mkv", "-c:v libx264 -g 5 -pix_fmt yuv420p");
  const std::string bytes = test::read_file(whole);
  std::ofstream(folder_ / "cut.mkv", std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  const auto source = make_file_source(folder_ / "cut.mkv");
  const test::Decoded ours = test::decode(*source);
  EXPECT_GT(ours.pts_ns.size(), 5U);
  EXPECT_LT(ours.pts_ns.size(), 30U);
  EXPECT_TRUE(source->shortfall().has_value());
  const auto complete = make_file_source(whole);
  EXPECT_EQ(test::decode(*complete).pts_ns.size(), 30U);
  EXPECT_EQ(complete->shortfall(), std::nullopt);
}

/// Nothing is missing there but what the bytes mean.
TEST_F(FileSourceTest, PicturesThatCannotBeDecodedAtTheEndAreMissed) {
  const std::pair<const char*, const char*> inputs[] = {
      {"a.mp4", "-c:v libx264 -bf 2"},
      {"b.mp4", "-c:v mpeg4"},
      {"c.mp4", "-c:v libvpx-vp9 -cpu-used 8 -lag-in-frames 0"},
      {"d.mov", "-c:v prores_ks"}};
  for (const auto& [name, codec] : inputs) {
    SCOPED_TRACE(name);
    const std::string path = make(name, std::string(codec), "160x128");
    const auto packets = test::ffprobe("-show_packets -select_streams v", path)["packets"];
    std::string bytes = test::read_file(path);
    for (std::size_t i = 10; i < packets.size(); ++i) {
      const auto position = std::stoull(packets[i]["pos"].get<std::string>());
      const auto size = std::stoull(packets[i]["size"].get<std::string>());
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(position), size, '\0');
    }
    std::ofstream(path, std::ios::binary) << bytes;
    const auto source = make_file_source(path);
    EXPECT_LE(test::decode(*source).pts_ns.size(), 12U);
    EXPECT_THAT(source->shortfall().value_or("whole"), HasSubstr("could not be decoded"));
  }
}

/// The packets from `first` to the end of `last`, in order of the file, have their bytes replaced.
void overwrite_packets(const std::string& path, std::size_t first, std::size_t last, char by) {
  const auto packets = test::ffprobe("-show_packets -select_streams v", path)["packets"];
  const auto number = [&](std::size_t i, const char* key) {
    return std::stoull(packets.at(i)[key].get<std::string>());
  };
  std::string bytes = test::read_file(path);
  const std::size_t from = number(first, "pos") + number(first, "size") / 2;
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(from),
            bytes.begin() + static_cast<std::ptrdiff_t>(number(last, "pos")), by);
  std::ofstream(path, std::ios::binary) << bytes;
}

/// Demuxers go on behind it with what they find next.
TEST_F(FileSourceTest, DamageInTheMiddleOfMatroskaIsMissed) {
  for (const char* codec : {"rawvideo", "prores_ks", "ffv1", "libx264 -bf 2 -g 5"}) {
    for (const auto& [first, last] : {std::pair<std::size_t, std::size_t>{10, 16}, {26, 28}}) {
      for (const char by : {'\0', '\xFF'}) {
        SCOPED_TRACE(std::string(codec) + " " + std::to_string(first));
        const std::string path =
            make("a.mkv", std::string("-c:v ") + codec + " -cluster_time_limit 200", "160x120");
        overwrite_packets(path, first, last, by);
        const auto source = make_file_source(path);
        EXPECT_LT(test::decode(*source).pts_ns.size(), 30U);
        EXPECT_THAT(source->shortfall().value_or("whole"),
                    testing::ContainsRegex("is damaged be.* cannot be read"));
      }
    }
  }
}

TEST_F(FileSourceTest, GapsInTimeAreNoDamage) {
  for (const char* codec : {"rawvideo", "prores_ks", "libx264 -bf 2"}) {
    for (const char* gap : {"setpts=PTS+gt(N\\,9)*1.6/TB", "select=not(between(n\\,7\\,19))"}) {
      const std::string path =
          make("a.mkv", "-vf '" + std::string(gap) + "' -fps_mode vfr -c:v " + codec, "160x120");
      const auto source = make_file_source(path);
      EXPECT_GE(test::decode(*source).pts_ns.size(), 17U) << codec << gap;
      EXPECT_EQ(source->shortfall(), std::nullopt) << codec << gap;
    }
  }
}

TEST_F(FileSourceTest, AnAnimatedPngIsRefused) {
  const std::string path = make("a.apng", "-f apng");
  const auto failure = test::failure_of([&] { static_cast<void>(decode(path)); });
  EXPECT_EQ(failure.code, ExitCode::bad_input);
  EXPECT_THAT(failure.text, HasSubstr("is an animated PNG"));
}

TEST_F(FileSourceTest, AChangeInTheMiddleIsNamed) {
  const std::string first = test::read_file(make("a.ts", "-c:v libx264 -pix_fmt yuv420p"));
  const std::pair<const char*, std::string> cases[] = {
      {"640x480", make("size.ts", "-c:v libx264 -pix_fmt yuv420p", "640x480")},
      {"Y42B", make("format.ts", "-c:v libx264 -pix_fmt yuv422p")}};
  for (const auto& [what, second] : cases) {
    const std::string joined = folder_ / "joined.ts";
    std::ofstream(joined, std::ios::binary) << first << test::read_file(second);
    const auto failure = test::failure_of([&] { static_cast<void>(decode(joined)); });
    EXPECT_EQ(failure.code, ExitCode::bad_input);
    EXPECT_THAT(failure.text, HasSubstr(what));
  }
}

TEST_F(FileSourceTest, FramesOutliveTheirSource) {
  auto source = make_file_source(make("a.mp4", "-c:v libx264 -pix_fmt yuv420p"));
  FramePool pool(source->open(test::accepts_all).desc, 2, true);
  FramePtr frame = pool.acquire();
  ASSERT_TRUE(source->read(*frame));
  std::string before;
  test::append_tight(before, frame->image);
  source.reset();
  std::string after;
  test::append_tight(after, frame->image);
  EXPECT_TRUE(before == after);
}

TEST_F(FileSourceTest, CancelEndsReading) {
  const auto source = make_file_source(make("a.mp4", "-c:v libx264 -pix_fmt yuv420p"));
  FramePool pool(source->open(test::accepts_all).desc, 2, true);
  FramePtr frame = pool.acquire();
  ASSERT_TRUE(source->read(*frame));
  std::thread canceller([&] { source->cancel(); });
  canceller.join();
  frame.reset();
  frame = pool.acquire();
  EXPECT_FALSE(source->read(*frame));
}

TEST_F(FileSourceTest, DebiansSampleHasAllItsFrames) {
  const std::string path = "/usr/share/doc/opencv-doc/examples/data/vtest.avi";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "opencv-doc is not installed";
  const auto source = make_file_source(path);
  const StreamInfo info = source->open(test::accepts_all);
  FramePool pool(info.desc, 2, true);
  std::int64_t count = 0;
  for (FramePtr frame = pool.acquire(); source->read(*frame);) {
    EXPECT_EQ(frame->pts_ns, count * 100'000'000);
    ++count;
    frame.reset();
    frame = pool.acquire();
  }
  EXPECT_EQ(count, 795);
}

}  // namespace
}  // namespace equalux
