#include <random>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <gtest/gtest.h>

#include "cuda/staged/staged_chain.h"
#include "tests/support/device/device_image.h"
#include "tests/support/device/device_test.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using test::Content;
using test::DeviceImage;
using test::DeviceLayout;

EqualizeParams staged_params(const StagedParams& knobs = {}) {
  EqualizeParams params;
  params.chain = Chain::staged;
  params.staged = knobs;
  return params;
}

/// The knobs that are set, as the user would write them.
std::string text(const StagedParams& knobs) {
  const auto extent = [](const Extent3& e) {
    return std::to_string(e.x) + "," + std::to_string(e.y) + "," + std::to_string(e.z);
  };
  std::string all;
  if (knobs.rgb_to_hsv) all += " rgb-to-hsv " + std::string(enum_name(*knobs.rgb_to_hsv));
  if (knobs.histogram) all += " histogram " + std::string(enum_name(*knobs.histogram));
  if (knobs.scan) all += " scan " + std::string(enum_name(*knobs.scan));
  if (knobs.equalize) all += " equalize " + std::string(enum_name(*knobs.equalize));
  if (knobs.pixels_per_thread)
    all += " pixels-per-thread " + std::to_string(*knobs.pixels_per_thread);
  if (knobs.grid) all += " grid " + extent(*knobs.grid);
  if (knobs.block) all += " block " + extent(*knobs.block);
  return all;
}

class CudaStagedChain : public test::DeviceTest {
 protected:
  /// Frames of changing content through one chain, twice out of place and once in place; every
  /// byte is compared with the CPU backend, which takes the same parameters without knobs.
  static void expect_same_as_cpu(const EqualizeParams& params, const ImageDesc& desc,
                                 Content content, const DeviceLayout& in_layout = {},
                                 const DeviceLayout& out_layout = {}) {
    SCOPED_TRACE(std::string(to_string(desc.format)) + " " + std::to_string(desc.width) + "x" +
                 std::to_string(desc.height) + " " + test::name_of(content) + " offset " +
                 std::to_string(in_layout.offset) + " padding " +
                 std::to_string(in_layout.padding) + " bins " + std::to_string(params.bins) + " " +
                 std::string(enum_name(params.scaler)) + text(params.staged));
    EqualizeParams plain = params;
    plain.staged = {};
    const auto cpu = make_cpu_filter(plain, {1});
    cpu->configure(desc);
    cuda::StagedChain chain(params);
    chain.configure(desc);
    Image in(desc);
    Image expected(desc);
    DeviceImage device_in(desc, in_layout);
    DeviceImage device_out(desc, out_layout);
    for (std::uint32_t frame = 0; frame < 3; ++frame) {
      test::fill(in.view(), content, 7 + frame);
      FrameContext context;
      cpu->submit(in.view(), expected.view(), context);
      device_in.upload(in.view());
      device_out.poison();
      const bool in_place = frame == 2;
      DeviceImage& result = in_place ? device_in : device_out;
      chain.process(device_in.view(), result.view(), {});
      const Image got = result.download();
      ASSERT_EQ(test::count_differences(expected.view(), got.view()), 0U) << "frame " << frame;
    }
  }

  static void expect_usage_error(const StagedParams& knobs, const std::string& knob,
                                 const std::string& value, const std::string& limit) {
    cuda::StagedChain chain(staged_params(knobs));
    try {
      chain.configure({PixelFormat::bgr, 64, 48});
      ADD_FAILURE() << "no error for" << text(knobs);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      const std::string message = error.what();
      EXPECT_EQ(message.rfind(knob + " is " + value, 0), 0U) << message;
      EXPECT_NE(message.find(limit), std::string::npos) << message;
    }
  }
};

TEST_F(CudaStagedChain, EveryFormatAndContent) {
  for (const PixelFormat format : test::rgb_formats()) {
    for (const Content content : test::all_contents()) {
      expect_same_as_cpu(staged_params(), {format, 201, 37}, content);
      expect_same_as_cpu(staged_params(), {format, 200, 37}, content, {0, 16, true}, {0, 0, true});
    }
  }
}

TEST_F(CudaStagedChain, EverySizeAndStride) {
  const std::vector<std::pair<int, int>> sizes{{1, 1},   {1, 7},   {7, 1},    {2, 2},   {3, 3},
                                               {4, 1},   {5, 6},   {64, 4},   {65, 10}, {129, 11},
                                               {257, 5}, {640, 3}, {641, 479}};
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::rgb, PixelFormat::bgr,
                                   PixelFormat::bgrx, PixelFormat::argb}) {
    for (const auto& [width, height] : sizes) {
      for (const DeviceLayout& layout :
           {DeviceLayout{}, DeviceLayout{0, 16, true}, DeviceLayout{0, 0, true, true},
            DeviceLayout{1, 0}, DeviceLayout{4, 0}, DeviceLayout{3, 29},
            DeviceLayout{48, 5, false, true}}) {
        // Frames of the largest size take their time on the CPU.
        if (width == 641 && layout.offset != 0) continue;
        expect_same_as_cpu(staged_params(), {format, width, height}, Content::noise, layout);
        expect_same_as_cpu(staged_params(), {format, width, height}, Content::natural, {}, layout);
      }
    }
  }
}

TEST_F(CudaStagedChain, EveryBinCountAndScaler) {
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::gray8}) {
    for (const int bins : {2, 3, 100, 255, 256, 257, 1000, 4096, 5000, 65536}) {
      for (const Scaler scaler : {Scaler::max_abs, Scaler::min_max, Scaler::min_max_nonzero}) {
        for (const Content content : {Content::natural, Content::noise, Content::nearly_flat,
                                      Content::single_bin, Content::black}) {
          EqualizeParams params = staged_params();
          params.bins = bins;
          params.scaler = scaler;
          expect_same_as_cpu(params, {format, 97, 31}, content);
        }
      }
    }
  }
}

TEST_F(CudaStagedChain, EveryVariant) {
  for (const RgbToHsvVariant rgb_to_hsv :
       {RgbToHsvVariant::coalesced, RgbToHsvVariant::uncoalesced}) {
    for (const HistogramVariant histogram : {HistogramVariant::global, HistogramVariant::shared}) {
      for (std::size_t scan = 0; scan < enum_names<ScanVariant>().size(); ++scan) {
        for (const EqualizeVariant how : {EqualizeVariant::divide, EqualizeVariant::curve}) {
          for (const int pixels : {1, 2, 4, 8}) {
            StagedParams knobs;
            knobs.rgb_to_hsv = rgb_to_hsv;
            knobs.histogram = histogram;
            knobs.scan = static_cast<ScanVariant>(scan);
            knobs.equalize = how;
            knobs.pixels_per_thread = pixels;
            EqualizeParams params = staged_params(knobs);
            params.bins = pixels == 2 ? 1000 : 0;
            expect_same_as_cpu(params, {PixelFormat::bgr, 97, 31}, Content::natural);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST_F(CudaStagedChain, EveryShape) {
  for (const Extent3& grid : {Extent3{1, 1, 1}, Extent3{8, 8, 1}, Extent3{7, 3, 2},
                              Extent3{1024, 1, 1}, Extent3{1, 65535, 1}, Extent3{1, 1, 65535}}) {
    for (const Extent3& block :
         {Extent3{1, 1, 1}, Extent3{8, 4, 1}, Extent3{8, 8, 4}, Extent3{256, 1, 1},
          Extent3{33, 1, 1}, Extent3{1, 1, 64}, Extent3{1, 1024, 1}}) {
      StagedParams knobs;
      knobs.grid = grid;
      knobs.block = block;
      expect_same_as_cpu(staged_params(knobs), {PixelFormat::bgr, 61, 31}, Content::natural);
    }
    StagedParams knobs;
    knobs.grid = grid;
    expect_same_as_cpu(staged_params(knobs), {PixelFormat::rgba, 64, 31}, Content::noise);
  }
  StagedParams knobs;
  knobs.block = Extent3{8, 8, 1};
  expect_same_as_cpu(staged_params(knobs), {PixelFormat::bgr, 320, 200}, Content::noise);
}

TEST_F(CudaStagedChain, RandomParameters) {
  const int count = test::wants_every_count() ? 2000 : 200;
  std::mt19937 random(20261122);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  const std::vector<PixelFormat> formats = test::rgb_formats();
  for (int i = 0; i < count; ++i) {
    StagedParams knobs;
    if (below(2) == 0) knobs.rgb_to_hsv = static_cast<RgbToHsvVariant>(below(2));
    if (below(2) == 0) knobs.histogram = static_cast<HistogramVariant>(below(2));
    if (below(2) == 0) knobs.scan = static_cast<ScanVariant>(below(8));
    if (below(2) == 0) knobs.equalize = static_cast<EqualizeVariant>(below(2));
    if (below(2) == 0) knobs.pixels_per_thread = 1 << below(4);
    if (below(2) == 0) knobs.grid = Extent3{1 + below(40), 1 + below(4), 1 + below(4)};
    if (below(2) == 0) knobs.block = Extent3{1 + below(16), 1 + below(8), 1 + below(8)};
    EqualizeParams params = staged_params(knobs);
    params.scaler = static_cast<Scaler>(below(3));
    if (below(2) == 0) params.bins = 2 + below(3000);
    DeviceLayout layout;
    layout.aligned_rows = below(2) == 0;
    layout.offset = layout.aligned_rows ? 0 : below(64);
    layout.padding = below(40);
    layout.negative = below(4) == 0;
    expect_same_as_cpu(params, {formats[random() % formats.size()], 1 + below(400), 1 + below(60)},
                       test::all_contents()[random() % 8], layout,
                       below(2) == 0 ? layout : DeviceLayout{});
    if (HasFatalFailure()) return;
  }
}

TEST_F(CudaStagedChain, GeometryThatTheDeviceDoesNotTakeIsAParameterError) {
  const auto grid = [](const Extent3& e) {
    StagedParams knobs;
    knobs.grid = e;
    return knobs;
  };
  const auto block = [](const Extent3& e) {
    StagedParams knobs;
    knobs.block = e;
    return knobs;
  };
  expect_usage_error(grid({0, 1, 1}), "grid", "0,1,1", "x from 1 to 2147483647");
  expect_usage_error(grid({1, -3, 1}), "grid", "1,-3,1", "y from 1 to 65535");
  expect_usage_error(grid({1, 65536, 1}), "grid", "1,65536,1", "y from 1 to 65535");
  expect_usage_error(grid({1, 1, 65536}), "grid", "1,1,65536", "z from 1 to 65535");
  expect_usage_error(grid({2147483647, 65535, 65535}), "grid", "2147483647,65535,65535", "2^59");
  expect_usage_error(block({0, 1, 1}), "block", "0,1,1", "x from 1 to 1024");
  expect_usage_error(block({1025, 1, 1}), "block", "1025,1,1", "x from 1 to 1024");
  expect_usage_error(block({1, 1, 65}), "block", "1,1,65", "z from 1 to 64");
  expect_usage_error(block({64, 64, 1}), "block", "64,64,1", "at most 1024");
  StagedParams knobs;
  knobs.pixels_per_thread = 3;
  expect_usage_error(knobs, "pixels-per-thread", "3", "1, 2, 4 or 8");
}

TEST_F(CudaStagedChain, YuvIsAParameterError) {
  cuda::StagedChain chain(staged_params());
  try {
    chain.configure({PixelFormat::nv12, 64, 48});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(std::string(error.what()).find("nv12"), std::string::npos) << error.what();
  }
}

/// Writes down what it is told.
struct Recorder : StageMarks {
  void mark(std::string_view finished_stage, void* stream) override {
    stages.push_back(finished_stage);
    streams.push_back(stream);
  }
  std::vector<std::string_view> stages;
  std::vector<void*> streams;
};

TEST_F(CudaStagedChain, MarksTheEndOfEveryStage) {
  const ImageDesc desc{PixelFormat::bgr, 64, 48};
  cuda::StagedChain chain(staged_params());
  chain.configure(desc);
  DeviceImage image(desc);
  const cuda::Stream stream = cuda::make_stream();
  Recorder recorder;
  FrameContext context;
  context.stream = stream.get();
  context.marks = &recorder;
  chain.process(image.view(), image.view(), context);
  cuda::check(cudaStreamSynchronize(stream.get()), "running a test");
  EXPECT_EQ(recorder.stages, (std::vector<std::string_view>{"rgb_to_hsv", "histogram", "cdf_scan",
                                                            "equalize", "hsv_to_rgb"}));
  EXPECT_EQ(recorder.streams, std::vector<void*>(5, stream.get()));
}

}  // namespace
}  // namespace equalux
