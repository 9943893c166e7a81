#include <utility>

#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/core/processor.h"
#include "pipelines/core/run.h"
#include "pipelines/files/y4m.h"
#include "pipelines/gstreamer/decode/file_source.h"
#include "pipelines/gstreamer/encode/file_sink.h"
#include "tests/gstreamer/video_files.h"
#include "tests/support/media/test_images.h"
#include "tests/support/media/y4m_streams.h"

/// Video of more than 8 bits from file to file: what a lossless encoder kept are the library's
/// bytes.
namespace equalux {
namespace {

struct DeepCase {
  const char* name;
  PixelFormat format;
  const char* tag;  ///< YUV4MPEG2's
  const char* encoder;
  const char* file;
};

class GstDepth : public testing::TestWithParam<DeepCase> {
 protected:
  static constexpr int kFrames = 4;
  test::TempFolder folder_;
};

TEST_P(GstDepth, FilesHoldTheLibrarysBytes) {
  const DeepCase& now = GetParam();
  ImageDesc desc = test::desc_of(now.format, 66, 50);
  desc.matrix = ColorMatrix::bt601;  // of a stream that says nothing, at this height
  const std::string range = traits(now.format).model == ColorModel::gray ? "FULL" : "LIMITED";
  std::ofstream(folder_ / "in.y4m", std::ios::binary) << test::make_stream(
      "W66 H50 F25:1 Ip A1:1 C" + std::string(now.tag) + " XCOLORRANGE=" + range, desc, kFrames);
  FileSinkOptions options;
  options.path = folder_ / now.file;
  options.encoder = now.encoder;
  options.lossless = true;
  const auto source = make_y4m_source(folder_ / "in.y4m");
  const auto sink = make_file_sink(options);
  std::vector<std::unique_ptr<Filter>> filters;
  filters.push_back(make_cpu_filter(EqualizeParams{}, {1}));
  const auto processor = make_cpu_processor(std::move(filters), 1);
  const StopToken stop;
  ASSERT_EQ(run(*source, *processor, *sink, RunOptions{}, stop).code, ExitCode::done);

  std::string expected;
  const auto filter = make_cpu_filter(EqualizeParams{}, {1});
  filter->configure(desc);
  FrameContext context;
  for (std::uint32_t n = 1; n <= kFrames; ++n) {
    test::PaddedImage frame(desc);
    test::fill(frame.view(), test::Content::noise, n);
    filter->submit(frame.view(), frame.view(), context);
    test::append_tight(expected, frame.view());
  }
  const test::Decoded decoded = test::decode(*make_file_source(options.path));
  EXPECT_EQ(to_string(decoded.info.desc.format), to_string(now.format));
  EXPECT_TRUE(decoded.bytes == expected);
}

INSTANTIATE_TEST_SUITE_P(
    , GstDepth,
    testing::Values(DeepCase{"x264_420_10", PixelFormat::i420_10le, "420p10", "x264", "out.mp4"},
                    DeepCase{"x264_444_10", PixelFormat::y444_10le, "444p10", "x264", "out.mkv"},
                    DeepCase{"ffv1_422_10", PixelFormat::i422_10le, "422p10", "ffv1", "out.mkv"},
                    DeepCase{"ffv1_420_12", PixelFormat::i420_12le, "420p12", "ffv1", "out.mkv"},
                    DeepCase{"ffv1_gray_16", PixelFormat::gray16_le, "mono16", "ffv1", "out.mkv"}),
    [](const auto& named) { return std::string(named.param.name); });

}  // namespace
}  // namespace equalux
