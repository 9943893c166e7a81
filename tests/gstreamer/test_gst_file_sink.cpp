#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "pipelines/core/part_source.h"
#include "pipelines/files/y4m.h"
#include "pipelines/gstreamer/decode/file_source.h"
#include "pipelines/gstreamer/encode/file_sink.h"
#include "pipelines/gstreamer/launch.h"
#include "pipelines/picture/upright_sink.h"
#include "pipelines/v4l2/v4l2_output.h"
#include "tests/gstreamer/loopback_server.h"
#include "tests/gstreamer/video_files.h"
#include "tests/v4l2/fake_output.h"

namespace equalux {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A way of writing: the encoder, the file, and the input's layout.
struct Case {
  const char* name;
  const char* encoder;
  bool lossless;
  const char* output;
  const char* pixels = "yuv420p";
};

class FileSinkTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!test::have_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not installed";
  }
  /// A second of moving pictures at an uneven rate that starts late.
  std::string make(const std::string& name, const std::string& pixels,
                   const std::string& size = "322x242") {
    test::ffmpeg("-f lavfi -i testsrc2=s=" + size + ":r=25:d=1.6 -vf scale=" + size +
                 ",format=" + pixels +
                 ",select='not(mod(n\\,3))+eq(mod(n\\,7)\\,0)' -fps_mode vfr "
                 "-output_ts_offset 0.48 -c:v ffv1 -pix_fmt " +
                 pixels + " '" + folder_ / name + "'");
    return folder_ / name;
  }
  FileSinkOptions options(const std::string& name) const {
    FileSinkOptions result;
    result.path = folder_ / name;
    return result;
  }
  test::TempFolder folder_;
};

TEST_P(FileSinkTest, KeepsEveryFrameAndItsTime) {
  const Case& now = GetParam();
  const std::string input = make("in.mkv", now.pixels);
  FileSinkOptions settings = options(now.output);
  settings.encoder = now.encoder;
  settings.lossless = now.lossless;
  const auto source = make_file_source(input);
  const auto sink = make_file_sink(settings);
  const std::uint64_t frames = test::copy_frames(*source, *sink);
  sink->finish(Ending::complete);

  const auto before = test::ffprobe_times(input);
  const auto after = test::ffprobe_times(settings.path);
  ASSERT_EQ(frames, before.size());
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(after[i]), static_cast<double>(before[i]), 1e6) << i;
  }
  if (now.lossless) {
    EXPECT_TRUE(test::ffmpeg_bytes(folder_, input, now.pixels) ==
                test::ffmpeg_bytes(folder_, settings.path, now.pixels));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out.partial.mkv"));
}

INSTANTIATE_TEST_SUITE_P(
    , FileSinkTest,
    testing::Values(
        Case{"x264_mp4", "x264", false, "out.mp4"}, Case{"x264_mkv", "x264", false, "out.mkv"},
        Case{"x264_mov", "x264", false, "out.mov"}, Case{"x264_lossless", "x264", true, "out.mp4"},
        Case{"x264_lossless_422", "x264", true, "out.mkv", "yuv422p"},
        Case{"x264_lossless_444", "x264", true, "out.mkv", "yuv444p"},
        Case{"x265", "x265", false, "out.mp4"}, Case{"x265_lossless", "x265", true, "out.mkv"},
        Case{"vp9", "vp9", false, "out.mp4"}, Case{"vp9_lossless", "vp9", true, "out.mkv"},
        Case{"ffv1", "ffv1", true, "out.mkv"}, Case{"ffv1_gray", "ffv1", true, "out.mkv", "gray"},
        Case{"ffv1_444", "ffv1", true, "out.mkv", "yuv444p"},
        Case{"x264_10", "x264", false, "out.mp4", "yuv420p10le"},
        Case{"x264_lossless_10", "x264", true, "out.mp4", "yuv420p10le"},
        Case{"x264_lossless_422_10", "x264", true, "out.mkv", "yuv422p10le"},
        Case{"x264_lossless_444_10", "x264", true, "out.mkv", "yuv444p10le"},
        Case{"x265_lossless_10", "x265", true, "out.mkv", "yuv420p10le"},
        Case{"vp9_lossless_12", "vp9", true, "out.mkv", "yuv420p12le"},
        Case{"ffv1_10", "ffv1", true, "out.mkv", "yuv420p10le"},
        Case{"ffv1_422_12", "ffv1", true, "out.mkv", "yuv422p12le"},
        Case{"ffv1_444_12", "ffv1", true, "out.mkv", "yuv444p12le"},
        Case{"ffv1_gray16", "ffv1", true, "out.mkv", "gray16le"},
        Case{"mjpeg", "mjpeg", false, "out.mkv"}),
    [](const auto& named) { return std::string(named.param.name); });

TEST_F(FileSinkTest, CopiesTheSound) {
  const std::string input = folder_ / "in.mp4";
  test::ffmpeg(
      "-f lavfi -i testsrc2=s=320x240:r=25:d=2 -f lavfi -i sine=d=2 -c:v libx264 "
      "-pix_fmt yuv420p -c:a aac '" +
      input + "'");
  const FileSinkOptions settings = options("out.mkv");
  const auto source = make_file_source(input);
  const auto sink = make_file_sink(settings);
  EXPECT_EQ(test::copy_frames(*source, *sink), 50U);
  sink->finish(Ending::complete);
  const auto hash = [](const std::string& path) {
    return test::shell("ffmpeg -v error -i '" + path + "' -map 0:a -c copy -f md5 -");
  };
  EXPECT_EQ(hash(settings.path), hash(input));
}

TEST_F(FileSinkTest, PartsWhoseClockRestartsFollowEachOther) {
  test::ffmpeg(
      "-f lavfi -i testsrc2=s=320x240:r=25:d=2 -f lavfi -i sine=d=2:r=48000 -c:v libx264 -bf 2 "
      "-pix_fmt yuv420p -c:a aac '" +
      folder_ / "a.ts" + "'");
  const std::string part = test::read_file(folder_ / "a.ts");
  std::ofstream(folder_ / "in.ts", std::ios::binary) << part << part;
  for (const char* name : {"out.mkv", "out.mp4"}) {
    SCOPED_TRACE(name);
    testing::internal::CaptureStderr();
    const auto source = make_file_source(folder_ / "in.ts");
    const auto sink = make_file_sink(options(name));
    EXPECT_EQ(test::copy_frames(*source, *sink), 100U);
    sink->finish(Ending::complete);
    EXPECT_EQ(source->shortfall(), std::nullopt);
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                HasSubstr("in.ts: its clock restarts at 3.48 s; each part follows the one before"));

    const auto times = test::ffprobe_times(folder_ / name);
    ASSERT_EQ(times.size(), 100U);
    for (std::size_t i = 0; i < 100; ++i) {
      EXPECT_NEAR(static_cast<double>(times[i] - times[0]), static_cast<double>(i) * 40e6, 1e6);
    }
    const auto json = test::ffprobe("-show_packets -select_streams a", folder_ / name)["packets"];
    std::vector<double> sound;
    for (const auto& packet : json)
      sound.push_back(std::stod(packet["pts_time"].get<std::string>()));
    // The first packet of each part is 21 ms before its first picture.
    ASSERT_GT(sound.size(), 180U);
    const double start = static_cast<double>(times[50]) / 1e9 - 0.0213;
    EXPECT_THAT(sound, testing::Contains(testing::DoubleNear(start + 0.0213, 0.0012)));
    EXPECT_NEAR(sound.back() - start, sound[sound.size() / 2 - 1] - sound[0], 0.03);
    EXPECT_TRUE(std::is_sorted(sound.begin(), sound.end()));
  }
}

TEST_F(FileSinkTest, APartialRunIsPlayable) {
  const std::string input = make("in.mkv", "yuv420p");
  const FileSinkOptions settings = options("out.mp4");
  const auto source = make_file_source(input);
  const auto sink = make_file_sink(settings);
  EXPECT_EQ(test::copy_frames(*source, *sink, 7), 7U);
  sink->finish(Ending::partial);
  EXPECT_EQ(test::decoded_frames(settings.path), 7);
}

TEST_F(FileSinkTest, AFailedRunLeavesNothing) {
  const std::string input = make("in.mkv", "yuv420p");
  const FileSinkOptions settings = options("out.mp4");
  const auto source = make_file_source(input);
  const auto sink = make_file_sink(settings);
  EXPECT_EQ(test::copy_frames(*source, *sink, 12), 12U);
  sink->finish(Ending::failed);
  EXPECT_THAT(folder_.names(), ElementsAre("in.mkv"));
}

TEST_F(FileSinkTest, ASinkThatIsDroppedLeavesNothing) {
  const std::string input = make("in.mkv", "yuv420p");
  const auto source = make_file_source(input);
  auto sink = make_file_sink(options("out.mkv"));
  EXPECT_EQ(test::copy_frames(*source, *sink, 12), 12U);
  sink.reset();
  EXPECT_THAT(folder_.names(), ElementsAre("in.mkv"));
}

TEST_F(FileSinkTest, ImpossibleOutputsAreRefusedAtOpen) {
  StreamInfo info;
  info.desc = {PixelFormat::i420, 320, 240};
  const auto refusal = [&](FileSinkOptions settings) {
    return test::failure_of([&] { make_file_sink(settings)->open(info); });
  };
  EXPECT_EQ(refusal(options("missing/out.mp4")).code, ExitCode::cannot_create);
  EXPECT_EQ(refusal(options("out.xyz")).code, ExitCode::usage);
  FileSinkOptions settings = options("out.mp4");
  settings.encoder = "nosuch";
  EXPECT_EQ(refusal(settings).code, ExitCode::usage);

  info.desc = {PixelFormat::i420, 321, 240};
  const auto odd = refusal(options("out.mp4"));
  EXPECT_EQ(odd.code, ExitCode::usage);
  EXPECT_THAT(odd.text, HasSubstr("ffv1"));
  info.desc = {PixelFormat::y42b, 320, 240};
  settings.encoder = "vp9";
  const auto chroma = refusal(settings);
  EXPECT_EQ(chroma.code, ExitCode::usage);
  EXPECT_THAT(chroma.text, HasSubstr("4:2:2"));
  info.desc = {PixelFormat::bgr, 320, 240};
  settings = options("out.mp4");
  settings.lossless = true;
  EXPECT_EQ(refusal(settings).code, ExitCode::usage);
  info.desc = {PixelFormat::grayf32, 320, 240};
  const auto floats = refusal(options("out.mp4"));
  EXPECT_EQ(floats.code, ExitCode::usage);
  EXPECT_THAT(floats.text, HasSubstr("float pictures; no encoder here does, write arrays"));
  EXPECT_THAT(folder_.names(), ElementsAre());
}

TEST_F(FileSinkTest, NoBitsAreLostInSilence) {
  StreamInfo info;
  const std::pair<PixelFormat, const char*> cases[] = {
      {PixelFormat::i420_12le, "does not take 4:2:0 12-bit pictures; these do: "},
      {PixelFormat::y444_16le, "does not take 4:4:4 16-bit pictures; no encoder here does"},
      {PixelFormat::gray16_le, "does not take gray16_le pictures; these do: ffv1"},
      {PixelFormat::rgba64_le, "does not take rgba64_le pictures; no encoder here does"},
      {PixelFormat::bgr48_le, "does not take bgr48_le pictures; no encoder here does"}};
  for (const auto& [format, message] : cases) {
    info.desc = {format, 320, 240};
    const auto refusal = test::failure_of([&] { make_file_sink(options("out.mp4"))->open(info); });
    EXPECT_EQ(refusal.code, ExitCode::usage);
    EXPECT_THAT(refusal.text, HasSubstr(message));
  }
  FileSinkOptions settings = options("out.mkv");
  settings.encoder = "mjpeg";
  info.desc = {PixelFormat::i420_10le, 320, 240};
  const auto eight = test::failure_of([&] { make_file_sink(settings)->open(info); });
  EXPECT_THAT(eight.text, HasSubstr("does not take 4:2:0 10-bit pictures; these do: x264"));
  EXPECT_THAT(folder_.names(), ElementsAre());
}

/// What a GPU decodes to: the same video as the planes of 10 bits that encoders take.
TEST_F(FileSinkTest, P010IsEncodedAsPlanes) {
  const std::string input = make("in.mkv", "yuv420p10le");
  const auto source = make_file_source(input);
  StreamInfo info = source->open(test::accepts_all);
  info.desc.format = PixelFormat::p010_10le;
  FileSinkOptions settings = options("out.mkv");
  settings.lossless = true;
  const auto sink = make_file_sink(settings);
  sink->open(info);
  FramePool pool(source->open(test::accepts_all).desc, 4, source->lends_buffers());
  for (FramePtr frame = pool.acquire(); source->read(*frame); frame = pool.acquire()) {
    Image paired(info.desc);
    const ConstImageView planes = frame->image;
    for (int p = 0; p < 3; ++p) {
      for (int y = 0; y < plane_rows(planes.desc, p); ++y) {
        for (std::size_t x = 0; x < row_bytes(planes.desc, p) / 2; ++x) {
          const std::uint8_t* at = planes.row(p, y) + 2 * x;
          const int word = (at[0] + 256 * at[1]) << 6;
          std::uint8_t* out =
              paired.view().row(p > 0 ? 1 : 0, y) + (p == 0 ? 2 * x : 4 * x + (p == 2 ? 2 : 0));
          out[0] = static_cast<std::uint8_t>(word & 255);
          out[1] = static_cast<std::uint8_t>(word >> 8);
        }
      }
    }
    Frame p010;
    p010.image = std::as_const(paired).view();
    p010.pts_ns = frame->pts_ns;
    p010.duration_ns = frame->duration_ns;
    sink->write(p010);
  }
  sink->finish(Ending::complete);
  EXPECT_TRUE(test::ffmpeg_bytes(folder_, input, "yuv420p10le") ==
              test::ffmpeg_bytes(folder_, settings.path, "yuv420p10le"));
}

TEST_F(FileSinkTest, HdrTagsAreKept) {
  const std::string input = folder_ / "in.mkv";
  test::ffmpeg(
      "-f lavfi -i testsrc2=s=320x240:r=25:d=0.2 -c:v libx264 -pix_fmt yuv420p10le "
      "-colorspace bt2020nc -color_primaries bt2020 -color_trc smpte2084 '" +
      input + "'");
  const FileSinkOptions settings = options("out.mp4");
  const auto source = make_file_source(input);
  const auto sink = make_file_sink(settings);
  EXPECT_EQ(test::copy_frames(*source, *sink), 5U);
  sink->finish(Ending::complete);
  const nlohmann::json stream =
      test::ffprobe("-select_streams v:0 -show_streams", settings.path).at("streams").at(0);
  EXPECT_EQ(stream.value("pix_fmt", ""), "yuv420p10le");
  EXPECT_EQ(stream.value("color_transfer", ""), "smpte2084");
  EXPECT_EQ(stream.value("color_primaries", ""), "bt2020");
  EXPECT_EQ(stream.value("color_space", ""), "bt2020nc");
}

TEST_F(FileSinkTest, OddSizesAreWrittenByWhoTakesThem) {
  const std::string input = make("in.mkv", "yuv420p", "321x241");
  FileSinkOptions settings = options("out.mp4");
  settings.encoder = "vp9";
  settings.lossless = true;
  const auto source = make_file_source(input);
  const auto sink = make_file_sink(settings);
  test::copy_frames(*source, *sink);
  sink->finish(Ending::complete);
  EXPECT_TRUE(test::ffmpeg_bytes(folder_, input, "yuv420p") ==
              test::ffmpeg_bytes(folder_, settings.path, "yuv420p"));
}

TEST_F(FileSinkTest, NothingIsWrittenWithoutFrames) {
  StreamInfo info;
  info.desc = {PixelFormat::i420, 320, 240};
  const auto sink = make_file_sink(options("out.mp4"));
  sink->open(info);
  sink->finish(Ending::partial);
  EXPECT_THAT(folder_.names(), ElementsAre());
}

/// Writes a display matrix into an mp4's first track: columns and rows as they are shown.
void set_matrix(const std::string& path, const std::array<int, 4>& abcd) {
  std::string bytes = test::read_file(path);
  const std::size_t matrix = bytes.find("tkhd") + 4 + 40;
  const std::array<int, 9> values{abcd[0], abcd[1], 0, abcd[2], abcd[3], 0, 0, 0, 1};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto fixed = static_cast<std::uint32_t>(values[i]) << (i % 3 == 2 ? 30U : 16U);
    for (std::size_t b = 0; b < 4; ++b)
      bytes[matrix + 4 * i + b] = static_cast<char>(fixed >> (24 - 8 * b));
  }
  std::ofstream(path, std::ios::binary) << bytes;
}

/// A virtual camera whose device answers as a driver does; what it is given goes into a file.
class FakeCamera final : public Sink {
 public:
  FakeCamera(std::string path, std::string& size) : path_(std::move(path)), size_(size) {}
  void open(const StreamInfo& info) override {
    const test::FakeOutput node;
    const V4l2Output output = set_v4l2_output(node, "/dev/video9", info.desc);
    size_ = std::to_string(output.width) + "x" + std::to_string(output.height);
    std::string launch = v4l2_launch("/dev/video9", output);
    launch.replace(launch.find("v4l2sink"), std::string::npos, "filesink location=" + path_);
    sink_ = make_launch_sink(launch);
    sink_->open(info);
  }
  void write(Frame& frame) override { sink_->write(frame); }
  void finish(Ending ending) override { sink_->finish(ending); }

 private:
  std::string path_;
  std::string& size_;
  std::unique_ptr<Sink> sink_;
};

/// FFmpeg turns what it decodes by itself.
TEST_F(FileSinkTest, OutputsWithoutAnOrientationStandUpright) {
  const std::string input = folder_ / "in.mp4";
  test::ffmpeg("-f lavfi -i testsrc2=s=96x64:r=25:d=0.2 -c:v libx264 -qp 0 -pix_fmt yuv420p '" +
               input + "'");
  const std::array<std::array<int, 4>, 8> matrices{{{1, 0, 0, 1},
                                                    {-1, 0, 0, 1},
                                                    {-1, 0, 0, -1},
                                                    {1, 0, 0, -1},
                                                    {0, 1, 1, 0},
                                                    {0, 1, -1, 0},
                                                    {0, -1, -1, 0},
                                                    {0, -1, 1, 0}}};
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    SCOPED_TRACE(i + 1);
    set_matrix(input, matrices[i]);
    const auto source = make_file_source(input);
    const auto sink = make_upright_sink(make_y4m_sink(folder_ / "out.y4m"));
    EXPECT_EQ(test::copy_frames(*source, *sink), 5U);
    sink->finish(Ending::complete);
    const std::string upright = test::ffmpeg_bytes(folder_, input, "yuv420p");
    EXPECT_TRUE(test::ffmpeg_bytes(folder_, folder_ / "out.y4m", "yuv420p") == upright);

    const std::string raw = folder_ / "out.raw";
    std::string size;
    const auto written_by = [&](std::unique_ptr<Sink> plain) {
      const auto turned = make_upright_sink(std::move(plain));
      EXPECT_EQ(test::copy_frames(*make_file_source(input), *turned), 5U);
      turned->finish(Ending::complete);
      return test::read_file(raw);
    };
    EXPECT_TRUE(written_by(make_launch_sink("filesink location=" + raw)) == upright);
    EXPECT_TRUE(written_by(std::make_unique<FakeCamera>(raw, size)) == upright);
    EXPECT_EQ(size, i < 4 ? "96x64" : "64x96");
  }
}

TEST_F(FileSinkTest, WhatStartsBeforeZeroIsShiftedAsAWhole) {
  const std::string input = folder_ / "in.mkv";
  test::ffmpeg(
      "-f lavfi -i testsrc2=s=96x64:r=25:d=1.6 -f lavfi -i sine=d=1.6 -c:v libx264 -bf 2 -pix_fmt "
      "yuv420p -c:a pcm_s16le -output_ts_offset -0.4 -avoid_negative_ts disabled '" +
      input + "'");
  for (const char* name : {"out.mp4", "out.mkv"}) {
    SCOPED_TRACE(name);
    FileSinkOptions settings = options(name);
    settings.drop_streams = true;
    const auto source = make_file_source(input);
    const auto sink = make_file_sink(settings);
    EXPECT_EQ(test::copy_frames(*source, *sink), 40U);
    sink->finish(Ending::complete);
    const auto times = test::ffprobe_times(settings.path);
    ASSERT_EQ(times.size(), 40U);
    for (std::size_t i = 0; i < times.size(); ++i)
      EXPECT_NEAR(static_cast<double>(times[i]), static_cast<double>(i) * 4e7, 1.1e6) << i;
    EXPECT_EQ(test::decoded_frames(settings.path), 40);
  }
  const auto packets =
      test::ffprobe("-show_packets -select_streams a", folder_ / "out.mkv")["packets"];
  EXPECT_NEAR(std::stod(packets[0]["pts_time"].get<std::string>()), 0, 0.0011);
}

/// A web server with one file, of the simplest kind: it knows no ranges. Or one with a stream that
/// ends when the server hangs up. With `given`, it falls silent behind so many bytes of the body,
/// or without an answer where that is 0.
class WebServer {
 public:
  WebServer(std::string body, bool has_length, std::optional<std::size_t> given = {})
      : body_(std::move(body)), has_length_(has_length), given_(given) {}
  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(server_.port()) + "/clip";
  }
  /// Waits for so many calls that got all they get.
  void wait_for_silence(int calls) const {
    for (int i = 0; i < 2000 && silent_ < calls; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_GE(silent_.load(), calls);
  }

 private:
  void answer(int call) {
    if (given_ != 0U) {
      const std::string head =
          "HTTP/1.0 200 OK\r\n" +
          (has_length_ ? "Content-Length: " + std::to_string(body_.size()) + "\r\n" : "") + "\r\n";
      static_cast<void>(::send(call, head.data(), head.size(), MSG_NOSIGNAL));
      static_cast<void>(::send(call, body_.data(), given_.value_or(body_.size()), MSG_NOSIGNAL));
    }
    if (!given_) return;
    ++silent_;
    char byte = 0;
    while (::recv(call, &byte, 1, 0) > 0) {
    }
  }

  std::string body_;
  bool has_length_;
  std::optional<std::size_t> given_;
  std::atomic<int> silent_ = 0;
  test::LoopbackServer server_{[this](int call) { answer(call); }};
};

TEST_F(FileSinkTest, AFileBehindAWebAddressKeepsItsSound) {
  const std::string input = folder_ / "in.mkv";
  test::ffmpeg(
      "-f lavfi -i testsrc2=s=96x64:r=25:d=1 -f lavfi -i sine=d=1 -metadata title=Tee -c:v libx264 "
      "-bf 2 -pix_fmt yuv420p -c:a aac '" +
      input + "'");
  const auto copied = [&](const std::string& from, const std::string& name) {
    const auto source = from == input ? make_file_source(from) : make_network_source(from);
    const auto sink = make_file_sink(options(name));
    EXPECT_EQ(test::copy_frames(*source, *sink), 25U);
    EXPECT_EQ(source->shortfall(), std::nullopt);
    sink->finish(Ending::complete);
    const auto found = test::ffprobe(
        "-show_packets -show_data_hash md5 -select_streams a -show_format", folder_ / name);
    EXPECT_EQ(found["format"]["tags"]["title"], "Tee");
    return found["packets"];
  };
  const WebServer server(test::read_file(input), true);
  for (const std::string kind : {".mkv", ".mp4"}) {
    const auto expected = copied(input, "local" + kind);
    EXPECT_GT(expected.size(), 40U);
    EXPECT_EQ(copied(server.url(), "web" + kind), expected);
  }
}

TEST_F(FileSinkTest, CopiedStreamsThatEndEarlyMakeTheOutputPartial) {
  const std::string input = folder_ / "in.mkv";
  // More than libavformat reads to find out what a file has.
  test::ffmpeg(
      "-f lavfi -i testsrc2=s=96x64:r=5:d=40 -f lavfi -i sine=d=40:r=48000 -c:v ffv1 -pix_fmt "
      "yuv420p -ac 2 -c:a pcm_s16le '" +
      input + "'");
  const std::string bytes = test::read_file(input);
  ASSERT_GT(bytes.size(), 7'000'000U);
  const test::LoopbackServer server([&](int call) {
    const std::string head =
        "HTTP/1.0 200 OK\r\nContent-Length: " + std::to_string(bytes.size()) + "\r\n\r\n";
    static_cast<void>(::send(call, head.data(), head.size(), MSG_NOSIGNAL));
    static_cast<void>(::send(call, bytes.data(), 6'500'000, MSG_NOSIGNAL));
  });
  for (const bool cut : {false, true}) {
    const auto source = make_file_source(input);
    StreamInfo info = source->open(test::accepts_all);
    if (cut) info.container_path = "http://127.0.0.1:" + std::to_string(server.port()) + "/in.mkv";
    const auto sink = make_file_sink(options("out.mkv"));
    sink->open(info);
    FramePool pool(info.desc, 4, true);
    for (FramePtr frame = pool.acquire(); source->read(*frame); frame = pool.acquire())
      sink->write(*frame);
    EXPECT_EQ(sink->shortfall(), std::nullopt);
    sink->finish(Ending::complete);
    if (cut) {
      EXPECT_THAT(sink->shortfall().value_or(""),
                  testing::StartsWith("the copied streams end early: "));
    } else {
      EXPECT_EQ(sink->shortfall(), std::nullopt);
    }
  }
}

/// From cancel() to the end of what waits for a server; libavformat's own patience is 10 s.
constexpr double kLongestWait = 3;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

TEST_F(FileSinkTest, CancelEndsTheWaitForASilentServer) {
  StreamInfo info;
  info.desc = {.format = PixelFormat::i420, .width = 96, .height = 64};
  {
    const WebServer server("", true, 0);
    const auto source = make_network_source(server.url());
    std::thread opening([&] { EXPECT_THROW((void)source->open(test::accepts_all), Error); });
    server.wait_for_silence(1);
    const Clock::time_point start = Clock::now();
    source->cancel();
    opening.join();
    EXPECT_LT(seconds_since(start), kLongestWait);
  }
  {
    const WebServer server("", true, 0);
    info.container_path = server.url();
    const auto sink = make_file_sink(options("silent.mkv"));
    std::thread opening([&] { EXPECT_THROW(sink->open(info), Error); });
    server.wait_for_silence(1);
    const Clock::time_point start = Clock::now();
    sink->cancel();
    opening.join();
    EXPECT_LT(seconds_since(start), kLongestWait);
  }
  EXPECT_THAT(folder_.names(), ElementsAre());
}

TEST_F(FileSinkTest, CancelEndsTheWaitForAServerThatFallsSilentWithinTheFile) {
  const std::string input = folder_ / "in.mkv";
  test::ffmpeg(
      "-f lavfi -i testsrc2=s=96x64:r=25:d=4 -f lavfi -i sine=d=4 -c:v ffv1 -pix_fmt yuv420p "
      "-c:a pcm_s16le '" +
      input + "'");
  const std::string bytes = test::read_file(input);
  const WebServer server(bytes, true, bytes.size() / 2);
  const FileSinkOptions settings = options("half.mkv");
  Clock::time_point start;
  std::atomic<int> frames = 0;
  {
    const auto source = make_network_source(server.url());
    const auto sink = make_file_sink(settings);
    std::thread copying([&] {
      const StreamInfo info = source->open(test::accepts_all);
      sink->open(info);
      FramePool pool(info.desc, 4, true);
      for (FramePtr frame = pool.acquire(); source->read(*frame); frame = pool.acquire()) {
        sink->write(*frame);
        ++frames;
      }
      sink->finish(Ending::partial);
    });
    // Until frames have come and no more do.
    int before = 0;
    for (int quiet = 0; quiet < 50; std::this_thread::sleep_for(std::chrono::milliseconds(10))) {
      quiet = frames > 0 && frames == before ? quiet + 1 : 0;
      before = frames;
    }
    start = Clock::now();
    source->cancel();
    sink->cancel();
    copying.join();
  }
  EXPECT_LT(seconds_since(start), kLongestWait);
  EXPECT_LT(frames, 100);
  EXPECT_EQ(test::decoded_frames(settings.path), frames);
}

TEST_F(FileSinkTest, AStreamWithoutALengthIsPicturesAlone) {
  const std::string input = folder_ / "in.mkv";
  test::ffmpeg("-f lavfi -i testsrc2=s=96x64:r=25:d=1 -c:v libx264 -pix_fmt yuv420p '" + input +
               "'");
  const WebServer server(test::read_file(input), false);
  const auto source = make_network_source(server.url());
  EXPECT_EQ(source->open(test::accepts_all).container_path, "");
}

/// Returns "0.000-0.400 " for each chapter.
std::string chapters_of(const std::string& path) {
  std::string list;
  const auto found = test::ffprobe("-show_chapters", path);
  for (const auto& chapter : found["chapters"]) {
    const auto time = [&](const char* key) {
      return chapter[key].template get<std::string>().substr(0, 5);
    };
    list += time("start_time") + "-" + time("end_time") + " ";
  }
  return list;
}

TEST_F(FileSinkTest, APartHasItsOwnSoundTextsAndChapters) {
  const std::string input = folder_ / "in.mkv";
  std::ofstream(folder_ / "in.srt") << "1\n00:00:00,100 --> 00:00:00,300\nbefore\n\n"
                                       "2\n00:00:00,500 --> 00:00:01,000\nacross\n\n"
                                       "3\n00:00:01,800 --> 00:00:01,900\nbehind\n";
  std::ofstream(folder_ / "in.txt") << ";FFMETADATA1\n"
                                       "[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=800\n"
                                       "[CHAPTER]\nTIMEBASE=1/1000\nSTART=800\nEND=1200\n"
                                       "[CHAPTER]\nTIMEBASE=1/1000\nSTART=1200\nEND=2000\n";
  test::ffmpeg("-f lavfi -i testsrc2=s=96x64:r=25:d=2 -f lavfi -i sine=d=2 -i '" +
               folder_ / "in.srt" + "' -i '" + folder_ / "in.txt" +
               "' -map 0 -map 1 -map 2 -map_chapters 3 -c:v ffv1 -g 1 -pix_fmt yuv420p "
               "-c:a pcm_s16le '" +
               input + "'");
  // 0.80 is a frame's own time, 1.41 lies between two.
  const auto source = make_part_source(make_file_source(input), {790'000'000, 1'410'000'000});
  FileSinkOptions settings = options("out.mkv");
  settings.encoder = "ffv1";
  const auto sink = make_file_sink(settings);
  EXPECT_EQ(test::copy_frames(*source, *sink), 16U);
  EXPECT_EQ(source->shortfall(), std::nullopt);
  sink->finish(Ending::complete);

  const auto times = test::ffprobe_times(settings.path);
  ASSERT_EQ(times.size(), 16U);
  EXPECT_NEAR(static_cast<double>(times.front()), 0, 1e6);
  EXPECT_NEAR(static_cast<double>(times.back()), 0.6e9, 1e6);
  const std::string whole = test::ffmpeg_bytes(folder_, input, "yuv420p");
  const std::size_t frame = whole.size() / 50;
  EXPECT_TRUE(test::ffmpeg_bytes(folder_, settings.path, "yuv420p") ==
              whole.substr(20 * frame, 16 * frame));

  const auto sound = [&](const std::string& path) {
    return test::ffprobe("-show_packets -show_data_hash md5 -select_streams a", path)["packets"];
  };
  const auto before = sound(input);
  const auto after = sound(settings.path);
  ASSERT_FALSE(after.empty());
  const auto time = [](const auto& packet) {
    return std::stod(packet["pts_time"].template get<std::string>());
  };
  const auto first = std::find_if(before.begin(), before.end(), [&](const auto& packet) {
    return packet["data_hash"] == after[0]["data_hash"] && time(packet) > 0.7;
  });
  ASSERT_NE(first, before.end());
  EXPECT_NEAR(time(*first), time(after[0]) + 0.8, 0.0021);
  EXPECT_LE(time(after[0]), 0.001);
  EXPECT_LT(time(after.back()), 0.64);
  const auto texts = test::ffprobe("-show_packets -select_streams s", settings.path)["packets"];
  ASSERT_EQ(texts.size(), 1U);
  EXPECT_NEAR(time(texts[0]), 0, 0.001);
  EXPECT_NEAR(std::stod(texts[0]["duration_time"].get<std::string>()), 0.2, 0.0021);
  EXPECT_EQ(chapters_of(settings.path), "0.000-0.400 0.400-0.610 ");

  const auto rest = make_part_source(make_file_source(input), {790'000'000, std::nullopt});
  settings.path = folder_ / "rest.mkv";
  const auto rest_sink = make_file_sink(settings);
  EXPECT_EQ(test::copy_frames(*rest, *rest_sink), 30U);
  rest_sink->finish(Ending::complete);
  EXPECT_EQ(chapters_of(settings.path), "0.000-0.400 0.400-1.200 ");
}

}  // namespace
}  // namespace equalux
