#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <gtest/gtest.h>

#include "cuda/equalize/fused/fused_chain.h"
#include "cuda/runtime/check.h"
#include "cuda/runtime/handles.h"
#include "tests/support/device/device_filter.h"
#include "tests/support/device/device_image.h"
#include "tests/support/device/device_test.h"
#include "tests/support/device/frame_run.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using test::Content;
using test::DeviceLayout;
using test::FrameRun;

using CudaFusedChain = test::DeviceChainTest<cuda::FusedChain>;

TEST_F(CudaFusedChain, EveryFormatAndContent) {
  for (const PixelFormat format : test::byte_formats()) {
    for (const Content content : test::all_contents()) {
      expect_same_as_cpu({}, {format, 1201, 37}, content);
      expect_same_as_cpu({}, {format, 1201, 37}, content, {0, 0, true});
    }
  }
}

TEST_F(CudaFusedChain, EverySizeStrideAndFieldOrder) {
  const std::vector<std::pair<int, int>> sizes{{1, 1},   {1, 7},   {7, 1},   {2, 2},    {3, 3},
                                               {5, 6},   {64, 4},  {65, 10}, {129, 11}, {257, 5},
                                               {512, 6}, {513, 7}, {1536, 3}};
  for (const PixelFormat format : test::byte_formats()) {
    for (const auto& [width, height] : sizes) {
      for (const DeviceLayout& layout :
           {DeviceLayout{}, DeviceLayout{0, 16, true}, DeviceLayout{0, 0, true, true},
            DeviceLayout{1, 0}, DeviceLayout{3, 29}, DeviceLayout{48, 5, false, true}}) {
        const FieldOrder order = layout.negative ? FieldOrder::top_first : FieldOrder::progressive;
        expect_same_as_cpu({}, {format, width, height}, Content::noise, layout, order);
      }
    }
  }
}

TEST_F(CudaFusedChain, EveryOffset) {
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::bgr, PixelFormat::xrgb,
                                   PixelFormat::nv12, PixelFormat::i420}) {
    for (int offset = 0; offset < 64; ++offset) {
      expect_same_as_cpu({}, {format, 701, 9}, Content::natural, {offset, offset % 3, false});
    }
  }
}

TEST_F(CudaFusedChain, EveryBinCountAndScaler) {
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::gray8, PixelFormat::i420}) {
    for (const int bins : {2, 3, 100, 255, 256, 257, 1000, 65536}) {
      for (const Scaler scaler : {Scaler::max_abs, Scaler::min_max, Scaler::min_max_nonzero}) {
        for (const Content content : {Content::natural, Content::noise, Content::nearly_flat}) {
          EqualizeParams params;
          params.bins = bins;
          params.scaler = scaler;
          expect_same_as_cpu(params, {format, 97, 31}, content);
        }
      }
    }
  }
}

TEST_F(CudaFusedChain, EveryMatrixAndRange) {
  for (const PixelFormat format : {PixelFormat::nv12, PixelFormat::i420, PixelFormat::y42b,
                                   PixelFormat::yuy2, PixelFormat::y444}) {
    for (const ColorMatrix matrix : {ColorMatrix::bt601, ColorMatrix::bt709, ColorMatrix::bt2020}) {
      for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
        for (const Content content : {Content::natural, Content::noise, Content::ramp}) {
          expect_same_as_cpu({}, {format, 1131, 23, matrix, range}, content, {0, 0, true});
        }
      }
    }
  }
}

/// More chunks than the rings hold, more counts than a byte holds.
TEST_F(CudaFusedChain, LargeFrames) {
  for (const PixelFormat format : test::byte_formats()) {
    expect_same_as_cpu({}, {format, 3840, 2160}, Content::natural);
  }
  for (const Content content : {Content::constant, Content::noise}) {
    expect_same_as_cpu({}, {PixelFormat::bgr, 7680, 4320}, content);
    expect_same_as_cpu({}, {PixelFormat::nv12, 7680, 4320}, content);
    expect_same_as_cpu({}, {PixelFormat::bgr, 4801, 3203}, content, {1, 1});
  }
  expect_same_as_cpu({}, {PixelFormat::gray8, 12288, 8192}, Content::single_bin);
}

TEST_F(CudaFusedChain, RandomSizes) {
  const int count = test::wants_every_count() ? 2000 : 200;
  std::mt19937 random(20261121);
  const std::vector<PixelFormat> formats = test::byte_formats();
  for (int i = 0; i < count; ++i) {
    const PixelFormat format = formats[random() % formats.size()];
    const int width = 1 + static_cast<int>(random() % 2000);
    const int height = 1 + static_cast<int>(random() % 200);
    EqualizeParams params;
    params.scaler = static_cast<Scaler>(random() % 3);
    if (random() % 2 == 0) params.bins = 2 + static_cast<int>(random() % 600);
    const DeviceLayout layout = test::random_layout(random);
    const auto order = random() % 4 == 0 ? FieldOrder::bottom_first : FieldOrder::progressive;
    expect_same_as_cpu(params, {format, width, height}, test::all_contents()[random() % 8], layout,
                       order);
    if (HasFatalFailure()) return;
  }
}

/// Nobody waits between the frames, so that launches overlap where the device does that; small
/// frames leave room for several at once.
TEST_F(CudaFusedChain, FramesOnEachOthersHeels) {
  for (const auto& [width, height] :
       {std::pair(64, 3), std::pair(700, 500), std::pair(1920, 1080)}) {
    for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::i420}) {
      FrameRun run({format, width, height}, 24);
      const cuda::Stream stream = cuda::make_stream();
      cuda::FusedChain chain({});
      chain.configure({format, width, height});
      for (std::size_t i = 0; i < 24; ++i)
        run.enqueue(chain, i, stream.get());
      run.expect_results();
    }
  }
}

/// Launches whose blocks wait for each other, from two chains at once: neither may starve the
/// other.
TEST_F(CudaFusedChain, TwoChainsOnTwoStreams) {
  const ImageDesc desc{PixelFormat::bgr, 1920, 1080};
  FrameRun first_run(desc, 16);
  FrameRun second_run(desc, 16);
  const cuda::Stream first_stream = cuda::make_stream();
  const cuda::Stream second_stream = cuda::make_stream();
  cuda::FusedChain first({});
  first.configure(desc);
  for (std::size_t i = 0; i < 8; ++i)
    first_run.enqueue(first, i, first_stream.get());
  cuda::FusedChain second({});  // While the first is at work, alone so far.
  second.configure(desc);
  for (std::size_t i = 0; i < 16; ++i) {
    if (i >= 8) first_run.enqueue(first, i, first_stream.get());
    second_run.enqueue(second, i, second_stream.get());
  }
  first_run.expect_results();
  second_run.expect_results();
}

/// A captured launch is replayed, and so is its place in the order of frames.
TEST_F(CudaFusedChain, ReplaysOfAGraph) {
  const ImageDesc desc{PixelFormat::nv12, 640, 360};
  FrameRun run(desc, 6);
  const cuda::Stream stream = cuda::make_stream();
  cuda::FusedChain chain({});
  chain.configure(desc);
  cuda::check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), "capturing");
  for (std::size_t i = 0; i < 3; ++i)
    run.enqueue(chain, i, stream.get());
  cudaGraph_t graph = nullptr;
  cuda::check(cudaStreamEndCapture(stream.get(), &graph), "capturing");
  cudaGraphExec_t launchable = nullptr;
  cuda::check(cudaGraphInstantiate(&launchable, graph, 0), "making a graph");
  for (int replay = 0; replay < 5; ++replay) {
    cuda::check(cudaGraphLaunch(launchable, stream.get()), "launching a graph");
  }
  for (std::size_t i = 3; i < 6; ++i)
    run.enqueue(chain, i, stream.get());
  run.expect_results();
  cuda::check(cudaGraphExecDestroy(launchable), "leaving a graph");
  cuda::check(cudaGraphDestroy(graph), "leaving a graph");
}

}  // namespace
}  // namespace equalux
