#include <csignal>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/long_counts.h"
#include "tests/support/media/media_files.h"
#include "tests/support/program_test.h"

/// What the program makes of the pictures that decoders give and encoders take.
namespace equalux::test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Not;

class Codecs : public ProgramTest {
 protected:
  void SetUp() override {
    if (!have_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not installed";
  }
  /// A clip of `frames` pictures; encoder and output options as ffmpeg takes them.
  void make(const std::string& name, const std::string& arguments, int frames = 3,
            const std::string& size = "64x48") {
    ffmpeg("-f lavfi -i testsrc2=s=" + size + ":r=25 -frames:v " + std::to_string(frames) + " " +
           arguments + " '" + folder_ / name + "'");
  }
};

/// The layouts that ffmpeg's encoder takes, as its help lists them.
std::vector<std::string> layouts_of(const std::string& encoder) {
  std::istringstream words(shell("ffmpeg -hide_banner -h encoder=" + encoder +
                                 " 2>/dev/null | sed -n 's/.*Supported pixel formats: //p'"));
  return {std::istream_iterator<std::string>(words), {}};
}

TEST_F(Codecs, RgbThatBecomesYuvIsSaidOnceOfEachFile) {
  make("rgb.mkv", "-c:v ffv1 -pix_fmt bgr0", 12);
  const ProgramResult result = run({"batch", "rgb.mkv", "--out", "out", "--segment-frames", "4"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string line = "out/rgb.mkv: RGB pictures are encoded as 4:2:0\n";
  const std::size_t first = result.err.find(line);
  ASSERT_NE(first, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("RGB pictures", first + line.size()), std::string::npos) << result.err;
}

/// GStreamer's libav decoder crashes on most of those that it does not hand on.
TEST_F(Codecs, EveryFfv1LayoutIsDecodedOrNamed) {
  const std::vector<std::string> layouts = layouts_of("ffv1");
  ASSERT_GT(layouts.size(), 30U);
  std::string outputs;
  for (const std::string& layout : layouts) {
    outputs += "-frames:v 3 -c:v ffv1 -strict -2 -pix_fmt " + layout + " '" +
               folder_ / (layout + ".mkv") + "' ";
  }
  ffmpeg("-f lavfi -i testsrc2=s=64x48:r=25 " + outputs);
  std::size_t decoded = 0;
  std::size_t looked_at = 0;
  for (const std::string& layout : layouts) {
    const std::string file = layout + ".mkv";
    // FFV1 has one layout for both; libavformat names the other one.
    const std::string named = layout == "rgb48le"    ? "gbrp16le"
                              : layout == "rgba64le" ? "gbrap16le"
                                                     : layout;
    // Both decode alike: a sample shows that they say so alike.
    const bool measured = wants_every_count() || looked_at++ % 4 == 0;
    for (const char* command : {"run", "measure"}) {
      if (!measured && command == std::string_view("measure")) continue;
      std::vector<std::string> arguments{command, file, "--threads", "1"};
      if (arguments.front() == "run") arguments.insert(arguments.end(), {"-o", "null"});
      const ProgramResult result = run(arguments);
      EXPECT_THAT(result.exit_code, AnyOf(Eq(0), Eq(65))) << layout << ": " << result.err;
      decoded += result.exit_code == 0 && command == std::string_view("run");
      if (result.exit_code != 65) continue;
      EXPECT_EQ(lines_of(result.err).size(), 1U) << result.err;
      EXPECT_THAT(result.err, HasSubstr(named + " pictures; convert it first, best to ")) << layout;
    }
  }
  EXPECT_GE(decoded, 23U);
}

TEST_F(Codecs, ALayoutThatChangesInTheMiddleEndsTheStream) {
  make("a.avi", "-c:v mjpeg -pix_fmt yuvj420p");
  make("a%02d.ppm", "");
  // ffmpeg's own encoder makes no JPEG of 4:4:0.
  shell("cd '" + folder_.path().string() +
        "' && for i in 01 02 03; do cjpeg -sample 1x2 -outfile b$i.jpg a$i.ppm; done");
  ffmpeg("-framerate 25 -i '" + folder_ / "b%02d.jpg" + "' -c copy '" + folder_ / "b.avi" + "'");
  folder_.write("list.txt", "file a.avi\nfile b.avi\n");
  ffmpeg("-f concat -i '" + folder_ / "list.txt" + "' -c copy '" + folder_ / "both.mkv" + "'");
  EXPECT_EQ(run({"run", "both.mkv", "-o", "null"}).exit_code, 3);
  const ProgramResult alone = run({"run", "b.avi", "-o", "null"});
  EXPECT_EQ(alone.exit_code, 65);
  EXPECT_THAT(alone.err, HasSubstr("yuvj440p pictures; convert it first, best to yuv444p"));
}

TEST_F(Codecs, OtherDecodersDoNotTakeBitsOrChromaAway) {
  make("gray12.mp4", "-c:v libx265 -x265-params log-level=none -pix_fmt gray12le");
  make("440.webm", "-c:v libvpx-vp9 -pix_fmt yuv440p");
  make("tiff.mov", "-c:v tiff -pix_fmt rgba64le");
  for (const auto& [file, layout] :
       {std::pair{"gray12.mp4",
                  "hevc video cannot be decoded: no "
                  "decoder of GStreamer's here hands on "
                  "gray12le pictures"},
        std::pair{"440.webm", "yuv440p pictures"}, std::pair{"tiff.mov", "rgba64le pictures"}}) {
    const ProgramResult result = run({"run", file, "-o", "null"});
    EXPECT_EQ(result.exit_code, 65) << file << result.err;
    EXPECT_THAT(result.err, HasSubstr(layout));
    EXPECT_EQ(lines_of(result.err).size(), 1U) << result.err;
  }
}

/// "tv, bt709": what a file says of its video's range and matrix, as ffprobe prints it.
std::string colours_of(const std::string& path) {
  const nlohmann::json stream = ffprobe("-select_streams v -show_streams", path)["streams"][0];
  return stream.value("color_range", "unknown") + ", " + stream.value("color_space", "unknown") +
         ", " + stream.value("color_transfer", "unknown") + ", " +
         stream.value("color_primaries", "unknown");
}

TEST_F(Codecs, WhatTheInputDoesNotSayOfItsColoursTheOutputDoesNotSay) {
  constexpr const char* kNothing = "unknown, unknown, unknown, unknown";
  make("h264.mp4", "-c:v libx264 -pix_fmt yuv420p");
  make("ffv1.mkv", "-c:v ffv1 -pix_fmt yuv420p");
  make("raw.mkv", "-c:v rawvideo -pix_fmt yuv420p");
  make("raw.y4m", "-pix_fmt yuv420p");
  // The parameter sets, with one blank between words.
  const auto head_of = [&](const std::string& file) {
    return shell("ffmpeg -v trace -i '" + folder_ / file +
                 "' -c copy -bsf:v trace_headers -frames:v 1 -f null - 2>&1 | tr -s ' '");
  };
  // By Matroska's element for the range, or mp4's box.
  const auto container_tells_colours = [&](const std::string& file) {
    const std::string bytes = folder_.read(file);
    return bytes.find("\x55\xB9\x81") != std::string::npos ||
           bytes.find("colr") != std::string::npos;
  };
  for (const char* input : {"h264.mp4", "ffv1.mkv", "raw.mkv", "raw.y4m"}) {
    const auto expect = [&](const char* encoder, const char* output, const char* colours) {
      SCOPED_TRACE(std::string(input) + " to " + output);
      const ProgramResult result = run({"run", input, "--encoder", encoder, "-o", output, "-y"});
      ASSERT_EQ(result.exit_code, 0) << result.err;
      EXPECT_EQ(colours_of(folder_ / output), colours);
      EXPECT_EQ(decoded_frames(folder_ / output), 3);
    };
    ASSERT_EQ(colours_of(folder_ / input), kNothing) << input;
    expect("ffv1", "out-ffv1.mkv", kNothing);
    expect("x264", "out-x264.mkv", kNothing);
    // Every encoder for one input; the others show what each kind of input hands on.
    if (!wants_every_count() && input != std::string_view("h264.mp4")) continue;
    for (const char* output : {"out-x264.mp4", "out-x264.mov"})
      expect("x264", output, kNothing);
    // FFmpeg's decoder says "tv" of a stream that is silent. Neither stream nor container say so.
    for (const char* output : {"out-x265.mkv", "out-x265.mp4", "out-x265.mov"}) {
      expect("x265", output, "tv, unknown, unknown, unknown");
      EXPECT_THAT(head_of(output), HasSubstr("video_signal_type_present_flag 0 = 0"));
      EXPECT_FALSE(container_tells_colours(output));
    }
    // Every key frame of VP9 has a bit for the range: only the container can be silent.
    for (const char* output : {"out-vp9.webm", "out-vp9.mkv"}) {
      expect("vp9", output, "tv, unknown, unknown, unknown");
      EXPECT_FALSE(container_tells_colours(output));
    }
    // Its players take every stream for full range, so the samples are made so.
    expect("mjpeg", "out-mjpeg.mkv", "pc, bt470bg, unknown, unknown");
  }
}

/// The stream alone, without what its container says.
TEST_F(Codecs, ARangeThatIsToldStaysInTheStream) {
  for (const char* range : {"tv", "pc"}) {
    make("in.mp4", "-c:v libx264 -pix_fmt yuv420p -bsf:v h264_metadata=video_full_range_flag=" +
                       std::string(range == std::string_view("pc") ? "1" : "0"));
    ASSERT_EQ(colours_of(folder_ / "in.mp4"), std::string(range) + ", unknown, unknown, unknown");
    for (const auto& [encoder, raw] : {std::pair{"x264", "raw.h264"}, {"x265", "raw.hevc"}}) {
      const ProgramResult result =
          run({"run", "in.mp4", "--encoder", encoder, "-o", "out.mkv", "-y"});
      ASSERT_EQ(result.exit_code, 0) << result.err;
      ffmpeg("-i '" + folder_ / "out.mkv" + "' -c copy '" + folder_ / raw + "'");
      EXPECT_EQ(colours_of(folder_ / raw), std::string(range) + ", unknown, unknown, unknown");
    }
  }
}

TEST_F(Codecs, AMatrixThatTheFiltersDoNotKnowIsKept) {
  for (const char* matrix : {"smpte240m", "fcc", "ycgco"}) {
    make("in.mp4", "-c:v libx264 -pix_fmt yuv420p -x264-params colormatrix=" + std::string(matrix));
    for (const char* encoder : {"x264", "x265", "ffv1"}) {
      if (!wants_every_count() && encoder != std::string_view("x264") &&
          matrix != std::string_view("fcc"))
        continue;
      const ProgramResult result =
          run({"run", "in.mp4", "--encoder", encoder, "-o", "out.mkv", "-y"});
      ASSERT_EQ(result.exit_code, 0) << result.err;
      EXPECT_EQ(colours_of(folder_ / "out.mkv"),
                "tv, " + std::string(matrix) + ", unknown, unknown")
          << encoder;
      // The stream alone says the same, as its container cannot where the decoder knows better.
      if (std::string_view(encoder) == "ffv1") continue;
      const std::string raw = std::string_view(encoder) == "x264" ? "raw.h264" : "raw.hevc";
      ffmpeg("-i '" + folder_ / "out.mkv" + "' -c copy '" + folder_ / raw + "'");
      EXPECT_THAT(colours_of(folder_ / raw), HasSubstr(matrix)) << encoder;
    }
  }
}

/// Every key frame of VP9 has the matrix, and its decoder goes by that, not by the container.
TEST_F(Codecs, TheMatrixOfVp9IsInItsStream) {
  for (const char* matrix : {"bt709", "smpte170m", "bt470bg", "bt2020nc", "smpte240m"}) {
    for (const char* format : {"yuv420p", "yuv420p10le"}) {
      SCOPED_TRACE(std::string(matrix) + " " + format);
      if (!wants_every_count() && format != std::string_view("yuv420p") &&
          matrix != std::string_view("bt2020nc"))
        continue;
      make("in.mkv",
           "-c:v ffv1 -color_range tv -pix_fmt " + std::string(format) + " -colorspace " + matrix);
      const ProgramResult result = run({"run", "in.mkv", "-o", "out.webm", "-y"});
      ASSERT_EQ(result.exit_code, 0) << result.err;
      EXPECT_EQ(colours_of(folder_ / "out.webm"),
                "tv, " + std::string(matrix) + ", unknown, unknown");
      ffmpeg("-i '" + folder_ / "out.webm" + "' -c copy '" + folder_ / "raw.ivf" + "'");
      EXPECT_THAT(colours_of(folder_ / "raw.ivf"), HasSubstr(matrix));
      EXPECT_EQ(decoded_frames(folder_ / "out.webm"), 3);
    }
  }
  make("hdr.mkv",
       "-c:v ffv1 -pix_fmt yuv420p10le -color_range tv -colorspace bt2020nc -color_trc smpte2084 "
       "-color_primaries bt2020");
  ASSERT_EQ(run({"run", "hdr.mkv", "-o", "hdr.webm"}).exit_code, 0);
  EXPECT_EQ(colours_of(folder_ / "hdr.webm"), "tv, bt2020nc, smpte2084, bt2020");
}

TEST_F(Codecs, RgbOfAv1StaysRgb) {
  make("in.mkv", "-c:v libaom-av1 -cpu-used 8 -crf 0 -pix_fmt gbrp");
  const ProgramResult result =
      run({"run", "in.mkv", "--strength", "0", "--encoder", "ffv1", "-o", "out.mkv"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto md5 = [&](const std::string& file) {
    return shell("ffmpeg -v error -i '" + folder_ / file + "' -pix_fmt bgr24 -f md5 -");
  };
  EXPECT_EQ(md5("out.mkv"), md5("in.mkv"));
  EXPECT_THAT(colours_of(folder_ / "out.mkv"), HasSubstr("gbr"));
}

TEST_F(Codecs, Hdr10MetadataIsKeptOrNamed) {
  make("in.mkv",
       "-c:v libx265 -pix_fmt yuv420p10le -x265-params log-level=none:hdr10=1:colorprim=bt2020:"
       "transfer=smpte2084:colormatrix=bt2020nc:max-cll=1000,400:"
       "\"master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)\"");
  const auto frame_of = [&](const std::string& file) {
    return ffprobe("-select_streams v -show_frames -read_intervals '%+#1'", folder_ / file).dump();
  };
  const ProgramResult kept = run({"run", "in.mkv", "--encoder", "x265", "-o", "kept.mkv"});
  ASSERT_EQ(kept.exit_code, 0) << kept.err;
  EXPECT_THAT(frame_of("kept.mkv"), HasSubstr("\"max_luminance\":\"10000000/10000\""));
  EXPECT_THAT(frame_of("kept.mkv"), HasSubstr("\"max_content\":1000"));
  EXPECT_THAT(kept.err, Not(HasSubstr("HDR10")));
  const ProgramResult dropped = run({"run", "in.mkv", "-o", "dropped.mkv"});
  ASSERT_EQ(dropped.exit_code, 0) << dropped.err;
  EXPECT_THAT(dropped.err, HasSubstr("x264 does not keep the HDR10 metadata"));
}

TEST_F(Codecs, WebmHoldsVp9OpusVorbisAndWebVtt) {
  folder_.write("in.vtt", "WEBVTT\n\n00:00.200 --> 00:00.600 align:left\nhello\n");
  ffmpeg("-f lavfi -i testsrc2=s=160x120:r=25:d=1 -f lavfi -i sine=d=1:r=48000 -i '" +
         folder_ / "in.vtt" +
         "' -map 0 -map 1 -map 1 -map 2 -vf setsar=2 -c:v libx264 -bf 2 -pix_fmt yuv420p "
         "-c:a:0 libopus -c:a:1 libvorbis -c:s copy -metadata title=Title '" +
         folder_ / "in.mkv" + "'");
  const ProgramResult result = run({"run", "in.mkv", "-o", "out.webm"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json streams = ffprobe("-show_streams", folder_ / "out.webm")["streams"];
  ASSERT_EQ(streams.size(), 4U);
  EXPECT_EQ(streams[0]["codec_name"], "vp9");
  EXPECT_EQ(streams[0]["sample_aspect_ratio"], "2:1");
  EXPECT_FALSE(streams[0].contains("color_transfer")) << "the input tells none";
  EXPECT_EQ(ffprobe("-show_format", folder_ / "out.webm")["format"]["tags"]["title"], "Title");
  EXPECT_EQ(folder_.read("out.webm").substr(0, 40).find("matroska"), std::string::npos);
  EXPECT_NE(folder_.read("out.webm").substr(0, 40).find("webm"), std::string::npos);
  EXPECT_EQ(ffprobe_times(folder_ / "out.webm"), ffprobe_times(folder_ / "in.mkv"));
  for (const std::string stream : {"1", "2", "3"}) {
    const auto packets = [&](const std::string& file) {
      const std::string entries = " -show_entries packet=pts_time,duration_time,data_hash";
      return ffprobe("-show_packets -show_data_hash md5 -select_streams " + (stream + entries),
                     folder_ / file)["packets"];
    };
    EXPECT_FALSE(packets("in.mkv").empty());
    EXPECT_EQ(packets("out.webm"), packets("in.mkv")) << stream;
  }
}

/// GStreamer's decoders of libav lose H.264 pictures behind a gap in their numbers from 1.24 on, as
/// where a cut takes away the pictures before.
bool may_lose_pictures_behind_gaps() {
  int major = 0;
  int minor = 0;
  std::istringstream version(shell("gst-launch-1.0 --gst-version | sed 's/[^0-9]*//; s/[.]/ /g'"));
  version >> major >> minor;
  EXPECT_GT(major, 0);
  return major > 1 || minor >= 24;
}

/// The pictures that are shown before the first key refer to some that are gone, and may have times
/// before 0, which Matroska's demuxer hides.
TEST_F(Codecs, ACutThroughAnOpenGroupComesOutInEvenSteps) {
  make("x264.ts", "-c:v libx264 -pix_fmt yuv420p -x264-params open-gop=1:keyint=25:scenecut=0",
       100);
  make("x265.ts",
       "-c:v libx265 -pix_fmt yuv420p -x265-params log-level=none:open-gop=1:keyint=25:scenecut=0",
       100);
  const bool losing = may_lose_pictures_behind_gaps();
  int cuts = 0;
  for (const char* input : {"x264.ts", "x265.ts"}) {
    for (const char* start : {"0.5", "1.02"}) {
      for (const char* how : {"", "-avoid_negative_ts disabled"}) {
        ffmpeg("-ss " + std::string(start) + " -i '" + folder_ / input + "' -c copy " + how + " '" +
               folder_ / "cut.mkv" + "'");
        ++cuts;
        for (const char* output : {"out.mp4", "out.mkv"}) {
          // A sample: each cut into one of the containers.
          const bool mp4 = output == std::string_view("out.mp4");
          if (!wants_every_count() && mp4 != (cuts % 3 == 1)) continue;
          SCOPED_TRACE(std::string(input) + " " + start + how + " to " + output);
          const ProgramResult result = run({"run", "cut.mkv", "-o", output, "-y"});
          if (result.exit_code == 3 && losing && input == std::string_view("x264.ts")) {
            EXPECT_THAT(result.err, HasSubstr("could not be decoded"));
            EXPECT_GE(ffprobe_times(folder_ / output).size(), 50U);
            continue;
          }
          ASSERT_EQ(result.exit_code, 0) << result.err;
          std::vector<std::int64_t> times = ffprobe_times(folder_ / output);
          std::sort(times.begin(), times.end());
          ASSERT_GE(times.size(), 50U);
          EXPECT_EQ(decoded_frames(folder_ / output), static_cast<int>(times.size()));
          for (std::size_t i = 1; i < times.size(); ++i)
            EXPECT_NEAR(static_cast<double>(times[i] - times[i - 1]), 4e7, 1.1e6) << i;
        }
      }
    }
  }
}

TEST_F(Codecs, AnAnimatedWebpIsNamedWithWhatToDo) {
  make("in.webp", "-c:v libwebp_anim", 5);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"run", "in.webp", "-o", "out.mkv"},
        {"in.webp", "-o", "out.mkv"},
        {"image", "in.webp", "out.png"},
        {"measure", "in.webp"}}) {
    const ProgramResult result = run(command);
    EXPECT_EQ(result.exit_code, 65) << command.front();
    EXPECT_THAT(result.err, HasSubstr("in.webp: is an animated WebP of 2 frames, which is not "
                                      "read; make stills of it first, as ImageMagick's convert "));
    EXPECT_EQ(lines_of(result.err).size(), 1U) << result.err;
  }
}

/// Their densities mean nothing in a video.
TEST_F(Codecs, AVideoOfStillsSaysOnceThatItKeepsNoNotesOfTheirs) {
  ffmpeg("-f lavfi -i testsrc2=s=64x48:r=25 -frames:v 3 -pix_fmt yuvj420p '" +
         folder_ / "plain%d.jpg" + "'");
  const std::string plain = folder_.read("plain1.jpg");
  // One entry of EXIF: the artist is "abc".
  constexpr std::string_view kTiff("II*\0\x08\0\0\0\x01\0\x3b\x01\x02\0\x04\0\0\0abc\0\0\0\0\0",
                                   26);
  const std::string exif =
      std::string("\xff\xe1\0\x22", 4) + std::string("Exif\0\0", 6) + std::string(kTiff);
  for (const char* name : {"a1.jpg", "a2.jpg", "a3.jpg"})
    folder_.write(name, plain.substr(0, 2) + exif + plain.substr(2));
  for (const char* output : {"out.mkv", "out.mp4", "out%d.jpg", "null"}) {
    const ProgramResult result = run({"run", "a%d.jpg", "-o", output});
    if (result.exit_code == 66 || result.exit_code == 69) GTEST_SKIP() << result.err;
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const bool said = result.err.find("which keeps no EXIF of stills") != std::string::npos;
    EXPECT_EQ(said, std::string_view(output).starts_with("out.")) << result.err;
    EXPECT_EQ(run({"run", "plain%d.jpg", "-o", output, "-y"}).err.find("keeps no"),
              std::string::npos);
  }
}

TEST_F(Codecs, StreamsThatPicturesAloneDoNotHoldAreNamed) {
  make("silent.mkv", "-c:v ffv1 -pix_fmt yuv420p");
  ffmpeg("-i '" + folder_ / "silent.mkv" + "' -f lavfi -i sine=d=0.2 -c:v copy -c:a aac '" +
         folder_ / "in.mkv" + "'");
  constexpr const char* kSound = "holds pictures alone, without 1 audio stream (aac) of in.mkv";
  for (const std::string output : {"out.y4m", "out%d.png", "-", "out.mkv", "null"}) {
    const ProgramResult result = run({"run", "in.mkv", "-o", output});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    if (output == "out.mkv" || output == "null") {
      EXPECT_THAT(result.err, Not(HasSubstr("pictures alone"))) << output;
    } else {
      const std::string name = output == "-" ? "standard output" : output;
      EXPECT_THAT(result.err, HasSubstr(name + ": " + kSound));
    }
    EXPECT_THAT(run({"run", "silent.mkv", "-o", output, "-y"}).err,
                Not(HasSubstr("pictures alone")));
  }
}

TEST_F(Codecs, WhatWebmCannotHoldIsNamedFirst) {
  ffmpeg(
      "-f lavfi -i testsrc2=s=160x120:r=25:d=0.4 -f lavfi -i sine=d=0.4 -c:v libx264 -c:a aac "
      "-pix_fmt yuv420p -metadata:s:v stereo_mode=checkerboard_lr '" +
      folder_ / "in.mkv" + "'");
  const ProgramResult sound = run({"run", "in.mkv", "-o", "out.webm"});
  EXPECT_EQ(sound.exit_code, 2);
  EXPECT_THAT(sound.err, HasSubstr("stream 1 (audio, aac) does not fit in webm; use .mkv"));
  for (const char* encoder : {"x264", "ffv1"}) {
    const ProgramResult other = run({"run", "in.mkv", "-o", "out.WebM", "--encoder", encoder});
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_THAT(other.err, HasSubstr(std::string("--encoder ") + encoder +
                                     " does not fit in webm; use --encoder vp9"));
  }
  // A batch refuses what fits in none of its results before it begins.
  const ProgramResult all =
      run({"batch", "in.mkv", "--out", "out", "--encoder", "ffv1", "--extension", "mp4"});
  EXPECT_EQ(all.exit_code, 2);
  EXPECT_THAT(lines_of(all.err), ::testing::SizeIs(1)) << all.err;
  EXPECT_THAT(all.err, HasSubstr("ffv1 video does not fit in mp4; use .mkv"));
  // A batch tells without doing anything.
  const ProgramResult dry =
      run({"batch", "in.mkv", "--out", "out", "--dry-run", "--extension", "webm"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_THAT(lines_of(dry.out),
              Contains(AllOf(::testing::StartsWith("fail"),
                             HasSubstr("stream 1 (audio, aac) does not fit in webm"))));
  EXPECT_THAT(folder_.names(), ::testing::ElementsAre("in.mkv"));
  const ProgramResult without = run({"run", "in.mkv", "-o", "out.webm", "--drop-streams"});
  ASSERT_EQ(without.exit_code, 0) << without.err;
  EXPECT_THAT(without.err, HasSubstr("left out: stream 1 (audio, aac)"));
  EXPECT_THAT(without.err, HasSubstr("left out: the stereo layout of stream 0"));
  EXPECT_EQ(decoded_frames(folder_ / "out.webm"), 10);
}

TEST_F(Codecs, AnotherVideoIsCopiedAndALineSaysSo) {
  ffmpeg(
      "-f lavfi -i testsrc2=s=64x48:r=25:d=0.2 -f lavfi -i testsrc2=s=32x16:r=25:d=0.2 -map 0 "
      "-map 1 -c:v ffv1 '" +
      folder_ / "two.mkv" + "'");
  make("one.mkv", "-c:v ffv1");
  const std::string line = "is copied without the filters, which take one video of a file";
  const ProgramResult two = run({"run", "two.mkv", "-o", "out.mkv"});
  ASSERT_EQ(two.exit_code, 0) << two.err;
  EXPECT_THAT(two.err, HasSubstr("out.mkv: stream 1 (video, ffv1) " + line));
  EXPECT_THAT(run({"run", "one.mkv", "-o", "out.mkv", "-y"}).err, Not(HasSubstr(line)));
}

TEST_F(Codecs, WhatVp9DoesNotTakeIsNoAdviceForWebm) {
  make("422.mkv", "-c:v ffv1 -pix_fmt yuv422p");
  const ProgramResult result = run({"run", "422.mkv", "-o", "out.webm"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--encoder vp9 does not take 4:2:2 pictures; these do: x264"));
  EXPECT_THAT(result.err, HasSubstr(", in .mkv; webm holds VP9 alone"));
  EXPECT_THAT(folder_.names(), ::testing::ElementsAre("422.mkv"));
}

/// Players turn no webm.
TEST_F(Codecs, WebmStandsUpright) {
  ffmpeg("-f lavfi -i testsrc2=s=96x64:r=25:d=0.2 -c:v libx264 -qp 0 -pix_fmt yuv420p '" +
         folder_ / "plain.mp4" + "'");
  folder_.write("in.mp4", folder_.read("plain.mp4"));
  turn_mp4(folder_ / "in.mp4");
  const ProgramResult result =
      run({"run", "in.mp4", "-o", "out.webm", "--strength", "0", "--lossless"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto md5 = [&](const std::string& file) {
    return shell("ffmpeg -v error -i '" + folder_ / file + "' -f md5 -");
  };
  EXPECT_EQ(md5("out.webm"), md5("in.mp4")) << "ffmpeg turns the input by itself";
  const nlohmann::json video = ffprobe("-show_streams", folder_ / "out.webm")["streams"][0];
  EXPECT_EQ(video["height"], 96);
  EXPECT_FALSE(video.contains("side_data_list")) << video.dump();
}

/// Gray levels in the corners of a file's first picture, as it is shown.
std::vector<int> corners_of(const std::string& file, int width, int height) {
  const std::string raw = shell("ffmpeg -v error -i '" + file +
                                "' -frames:v 1 -f rawvideo -pix_fmt gray - | od -An -v -tu1 -w1");
  std::istringstream values(raw);
  const std::vector<int> gray{std::istream_iterator<int>(values), {}};
  EXPECT_EQ(gray.size(), static_cast<std::size_t>(width * height));
  if (gray.size() != static_cast<std::size_t>(width * height)) return {};
  const auto at = [&](int x, int y) { return gray[static_cast<std::size_t>(y * width + x)]; };
  return {at(4, 4), at(width - 5, 4), at(4, height - 5), at(width - 5, height - 5)};
}

/// A port of this machine that was free a moment ago.
int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(socket, reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(socket);
  return ntohs(address.sin_port);
}

TEST_F(Codecs, ThePageAndLaunchStringsShowVideoUpright) {
  // Four levels of gray in the corners, which no turn leaves where they are.
  ffmpeg(
      "-f lavfi -i \"color=s=96x64:r=25:d=4,format=yuv420p,geq=lum=40+60*gt(X\\,47)+120*gt(Y\\,31):"
      "cb=128:cr=128\" -c:v libx264 -qp 0 -color_range tv '" +
      folder_ / "plain.mp4" + "'");
  folder_.write("in.mp4", folder_.read("plain.mp4"));
  turn_mp4(folder_ / "in.mp4");
  const std::vector<int> seen = corners_of(folder_ / "in.mp4", 64, 96);
  const std::string raw = folder_ / "out.raw";
  const ProgramResult launch =
      run({"run", "in.mp4", "--strength", "0", "-o",
           "gst:videoconvert ! jpegenc ! multifilesink location=" + (folder_ / "gst%03d.jpg")});
  ASSERT_EQ(launch.exit_code, 0) << launch.err;
  const std::string port = std::to_string(free_port());
  options_.meanwhile = [&](int process) {
    const std::string picture = "'http://127.0.0.1:" + port + "/api/picture?width=640&view=";
    for (const std::string view : {"before", "after"}) {
      shell("for i in $(seq 50); do ffmpeg -v quiet -y -i " + picture + view + "' -c copy '" +
            folder_ / (view + ".jpg") + "' && break; sleep 0.1; done");
    }
    ::kill(process, SIGINT);
  };
  const ProgramResult page =
      run({"run", "in.mp4", "--strength", "0", "--serve", port, "--serve-token", "none", "-o",
           "gst:identity sleep-time=50000 ! fakesink"});
  if (page.exit_code == 69) GTEST_SKIP() << page.err;
  EXPECT_EQ(page.exit_code, 130) << page.err;
  for (const char* picture : {"gst000.jpg", "before.jpg", "after.jpg"}) {
    const std::vector<int> shown = corners_of(folder_ / picture, 64, 96);
    // The levels are 60 apart; a JPEG's range is another.
    EXPECT_THAT(shown, ::testing::Pointwise(::testing::FloatNear(25), seen)) << picture;
  }
}

TEST_F(Codecs, ALaunchStringIsToldHowToKeepItsBits) {
  const std::string source =
      "gst:videotestsrc num-buffers=2 ! video/x-raw,width=64,height=48 ! "
      "videoconvert ! video/x-raw,format=";
  const auto said = [&](const std::string& format) {
    const ProgramResult result =
        run({"run", source + format, "-o", "null", "--preset", "plain", "--filter", "denoise"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.err;
  };
  // denoise takes YCbCr of 12 bits, in none of these layouts, and RGB of 8.
  const std::string packed = said("Y212_LE");
  const std::string advice = " ! videoconvert ! video/x-raw,format=I422_12LE";
  EXPECT_THAT(packed, HasSubstr("12-bit pictures become 8-bit; end it with" + advice));
  EXPECT_THAT(said("Y212_LE" + advice), Not(HasSubstr("become")));
  EXPECT_THAT(said("RGB10A2_LE"),
              HasSubstr("10-bit pictures become 8-bit, the filters take no more"));
}

TEST_F(Codecs, ViewersSeeWhatARunWrites) {
  const std::string input =
      "gst:videotestsrc is-live=true pattern=smpte ! videobalance contrast=0.4 ! "
      "video/x-raw,format=I420,width=320,height=240,framerate=20/1";
  const ProgramResult written =
      run({"run", input, "--preset", "plain", "--frames", "1", "-o", "still%d.png"});
  ASSERT_EQ(written.exit_code, 0) << written.err;
  const std::string port = std::to_string(free_port());
  const std::string url = "http://127.0.0.1:" + port;
  options_.meanwhile = [&](int process) {
    shell("for i in $(seq 50); do ffmpeg -v quiet -y -i '" + url + "/snapshot.jpg?quality=95' '" +
          folder_ / "after.png" + "' && break; sleep 0.1; done");
    shell("ffmpeg -v error -y -f mpjpeg -i '" + url +
          "/stream.mjpeg?view=both&quality=95' -frames:v 3 -update 1 '" + folder_ / "both.png" +
          "'");
    ::kill(process, SIGINT);
  };
  const ProgramResult page = run(
      {"run", input, "--preset", "plain", "--serve", port, "--serve-token", "none", "-o", "null"});
  if (page.exit_code == 69) GTEST_SKIP() << page.err;
  EXPECT_EQ(page.exit_code, 130) << page.err;
  EXPECT_THAT(page.err, HasSubstr("viewers: 1 of /stream.mjpeg, "));
  const std::string still = shell("ls '" + folder_ / "" + "' | grep still | head -1");
  const std::string path = "'" + folder_ / still.substr(0, still.find('\n')) + "'";
  const auto psnr = [&](const std::string& shown, const std::string& part) {
    const std::string text =
        shell("ffmpeg -v info -i '" + folder_ / shown + "' -i " + path + " -lavfi \"[0]" + part +
              "format=gbrp[a];[1]format=gbrp[b];[a][b]psnr\" -f null - 2>&1 | "
              "sed -n 's/.*average:\\([0-9a-z.]*\\).*/\\1/p'");
    return text.starts_with("inf") ? 100.0 : std::atof(text.c_str());
  };
  EXPECT_GT(psnr("after.png", ""), 27);
  EXPECT_GT(psnr("both.png", "crop=320:240:320:0,"), 27);
  EXPECT_LT(psnr("both.png", "crop=320:240:0:0,"), 25);  // Before is another picture.
}

/// A lossless encoder is fed unchanged frames: ffmpeg must decode the same.
TEST_F(Codecs, TinyAndOddFramesAreEncodedAsTheyAre) {
  int turn = 0;
  for (const char* size : {"1x1", "2x2", "4x2", "63x64", "427x240", "639x479", "1919x1079"}) {
    for (const char* layout : {"yuv420p", "yuv422p", "yuv444p"}) {
      std::string scale(size);
      scale.replace(scale.find('x'), 1, ":");
      const std::string filter = "scale=" + scale + ",format=" + layout;
      const auto md5 = [&](const std::string& file) {
        return shell("ffmpeg -v error -i '" + folder_ / file + "' -pix_fmt " + layout +
                     " -fps_mode passthrough -f md5 -");
      };
      std::string expected;
      const bool small = scale.size() < 6;
      ++turn;
      for (int e = 0; const char* encoder : {"ffv1", "x264", "x265", "vp9"}) {
        if (!small && std::string_view(encoder) != "ffv1") continue;
        // Few: every encoder with every layout, in half of the sizes.
        if (wants_few_counts() && (turn + e++) % 2 == 0) continue;
        if (expected.empty()) {
          make("in.y4m", "-vf " + filter + " -strict -1", 2);
          expected = md5("in.y4m");
        }
        SCOPED_TRACE(std::string(encoder) + " " + size + " " + layout);
        const ProgramResult result = run({"run", "in.y4m", "--strength", "0", "--lossless",
                                          "--encoder", encoder, "-o", "out.mkv", "--quiet"});
        if (std::string_view(encoder) != "ffv1" && result.exit_code == 2) {
          EXPECT_THAT(result.err, HasSubstr("ffv1"));
          continue;
        }
        ASSERT_EQ(result.exit_code, 0) << result.err;
        EXPECT_EQ(md5("out.mkv"), expected);
        std::filesystem::remove(folder_ / "out.mkv");
      }
    }
  }
}

}  // namespace
}  // namespace equalux::test
