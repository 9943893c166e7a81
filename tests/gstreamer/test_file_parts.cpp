#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/core/part_source.h"
#include "pipelines/gstreamer/decode/file_source.h"
#include "src/common/log.h"
#include "tests/gstreamer/video_files.h"

/// Parts of files begin in their middle, where that makes no difference to any frame.
namespace equalux {
namespace {

using ::testing::HasSubstr;

/// A file that is read from its start, whatever is wanted of it.
class WholeSource final : public Source {
 public:
  explicit WholeSource(const std::string& path) : source_(make_file_source(path)) {}
  StreamInfo open(const FormatPredicate& accepts) override { return source_->open(accepts); }
  bool lends_buffers() const override { return source_->lends_buffers(); }
  bool read(Frame& frame) override { return source_->read(frame); }
  std::optional<std::string> shortfall() const override { return source_->shortfall(); }

 private:
  std::unique_ptr<Source> source_;
};

enum class Entered { yes, no };

struct PartInput {
  const char* name;
  const char* arguments;
  const char* file;
  Entered entered;
};

class FileParts : public testing::TestWithParam<PartInput> {
 protected:
  void SetUp() override {
    if (!test::have_ffmpeg()) GTEST_SKIP() << "the ffmpeg program is not installed";
    logger().set_level(LogLevel::debug);
    logger().send_to([this](LogLevel, std::string_view line) { log_ += line; });
  }
  void TearDown() override {
    logger().send_to(nullptr);
    logger().set_level(LogLevel::warn);
  }
  std::string make(const PartInput& input) {
    const std::string path = folder_ / input.file;
    const std::string source = "-f lavfi -i testsrc2=s=160x120:r=25:d=9 ";
    test::ffmpeg(source + input.arguments + " '" + path + "'");
    return path;
  }

  test::TempFolder folder_;
  std::string log_;
};

TEST_P(FileParts, AreTheFramesThatTheWholeFileGives) {
  const PartInput& input = GetParam();
  const std::string path = make(input);
  for (const Part part : {Part{5'480'000'000, {}}, Part{6'000'000'000, 6'200'000'000},
                          Part{8'800'000'001, {}}, Part{1'200'000'000, 1'400'000'000}}) {
    const auto whole = make_part_source(std::make_unique<WholeSource>(path), part);
    const test::Decoded expected = test::decode(*whole);
    log_.clear();
    const auto source = make_part_source(make_file_source(path), part);
    const test::Decoded ours = test::decode(*source);
    EXPECT_EQ(ours.pts_ns, expected.pts_ns) << part.from_ns;
    EXPECT_TRUE(ours.fields == expected.fields) << part.from_ns;
    EXPECT_TRUE(ours.bytes == expected.bytes) << "other pictures from " << part.from_ns;
    EXPECT_EQ(ours.info.container_part.shift_ns, expected.info.container_part.shift_ns);
    EXPECT_EQ(source->shortfall(), whole->shortfall());
    if (part.from_ns < 2'000'000'000) continue;
    const bool entered = log_.find("is entered before") != std::string::npos;
    EXPECT_EQ(entered, input.entered == Entered::yes) << part.from_ns;
  }
}

INSTANTIATE_TEST_SUITE_P(
    , FileParts,
    testing::Values(
        PartInput{"h264_mp4", "-c:v libx264 -bf 3 -g 25", "a.mp4", Entered::yes},
        PartInput{"h264_mkv", "-c:v libx264 -bf 3 -g 25", "a.mkv", Entered::yes},
        PartInput{"h264_pyramid",
                  "-c:v libx264 -x264-params bframes=7:b-adapt=0:b-pyramid=normal:ref=6:keyint=31",
                  "a.mp4", Entered::yes},
        PartInput{"h264_one_group", "-c:v libx264 -bf 3 -g 1000", "a.mp4", Entered::no},
        PartInput{"h264_open_groups", "-c:v libx264 -bf 3 -x264-params open-gop=1:keyint=25",
                  "a.mkv", Entered::no},
        PartInput{"h264_open_and_closed_groups",
                  "-c:v libx264 -bf 3 -x264-params open-gop=1:keyint=20 -forced-idr 1 "
                  "-force_key_frames 'expr:gte(t,n_forced*1.5)'",
                  "a.mp4", Entered::yes},
        PartInput{"h264_intra_refresh", "-c:v libx264 -x264-params intra-refresh=1:keyint=25",
                  "a.mkv", Entered::no},
        PartInput{"h264_fields",
                  "-vf tinterlace=interleave_top -c:v libx264 -flags +ilme+ildct -g 12", "a.mp4",
                  Entered::yes},
        PartInput{"h264_variable_rate",
                  "-vf select='not(mod(n\\,3))+eq(mod(n\\,7)\\,0)' -fps_mode vfr "
                  "-enc_time_base 1/90000 -c:v libx264 -bf 3 -g 10",
                  "a.mkv", Entered::yes},
        PartInput{"h264_fragments", "-c:v libx264 -bf 3 -g 25 -movflags frag_keyframe+empty_moov",
                  "a.mp4", Entered::yes},
        PartInput{"h264_late", "-c:v libx264 -bf 3 -g 25 -output_ts_offset 3.21", "a.mkv",
                  Entered::yes},
        PartInput{"h265_open_groups",
                  "-c:v libx265 -x265-params log-level=none:keyint=25:open-gop=1", "a.mkv",
                  Entered::yes},
        PartInput{"h265_mp4", "-c:v libx265 -x265-params log-level=none:keyint=25:open-gop=0",
                  "a.mp4", Entered::yes},
        PartInput{"vp8", "-c:v libvpx -g 25 -auto-alt-ref 1 -lag-in-frames 16 -cpu-used 8",
                  "a.webm", Entered::yes},
        PartInput{"vp9", "-c:v libvpx-vp9 -g 25 -auto-alt-ref 1 -lag-in-frames 16 -cpu-used 8",
                  "a.webm", Entered::yes},
        PartInput{"vp9_transparent",
                  "-vf format=yuva420p,fade=alpha=1:d=8 -c:v libvpx-vp9 -g 25 -auto-alt-ref 0 "
                  "-cpu-used 8",
                  "a.webm", Entered::yes},
        PartInput{"ffv1", "-c:v ffv1 -g 10", "a.mkv", Entered::yes},
        PartInput{"mjpeg", "-c:v mjpeg -q:v 4", "a.mov", Entered::yes},
        // GStreamer's own demuxer reads it.
        PartInput{"prores", "-c:v prores_ks", "a.mov", Entered::no},
        PartInput{"mpeg4", "-c:v mpeg4 -bf 2 -g 12", "a.mp4", Entered::no},
        PartInput{"avi", "-c:v mjpeg -q:v 4", "a.avi", Entered::no},
        PartInput{"ts", "-c:v libx264 -bf 3 -g 25", "a.ts", Entered::no}),
    [](const testing::TestParamInfo<PartInput>& info) { return info.param.name; });

/// Transparency beside VP9 has keyframes of its own, which need not be those of the colours.
TEST_F(FileParts, OfAWebmBeginWhereItsTransparencyCan) {
  const std::string vp9 = "-c:v libvpx-vp9 -cpu-used 8 -lag-in-frames 0 -auto-alt-ref 0 -g ";
  const std::string path = folder_ / "both.webm";
  for (const char* distance : {"50", "1000"}) {
    test::EncodedVideo video =
        test::read_video(make({"", (vp9 + "25").c_str(), "colours.webm", Entered::yes}));
    const test::EncodedVideo alpha = test::read_video(
        make({"", (vp9 + distance + " -vf negate").c_str(), "alpha.webm", Entered::yes}));
    ASSERT_EQ(video.packets.size(), alpha.packets.size());
    video.format.alpha_beside = true;
    const auto writer = make_container_writer({path, "", false});
    writer->check("vp9");
    writer->start(video.format);
    for (std::size_t i = 0; i < video.packets.size(); ++i) {
      const auto& packet = video.packets[i];
      writer->write({packet.data, packet.pts_ns, packet.dts_ns, packet.duration_ns, packet.keyframe,
                     alpha.packets[i].data});
    }
    writer->finish(false);

    const Part part{7'200'000'000, {}};  // of the colours' keyframe at 7 s, and the other's at 6 s
    const test::Decoded expected =
        test::decode(*make_part_source(std::make_unique<WholeSource>(path), part));
    log_.clear();
    const test::Decoded ours = test::decode(*make_part_source(make_file_source(path), part));
    EXPECT_TRUE(ours.info.transparent);
    EXPECT_TRUE(ours.bytes == expected.bytes) << distance;
    EXPECT_EQ(log_.find("is entered before") != std::string::npos,
              std::string_view(distance) == "50");
  }
}

/// Pictures before an edit's start are decoded and not shown; the file says so in an edit list.
TEST_F(FileParts, OfAFileThatWasCutBeforeAKeyFrame) {
  const std::string whole = make({"", "-c:v libx264 -bf 3 -g 25", "whole.mp4", Entered::yes});
  const std::string path = folder_ / "cut.mp4";
  test::ffmpeg("-ss 1.32 -i '" + whole + "' -c copy '" + path + "'");
  for (const std::int64_t from : {2'500'000'000, 4'040'000'000}) {
    const test::Decoded expected =
        test::decode(*make_part_source(std::make_unique<WholeSource>(path), Part{from, {}}));
    const test::Decoded ours =
        test::decode(*make_part_source(make_file_source(path), Part{from, {}}));
    EXPECT_EQ(ours.pts_ns, expected.pts_ns);
    EXPECT_TRUE(ours.bytes == expected.bytes);
  }
  EXPECT_THAT(log_, HasSubstr("is entered before"));
}

}  // namespace
}  // namespace equalux
