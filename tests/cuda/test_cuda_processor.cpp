#include <functional>
#include <string>
#include <utility>

#include <equalux/convolve.h>
#include <equalux/error.h>
#include <equalux/hessian.h>
#include <gtest/gtest.h>

#include "pipelines/core/frame_pool.h"
#include "pipelines/core/run.h"
#include "pipelines/core/test_source.h"
#include "pipelines/cuda/cuda_processor.h"
#include "tests/support/device/device_image.h"
#include "tests/support/filter_changes.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/test_images.h"
#include "tests/support/pipeline_fakes.h"

namespace equalux {
namespace {

using test::Content;

class CudaProcessor : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::has_cuda_device()) GTEST_SKIP() << "no CUDA device";
    device_ = choose_cuda_device(-1);
  }

  std::unique_ptr<Processor> make(std::size_t depth, std::size_t filters = 1) const {
    std::vector<std::unique_ptr<Filter>> chain;
    for (std::size_t i = 0; i < filters; ++i) {
      chain.push_back(make_cuda_filter(EqualizeParams{}, {device_.number}));
    }
    return make_cuda_processor(std::move(chain), device_, depth);
  }

  CudaDevice device_;
};

/// A run over a moving picture, hashed frame by frame; queues, slots and streams in between.
std::vector<std::vector<std::uint8_t>> frames_through(
    Processor& processor, std::uint64_t count,
    std::function<void(Processor&, Frame&)> on_submit = {}) {
  const auto source = make_test_source({161, 90, {25, 1}});
  test::FakeSink sink;
  StopToken stop;
  RunOptions options;
  options.max_frames = count;
  options.on_submit = std::move(on_submit);
  std::vector<std::vector<std::uint8_t>> frames;
  options.on_result = [&](const Frame& frame) {
    EXPECT_EQ(frame.index, frames.size());
    frames.push_back(test::tight_copy(frame.image));
  };
  const RunResult result = run(*source, processor, sink, options, stop);
  EXPECT_EQ(result.code, ExitCode::done);
  return frames;
}

TEST_F(CudaProcessor, FramesComeInOrderWithTheCpusBytesAtEveryDepth) {
  std::vector<std::unique_ptr<Filter>> filters;
  filters.push_back(make_cpu_filter(EqualizeParams{}, {1}));
  const auto cpu = make_cpu_processor(std::move(filters), 1);
  const auto expected = frames_through(*cpu, 500);
  ASSERT_EQ(expected.size(), 500U);
  for (std::size_t depth = 1; depth <= 8; ++depth) {
    const auto cuda = make(depth);
    EXPECT_EQ(frames_through(*cuda, 500), expected) << "depth " << depth;
    EXPECT_EQ(cuda->depth(), depth);
  }
}

TEST_F(CudaProcessor, FramesThatPassUntouchedAndParametersThatChange) {
  const auto steer = [](Processor& processor, Frame& frame) {
    frame.unfiltered = frame.index >= 3 && frame.index < 6;
    frame.placeholder = frame.index == 8;
    if (frame.index != 10) return;
    EXPECT_TRUE(processor.update(0, {{"strength", "0.4"}}));
  };
  std::vector<std::unique_ptr<Filter>> filters;
  filters.push_back(make_cpu_filter(EqualizeParams{}, {1}));
  const auto cpu = make_cpu_processor(std::move(filters), 1);
  const auto plain = frames_through(*cpu, 14);
  const auto expected = frames_through(*cpu, 14, steer);
  for (const std::size_t i : {3U, 5U, 8U, 10U, 13U})
    EXPECT_NE(expected[i], plain[i]) << i;
  for (const std::size_t i : {2U, 6U, 7U, 9U})
    EXPECT_EQ(expected[i], plain[i]) << i;
  for (const std::size_t depth : {1U, 3U}) {
    const auto cuda = make(depth);
    EXPECT_EQ(frames_through(*cuda, 14, steer), expected) << "depth " << depth;
  }
}

TEST_F(CudaProcessor, FiltersInARowAndNoneAtAll) {
  for (const std::size_t count : {0U, 2U}) {
    std::vector<std::unique_ptr<Filter>> filters;
    for (std::size_t i = 0; i < count; ++i) {
      filters.push_back(make_cpu_filter(EqualizeParams{}, {1}));
    }
    const auto cpu = make_cpu_processor(std::move(filters), 1);
    const auto cuda = make(3, count);
    EXPECT_EQ(frames_through(*cuda, 20), frames_through(*cpu, 20));
  }
}

/// The filters of a chain, for one backend.
std::vector<std::unique_ptr<Filter>> chain_of(const std::string& names, bool cuda, int device) {
  std::vector<std::unique_ptr<Filter>> filters;
  const auto add = [&](const auto& params) {
    filters.push_back(cuda ? make_cuda_filter(params, {device}) : make_cpu_filter(params, {1}));
  };
  for (const char name : names) {
    if (name == 'e') add(EqualizeParams{});
    if (name == 'g') {
      ConvolveParams params;
      params.kernel = "gaussian";
      params.sigma = 1.2;
      add(params);
    }
    if (name == 's') {
      ConvolveParams params;
      params.kernel = "sharpen";
      add(params);
    }
    if (name == 'v') {
      VesselParams params;
      params.low = 0.02;
      params.output = VesselOutput::overlay;
      add(params);
    }
    if (name == 'm') add(VesselParams{});
    if (name == 'l') add(HessianParams{});
    if (name == 'f') add(ShapesParams{});
  }
  return filters;
}

/// Frames stay on the device between filters, some of which change their format.
TEST_F(CudaProcessor, FiltersOfEveryFamilyInAnyOrder) {
  for (const char* names : {"egv", "vge", "sl", "em", "mg", "fes", "gsegsvfegsm"}) {
    const auto cpu = make_cpu_processor(chain_of(names, false, 0), 1);
    const auto cuda = make_cuda_processor(chain_of(names, true, device_.number), device_, 3);
    EXPECT_EQ(frames_through(*cuda, 12), frames_through(*cpu, 12)) << names;
  }
}

/// Frames that lie in memory in other ways than the pool's: padded, bottom up, not pinned.
TEST_F(CudaProcessor, BorrowedFramesOfAnyStride) {
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::nv12, PixelFormat::y42b}) {
    for (const bool negative : {false, true}) {
      const ImageDesc desc{format, 203, 57};
      test::PaddedImage in(desc, 13, negative, 5);
      test::fill(in.view(), Content::natural, 5);
      Image expected(desc);
      const auto cpu = make_cpu_filter(EqualizeParams{}, {1});
      cpu->configure(desc);
      FrameContext context;
      cpu->submit(in.view(), expected.view(), context);

      const auto cuda = make(2);
      cuda->configure(desc);
      FramePool inputs(desc, 1, true);
      FramePool outputs(desc, 1);
      FramePtr frame = inputs.acquire();
      frame->image = in.view();
      cuda->submit(std::move(frame), outputs.acquire(), false, false);
      const FramePtr out = cuda->collect(true);
      ASSERT_NE(out, nullptr);
      EXPECT_EQ(test::count_differences(expected.view(), out->image), 0U) << to_string(format);
      EXPECT_TRUE(in.padding_intact());
      EXPECT_EQ(cuda->collect(true), nullptr);
    }
  }
}

TEST_F(CudaProcessor, TimesOfUploadStagesAndDownload) {
  const auto source = make_test_source({640, 360, {25, 1}});
  test::FakeSink sink;
  StopToken stop;
  RunOptions options;
  options.max_frames = 20;
  std::size_t measured = 0;
  options.on_frame = [&](const Frame& frame) {
    ++measured;
    ASSERT_TRUE(frame.timings.upload_ms && frame.timings.download_ms);
    EXPECT_GT(*frame.timings.upload_ms, 0);
    EXPECT_GT(*frame.timings.download_ms, 0);
    ASSERT_EQ(frame.timings.stages.size(), 1U);
    EXPECT_EQ(frame.timings.stages[0].stage, "fused");
    EXPECT_GT(frame.timings.stages[0].ms, 0);
    EXPECT_LT(frame.timings.stages[0].ms, 1000);
  };
  run(*source, *make(3), sink, options, stop);
  EXPECT_EQ(measured, 20U);
}

TEST_F(CudaProcessor, MakingAndLeavingManyLosesNoDeviceMemory) {
  const int cycles = test::wants_every_count() ? 1000 : 60;
  std::size_t free_early = 0;
  std::size_t free_late = 0;
  std::size_t total = 0;
  for (int i = 0; i < cycles; ++i) {
    const auto cuda = make(3);
    cuda->configure({PixelFormat::bgr, 1280, 720});
    const FramePool pinned({PixelFormat::bgr, 1280, 720}, 4, 4, *cuda->frame_memory());
    EXPECT_EQ(pinned.size(), 4U);
    if (i == 10) cudaMemGetInfo(&free_early, &total);
    if (i == cycles - 1) cudaMemGetInfo(&free_late, &total);
  }
  EXPECT_GE(free_late + (std::size_t{4} << 20), free_early);
}

/// With little memory left the processor has fewer slots; with too little it says what it asked
/// for.
TEST_F(CudaProcessor, LittleDeviceMemoryMeansFewerSlots) {
  const ImageDesc desc{PixelFormat::bgr, 3840, 2160};  // 2 x 25 MB a slot
  for (const std::size_t left_mb : {230U, 24U}) {
    const auto cuda = make(8);
    cuda->configure({PixelFormat::bgr, 64, 64});  // what the kernels need is loaded
    std::size_t free = 0;
    std::size_t total = 0;
    ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
    const auto taken = cuda::allocate_device<std::uint8_t>(free - (left_mb << 20));
    if (left_mb > 100) {
      cuda->configure(desc);
      EXPECT_GE(cuda->depth(), 1U);
      EXPECT_LT(cuda->depth(), 8U);
      continue;
    }
    try {
      cuda->configure(desc);
      FAIL() << "two frames of 25 MB fit into 24";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::unavailable);
      EXPECT_NE(std::string(error.what()).find(device_.name), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("bytes of device memory"), std::string::npos);
    }
  }
}

TEST(CudaDevices, NumbersThatAreNotThereAreNamed) {
  const CudaStatus status = cuda_status();
  EXPECT_FALSE(status.reason.empty());
  try {
    static_cast<void>(choose_cuda_device(1000));
    FAIL() << "device 1000 exists";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), status.devices.empty() ? ExitCode::unavailable : ExitCode::usage);
  }
}

}  // namespace
}  // namespace equalux
