#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <equalux/error.h>
#include <gtest/gtest.h>

#include "cuda/runtime/check.h"
#include "pipelines/core/frame_hash.h"
#include "pipelines/core/frame_pool.h"
#include "pipelines/core/run.h"
#include "pipelines/cuda/cuda_processor.h"
#include "pipelines/gstreamer/decode/file_source.h"
#include "pipelines/gstreamer/decode/picture_decoder.h"
#include "pipelines/gstreamer/encode/file_sink.h"
#include "pipelines/gstreamer/gst_common.h"
#include "pipelines/picture/paired_chroma.h"
#include "tests/support/device/device_image.h"
#include "tests/support/media/test_images.h"
#include "tests/support/pipeline_fakes.h"
#include "tests/support/temp_folder.h"

/// Files that a GPU decodes for filters on it: the bundled clip, H.264 of 640x360.
namespace equalux {
namespace {

const std::string kClip = std::string(EQUALUX_SOURCE_FOLDER) + "/samples/clip.mp4";

class CudaFileSource : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::has_cuda_device()) GTEST_SKIP() << "no CUDA device";
    device_ = choose_cuda_device(-1);
    gst::start_up();
    if (gst::make_gpu_decoder(kClip, device_.number, has_byte_samples) == nullptr) {
      GTEST_SKIP() << "GStreamer has no NVIDIA decoders here";
    }
  }

  std::unique_ptr<Processor> cuda() const {
    std::vector<std::unique_ptr<Filter>> filters;
    filters.push_back(make_cuda_filter(EqualizeParams{}, {device_.number}));
    return make_cuda_processor(std::move(filters), device_);
  }

  CudaDevice device_;
};

struct Result {
  std::vector<std::string> sums;
  std::vector<std::int64_t> times;
  PixelFormat format = PixelFormat::gray8;
  int uploads = 0;
};

/// The MD5 sum of a 4:2:0 frame as planes.
std::string i420_md5(const ConstImageView& image) {
  if (image.desc.format == PixelFormat::p010_10le) {
    ImageDesc desc = image.desc;
    desc.format = planar_form(desc.format);
    Image planar(desc);
    copy_as_planes(image, planar.view());
    return frame_md5(std::as_const(planar).view());
  }
  if (image.desc.format != PixelFormat::nv12) return frame_md5(image);
  ImageDesc desc = image.desc;
  desc.format = PixelFormat::i420;
  Image planar(desc);
  for (int y = 0; y < desc.height; ++y) {
    std::memcpy(planar.view().row(0, y), image.row(0, y), static_cast<std::size_t>(desc.width));
  }
  for (int y = 0; y < desc.height / 2; ++y) {
    const std::uint8_t* pairs = image.row(1, y);
    for (int x = 0; x < desc.width / 2; ++x) {
      planar.view().row(1, y)[x] = pairs[2 * x];
      planar.view().row(2, y)[x] = pairs[2 * x + 1];
    }
  }
  return frame_md5(std::as_const(planar).view());
}

/// The sums of the clip's frames, decoded and equalized on a CPU; test_golden.cpp holds the CPU to
/// them.
std::vector<std::string> expected_sums() {
  std::ifstream file(EQUALUX_SOURCE_FOLDER "/tests/data/clip_fused_i420.framemd5");
  std::vector<std::string> sums;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') sums.push_back(line.substr(line.rfind(' ') + 1));
  }
  return sums;
}

Result through(Processor& processor, DecoderChoice decoder, std::uint64_t most = 0,
               const std::string& path = kClip) {
  FileSourceOptions file;
  file.decoder = decoder;
  const auto source = make_file_source(path, file);
  test::FakeSink sink;
  StopToken stop;
  RunOptions options;
  options.max_frames = most;
  Result result;
  options.on_open = [&](const StreamInfo& info) { result.format = info.desc.format; };
  options.on_frame = [&](const Frame& frame) { result.uploads += frame.timings.upload_ms ? 1 : 0; };
  options.on_result = [&](const Frame& frame) {
    result.sums.push_back(i420_md5(frame.image));
    result.times.push_back(frame.pts_ns);
  };
  EXPECT_EQ(run(*source, processor, sink, options, stop).code, ExitCode::done);
  return result;
}

TEST_F(CudaFileSource, GivesTheBytesAndTimesOfTheCpuWithoutAnUpload) {
  const std::vector<std::string> expected = expected_sums();
  ASSERT_EQ(expected.size(), 225U);
  const auto gpu = cuda();
  const Result decoded = through(*gpu, DecoderChoice::gpu);
  EXPECT_EQ(decoded.format, PixelFormat::nv12);
  EXPECT_EQ(decoded.uploads, 0);
  EXPECT_EQ(decoded.sums, expected);
  for (std::size_t i = 0; i < decoded.times.size(); ++i) {
    ASSERT_EQ(decoded.times[i], static_cast<std::int64_t>(i) * 40'000'000) << "frame " << i;
  }
}

/// Ten frames of 10 bits, H.265.
void write_ten_bits(const std::string& path) {
  StreamInfo info;
  info.desc = {PixelFormat::i420_10le, 640, 360};
  info.frame_rate = {25, 1};
  FileSinkOptions options;
  options.path = path;
  options.encoder = "x265";
  const auto sink = make_file_sink(options);
  sink->open(info);
  Image image(info.desc);
  for (int i = 0; i < 10; ++i) {
    test::fill(image.view(), test::Content::natural, static_cast<std::uint32_t>(i));
    Frame frame;
    frame.image = std::as_const(image).view();
    frame.pts_ns = i * std::int64_t{40'000'000};
    frame.duration_ns = 40'000'000;
    sink->write(frame);
  }
  sink->finish(Ending::complete);
}

TEST_F(CudaFileSource, TenBitsAreDecodedToP010) {
  if (!gst::has_element("x265enc") || !gst::has_element("avdec_h265")) {
    GTEST_SKIP() << "GStreamer has no x265enc or no avdec_h265 here";
  }
  const test::TempFolder folder;
  const std::string path = folder / "ten.mkv";
  write_ten_bits(path);
  const auto gpu = cuda();
  const Result decoded = through(*gpu, DecoderChoice::gpu, 0, path);
  const Result software = through(*gpu, DecoderChoice::software, 0, path);
  EXPECT_EQ(decoded.format, PixelFormat::p010_10le);
  EXPECT_EQ(software.format, PixelFormat::i420_10le);
  EXPECT_EQ(decoded.uploads, 0);
  ASSERT_EQ(software.sums.size(), 10U);
  EXPECT_EQ(decoded.sums, software.sums);
}

TEST_F(CudaFileSource, AutoTakesTheDeviceAndSoftwareLeavesIt) {
  const auto gpu = cuda();
  EXPECT_EQ(through(*gpu, DecoderChoice::automatic, 5).uploads, 0);
  EXPECT_EQ(through(*gpu, DecoderChoice::software, 5).uploads, 5);
}

TEST_F(CudaFileSource, GivesTheDeviceBackBeforeTheFirstFrame) {
  const auto source = make_file_source(kClip);
  source->offer_device(device_.number);
  const auto any = [](PixelFormat) { return true; };
  EXPECT_EQ(source->open(any).desc.format, PixelFormat::nv12);
  source->offer_device(-1);
  EXPECT_EQ(source->open(any).desc.format, PixelFormat::i420);
  FramePool pool({PixelFormat::i420, 640, 360}, 2, true);
  FramePtr frame = pool.acquire();
  ASSERT_TRUE(source->read(*frame));
  EXPECT_FALSE(frame->on_device);
}

TEST_F(CudaFileSource, ComesAndGoesWithoutKeepingMemory) {
  const auto free_bytes = [] {
    std::size_t now = 0;
    std::size_t total = 0;
    cuda::check(cudaMemGetInfo(&now, &total), "asking for free memory");
    return now;
  };
  const auto gpu = cuda();
  static_cast<void>(through(*gpu, DecoderChoice::gpu, 3));
  const std::size_t before = free_bytes();
  for (int i = 0; i < 10; ++i)
    static_cast<void>(through(*gpu, DecoderChoice::gpu, 3));
  EXPECT_GE(free_bytes() + (64U << 20), before);
}

TEST(GpuDecoder, IsAnErrorOfTheOptionWhereFramesMustLieOnTheHost) {
  FileSourceOptions file;
  file.decoder = DecoderChoice::gpu;
  const auto source = make_file_source(kClip, file);
  try {
    static_cast<void>(source->open([](PixelFormat) { return true; }));
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::unavailable);
    EXPECT_NE(std::string(error.what()).find("decoder gpu needs"), std::string::npos);
  }
}

}  // namespace
}  // namespace equalux
