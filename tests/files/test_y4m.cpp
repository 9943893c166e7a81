#include <cstdlib>
#include <random>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "pipelines/files/y4m.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/test_images.h"
#include "tests/support/media/y4m_streams.h"
#include "tests/support/pipeline_fakes.h"
#include "tests/support/temp_folder.h"

namespace equalux::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Y4mTest : ::testing::Test {
  Watchdog watchdog;
  TempFolder folder;

  std::string copied(const std::string& bytes) {
    write_file(folder / "in.y4m", bytes);
    const auto source = make_y4m_source(folder / "in.y4m");
    const auto sink = make_y4m_sink(folder / "out.y4m");
    result = copy(*source, *sink);
    return read_file(folder / "out.y4m");
  }
  StreamInfo opened(const std::string& bytes) {
    write_file(folder / "in.y4m", bytes);
    return make_y4m_source(folder / "in.y4m")->open(take_all);
  }
  RunResult result;
};

struct FormatCase {
  const char* tag;
  PixelFormat format;
};

TEST_F(Y4mTest, EveryFormatAndSizeComesOutAsItWentIn) {
  const FormatCase formats[] = {
      {"C420jpeg", PixelFormat::i420},     {"C420mpeg2", PixelFormat::i420},
      {"C420paldv", PixelFormat::i420},    {"C420", PixelFormat::i420},
      {"C422", PixelFormat::y42b},         {"C444", PixelFormat::y444},
      {"Cmono", PixelFormat::gray8},       {"C420p10", PixelFormat::i420_10le},
      {"C420p12", PixelFormat::i420_12le}, {"C422p10", PixelFormat::i422_10le},
      {"C422p12", PixelFormat::i422_12le}, {"C444p10", PixelFormat::y444_10le},
      {"C444p12", PixelFormat::y444_12le}, {"C444p16", PixelFormat::y444_16le},
      {"Cmono16", PixelFormat::gray16_le}};
  const std::pair<int, int> sizes[] = {{1, 1}, {1, 7}, {7, 1}, {33, 17}, {64, 48}, {641, 479}};
  for (const auto& [tag, format] : formats) {
    for (const auto& [width, height] : sizes) {
      const std::string header = "W" + std::to_string(width) + " H" + std::to_string(height) +
                                 " F30000:1001 It A4:3 " + tag + " XCOLORRANGE=FULL";
      const std::string bytes = make_stream(header, desc_of(format, width, height), 3);
      EXPECT_TRUE(copied(bytes) == bytes) << header;
      EXPECT_EQ(result.frames_out, 3U);
      EXPECT_EQ(result.code, ExitCode::done);
    }
  }
  EXPECT_EQ(folder.entries(), 2) << "no partial file stays";
}

/// A decoder's P010 is the same video as I420 of 10 bits: words shifted and chroma in pairs.
TEST_F(Y4mTest, P010IsWrittenAsPlanes) {
  const ImageDesc planes = desc_of(PixelFormat::i420_10le, 7, 5);
  const std::string expected =
      make_stream("W7 H5 F25:1 Ip A1:1 C420p10 XCOLORRANGE=LIMITED", planes, 1);
  PaddedImage from(planes);
  fill(from.view(), Content::noise, 1);
  ImageDesc paired = planes;
  paired.format = PixelFormat::p010_10le;
  PaddedImage p010(paired, 2);
  const auto move = [&](int plane, int to_plane, std::size_t to_step, std::size_t offset) {
    for (int y = 0; y < plane_rows(planes, plane); ++y) {
      for (std::size_t x = 0; x < row_bytes(planes, plane) / 2; ++x) {
        const std::uint8_t* at = from.view().row(plane, y) + 2 * x;
        const int word = (at[0] + 256 * at[1]) << 6;
        std::uint8_t* out = p010.view().row(to_plane, y) + to_step * x + offset;
        out[0] = static_cast<std::uint8_t>(word & 255);
        out[1] = static_cast<std::uint8_t>(word >> 8);
      }
    }
  };
  move(0, 0, 2, 0);
  move(1, 1, 4, 0);
  move(2, 1, 4, 2);
  StreamInfo info;
  info.desc = paired;
  info.frame_rate = {25, 1};
  info.pixel_aspect = {1, 1};
  const auto sink = make_y4m_sink(folder / "out.y4m");
  sink->open(info);
  Frame frame;
  frame.image = p010.view();
  sink->write(frame);
  sink->finish(Ending::complete);
  EXPECT_TRUE(read_file(folder / "out.y4m") == expected);
}

TEST_F(Y4mTest, DeepVideoIsNotMadeOfEightBitsInSilence) {
  write_file(folder / "in.y4m",
             make_stream("W4 H2 F25:1 C420p10", desc_of(PixelFormat::i420_10le, 4, 2), 1));
  const auto source = make_y4m_source(folder / "in.y4m");
  const auto [code, text] = error_of([&] { source->open(has_byte_samples); });
  EXPECT_EQ(code, ExitCode::usage);
  EXPECT_THAT(text, HasSubstr("is 10-bit video; the filters take 8 bits"));
}

TEST_F(Y4mTest, LargeFramesBypassTheBuffer) {
  const std::string bytes = make_stream("W1280 H720 F25:1 Ip A1:1 C420mpeg2 XCOLORRANGE=LIMITED",
                                        desc_of(PixelFormat::i420, 1280, 720), 2);
  EXPECT_TRUE(copied(bytes) == bytes);
}

TEST_F(Y4mTest, TimesAreExact) {
  write_file(folder / "in.y4m",
             make_stream("W2 H2 F30000:1001", desc_of(PixelFormat::i420, 2, 2), 4));
  const auto source = make_y4m_source(folder / "in.y4m");
  FakeSink sink;
  std::vector<std::int64_t> times;
  RunOptions options;
  options.on_result = [&](const Frame& frame) {
    times.push_back(frame.pts_ns);
    EXPECT_NEAR(static_cast<double>(frame.duration_ns), 33'366'667, 1);
  };
  const StopToken stop;
  run(*source, *make_cpu_processor({}, 1), sink, options, stop);
  EXPECT_THAT(times, ::testing::ElementsAre(0, 33'366'667, 66'733'333, 100'100'000));
}

TEST_F(Y4mTest, TimesThatOneRateCannotTellAreNamed) {
  const ImageDesc desc = desc_of(PixelFormat::gray8, 4, 2);
  const auto said = [&](const std::vector<std::int64_t>& times_ms, bool live) {
    StreamInfo info;
    info.desc = desc;
    info.frame_rate = {25, 1};
    info.live = live;
    Frame frame;
    frame.pixels = Image(desc);
    frame.image = std::as_const(frame.pixels).view();
    ::testing::internal::CaptureStderr();
    const auto sink = make_y4m_sink(folder / "out.y4m");
    sink->open(info);
    for (const std::int64_t time : times_ms) {
      frame.pts_ns = time * 1'000'000;
      sink->write(frame);
    }
    sink->finish(Ending::complete);
    return ::testing::internal::GetCapturedStderr();
  };
  // Times that begin late, that are rounded, and that a frame is missing from.
  EXPECT_EQ(said({1000, 1040, 1080, 1120}, false), "");
  EXPECT_EQ(said({0, 38, 85, 120, 161}, false), "");
  EXPECT_EQ(said({0, 40, 120, 160}, false), "");
  EXPECT_EQ(said({0, 40, 500, 900}, true), "");
  for (const auto& times : {std::vector<std::int64_t>{0, 40, 160, 200, 400},
                            {0, 50, 100, 150, 200, 250},
                            {80, 0, -40}}) {
    const std::string line = said(times, false);
    EXPECT_NE(line.find("out.y4m: has one rate, 25 frames a second"), std::string::npos) << line;
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
  }
}

TEST_F(Y4mTest, HeaderIsUnderstood) {
  const StreamInfo info = opened(make_stream("W4 H2 F50:1 Ib A64:45 C420paldv XYSCSS=420 Zfoo",
                                             desc_of(PixelFormat::i420, 4, 2), 2));
  EXPECT_EQ(info.desc.format, PixelFormat::i420);
  EXPECT_EQ(info.desc.range, ColorRange::limited);
  EXPECT_EQ(info.desc.matrix, ColorMatrix::bt601);
  EXPECT_EQ(info.frame_rate, (Rational{50, 1}));
  EXPECT_EQ(info.pixel_aspect, (Rational{64, 45}));
  EXPECT_EQ(info.field_order, FieldOrder::bottom_first);
  EXPECT_EQ(info.chroma_site, "dv");
  EXPECT_EQ(info.frames, 2U);
  EXPECT_EQ(info.duration_ns, 40'000'000);
}

TEST_F(Y4mTest, AHeaderWithoutEndIsBounded) {
  const auto [code, text] = error_of([&] { opened("YUV4MPEG2 " + std::string(1 << 20, 'X')); });
  EXPECT_EQ(code, ExitCode::bad_input);
  EXPECT_LT(text.size(), 400U);
}

TEST_F(Y4mTest, MissingFileIsNoInput) {
  const auto [code, text] = error_of([&] { make_y4m_source(folder / "none.y4m")->open(take_all); });
  EXPECT_EQ(code, ExitCode::no_input);
  EXPECT_THAT(text, HasSubstr("No such file"));
}

TEST_F(Y4mTest, TruncatedLastFrameIsPartial) {
  std::string bytes = make_stream("W16 H8 F25:1 Ip A1:1 C420jpeg XCOLORRANGE=LIMITED",
                                  desc_of(PixelFormat::i420, 16, 8), 3);
  const std::size_t frame = 6 + 192;
  bytes.resize(bytes.size() - 100);
  const std::string out = copied(bytes);
  EXPECT_EQ(result.code, ExitCode::partial);
  EXPECT_EQ(result.partial_reason, "ends in frame 2 after 92 of its 192 bytes");
  EXPECT_EQ(out, bytes.substr(0, bytes.size() - (frame - 100)));
}

TEST_F(Y4mTest, OneTruncatedFrameIsBadInput) {
  const auto [code, text] = error_of([&] { copied("YUV4MPEG2 W16 H8\nFRAME\nabc"); });
  EXPECT_EQ(code, ExitCode::bad_input);
  EXPECT_THAT(text, HasSubstr("ends in frame 0 after 3 of its 192 bytes"));
  EXPECT_EQ(folder.entries(), 1) << "no output, no partial output";
}

TEST_F(Y4mTest, DamageBetweenFramesIsPartial) {
  std::string bytes = make_stream("W4 H4", desc_of(PixelFormat::i420, 4, 4), 2);
  copied(bytes + "GARBAGE\n" + std::string(24, 'x'));
  EXPECT_EQ(result.code, ExitCode::partial);
  EXPECT_THAT(result.partial_reason, HasSubstr("'GARBAGE' stands where FRAME must"));
  EXPECT_EQ(result.frames_out, 2U);
}

TEST_F(Y4mTest, MutatedStreamsNeverCrash) {
  const std::string good = make_stream("W6 H4 F25:1 Ip A1:1 C420jpeg XCOLORRANGE=FULL",
                                       desc_of(PixelFormat::i420, 6, 4), 3);
  const std::string letters = "WHFAICX :0123456789\n";
  std::mt19937 random(7);
  const int rounds = wants_every_count() ? 50'000 : 2'000;
  for (int i = 0; i < rounds; ++i) {
    watchdog.restart();
    std::string bytes = good;
    for (unsigned k = 0; k <= random() % 4; ++k) {
      const std::size_t at = random() % (k % 2 == 0 ? 60 : bytes.size());
      bytes[at] =
          random() % 2 == 0 ? static_cast<char>(random()) : letters[random() % letters.size()];
    }
    if (i % 7 == 0) bytes.resize(random() % bytes.size());
    write_file(folder / "in.y4m", bytes);
    const auto source = make_y4m_source(folder / "in.y4m");
    try {
      const StreamInfo info = source->open(take_all);
      if (tight_bytes(info.desc) > (1U << 20)) continue;  // The engine's matter, and slow.
      Frame frame;
      frame.pixels = Image(info.desc);
      int frames = 0;
      while (source->read(frame))
        ++frames;
      EXPECT_LE(frames, 200);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::bad_input);
    }
  }
}

TEST_F(Y4mTest, SourceBecomesRgbWhereTheFiltersTakeNothingElse) {
  write_file(folder / "in.y4m", make_stream("W5 H3 Cmono", desc_of(PixelFormat::gray8, 5, 3), 1));
  const auto source = make_y4m_source(folder / "in.y4m");
  const StreamInfo info = source->open([](PixelFormat f) { return f == PixelFormat::bgr; });
  EXPECT_EQ(info.desc.format, PixelFormat::bgr);
  Frame frame;
  frame.pixels = Image(info.desc);
  ASSERT_TRUE(source->read(frame));
  const std::string bytes = read_file(folder / "in.y4m");
  EXPECT_EQ(frame.pixels.view().row(0, 2)[14], static_cast<std::uint8_t>(bytes.back()));
  EXPECT_FALSE(source->read(frame));
}

TEST_F(Y4mTest, SinkTakesPackedFormsApart) {
  const PaddedImage y42b(desc_of(PixelFormat::y42b, 9, 3));
  fill(y42b.view(), Content::noise);
  const PaddedImage yuy2(desc_of(PixelFormat::yuy2, 9, 3));
  const PaddedImage uyvy(desc_of(PixelFormat::uyvy, 9, 3));
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 9; ++x) {
      yuy2.view().row(0, y)[2 * x] = uyvy.view().row(0, y)[2 * x + 1] = y42b.view().row(0, y)[x];
    }
    for (int c = 0; c < 5; ++c) {
      yuy2.view().row(0, y)[4 * c + 1] = uyvy.view().row(0, y)[4 * c] = y42b.view().row(1, y)[c];
      yuy2.view().row(0, y)[4 * c + 3] = uyvy.view().row(0, y)[4 * c + 2] =
          y42b.view().row(2, y)[c];
    }
  }
  std::string first;
  for (const PaddedImage* image : {&y42b, &yuy2, &uyvy}) {
    StreamInfo info;
    info.desc = image->view().desc;
    const auto sink = make_y4m_sink(folder / "out.y4m");
    sink->open(info);
    Frame frame;
    frame.image = image->view();
    sink->write(frame);
    sink->finish(Ending::complete);
    const std::string bytes = read_file(folder / "out.y4m");
    if (first.empty()) first = bytes;
    EXPECT_EQ(bytes, first) << to_string(info.desc.format);
  }
  EXPECT_THAT(first, HasSubstr(" C422 "));
}

TEST_F(Y4mTest, SinkTakesNv12Apart) {
  const PaddedImage nv12(desc_of(PixelFormat::nv12, 5, 3));
  fill(nv12.view(), Content::noise);
  StreamInfo info;
  info.desc = nv12.view().desc;
  info.chroma_site = "mpeg2";
  const auto sink = make_y4m_sink(folder / "out.y4m");
  sink->open(info);
  Frame frame;
  frame.image = nv12.view();
  sink->write(frame);
  sink->finish(Ending::complete);
  const std::string bytes = read_file(folder / "out.y4m");
  EXPECT_THAT(bytes, StartsWith("YUV4MPEG2 W5 H3 F30:1 Ip A1:1 C420mpeg2 XCOLORRANGE=LIMITED\n"));
  ASSERT_GE(bytes.size(), 12U);
  EXPECT_EQ(static_cast<std::uint8_t>(bytes.back()), nv12.view().row(1, 1)[5]);
  EXPECT_EQ(static_cast<std::uint8_t>(bytes[bytes.size() - 7]), nv12.view().row(1, 1)[4]);
}

TEST_F(Y4mTest, SinkRefusesRgbBeforeItCreatesAnything) {
  StreamInfo info;
  info.desc = desc_of(PixelFormat::bgr, 4, 4);
  const auto [code, text] = error_of([&] { make_y4m_sink(folder / "out.y4m")->open(info); });
  EXPECT_EQ(code, ExitCode::usage);
  EXPECT_THAT(text, HasSubstr("holds YCbCr and gray video, not bgr; take a video"));
  info.desc.format = PixelFormat::grayf32x2;
  const auto floats = error_of([&] { make_y4m_sink(folder / "out.y4m")->open(info); });
  EXPECT_EQ(floats.first, ExitCode::usage);
  EXPECT_THAT(floats.second, HasSubstr("not grayf32x2; write arrays (frames/%05d.npy)"));
  EXPECT_EQ(folder.entries(), 0);
}

TEST_F(Y4mTest, ADamagedNoteOfWhatWasWrittenIsAReasonToStartAnew) {
  StreamInfo info;
  info.desc = desc_of(PixelFormat::i420, 4, 4);
  for (const char* note : {"x", "-7", "12 frames", "99999999999999999999999", "0"}) {
    const auto sink = make_y4m_sink(folder / "out.y4m", note);
    EXPECT_THROW(sink->open(info), CannotResume) << note;
  }
}

TEST_F(Y4mTest, AFailedRunLeavesTheOldOutputAlone) {
  write_file(folder / "out.y4m", "old");
  StreamInfo info;
  info.desc = desc_of(PixelFormat::i420, 4, 4);
  const auto sink = make_y4m_sink(folder / "out.y4m");
  sink->open(info);
  EXPECT_EQ(folder.entries(), 2);
  sink->finish(Ending::failed);
  EXPECT_EQ(read_file(folder / "out.y4m"), "old");
  EXPECT_EQ(folder.entries(), 1);
}

TEST_F(Y4mTest, MissingFolderAndFullDisk) {
  StreamInfo info;
  info.desc = desc_of(PixelFormat::i420, 4, 4);
  EXPECT_EQ(error_of([&] { make_y4m_sink(folder / "no/out.y4m")->open(info); }).first,
            ExitCode::cannot_create);
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const auto [code, text] = error_of([&] { make_y4m_sink("/dev/full")->open(info); });
  EXPECT_EQ(code, ExitCode::write_failed);
  EXPECT_THAT(text, HasSubstr("No space left"));
}

TEST_F(Y4mTest, FfmpegReadsAndWritesTheSame) {
  if (std::system("command -v ffmpeg >/dev/null") != 0) GTEST_SKIP() << "no ffmpeg here";
  for (const char* format : {"yuv420p", "yuv422p", "yuv444p", "gray"}) {
    const std::string in = folder / "in.y4m";
    const std::string out = folder / "out.y4m";
    const std::string make =
        "ffmpeg -y -v error -f lavfi -i testsrc=size=63x41:rate=25 -frames:v 5 "
        "-pix_fmt " +
        std::string(format) + " " + in;
    ASSERT_EQ(std::system(make.c_str()), 0);
    const auto source = make_y4m_source(in);
    const auto sink = make_y4m_sink(out);
    EXPECT_EQ(copy(*source, *sink).frames_out, 5U);
    const std::string sums = "cd " + folder.text() +
                             " && ffmpeg -y -v error -i in.y4m -f framemd5 a && "
                             "ffmpeg -y -v error -i out.y4m -f framemd5 b && cmp a b";
    EXPECT_EQ(std::system(sums.c_str()), 0) << format;
  }
}

}  // namespace
}  // namespace equalux::test
