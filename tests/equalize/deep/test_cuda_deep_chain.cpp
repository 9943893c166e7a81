#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <equalux/filter.h>
#include <gtest/gtest.h>

#include "cuda/equalize/deep/deep_chain.h"
#include "cuda/runtime/check.h"
#include "cuda/runtime/handles.h"
#include "src/format/rounding.h"
#include "tests/equalize/deep/deep_reference.h"
#include "tests/support/device/device_filter.h"
#include "tests/support/device/device_image.h"
#include "tests/support/device/device_test.h"
#include "tests/support/device/frame_run.h"
#include "tests/support/long_counts.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using test::Content;
using test::DeviceImage;
using test::DeviceLayout;

using CudaDeepChain = test::DeviceChainTest<cuda::DeepChain>;

TEST_F(CudaDeepChain, EveryFormatAndContent) {
  for (const PixelFormat format : test::deep_formats()) {
    for (const Content content : test::all_contents()) {
      expect_same_as_cpu({}, {format, 1201, 37}, content);
      expect_same_as_cpu({}, {format, 1201, 37}, content, {0, 0, true});
    }
  }
}

TEST_F(CudaDeepChain, EverySizeStrideAndFieldOrder) {
  const std::vector<std::pair<int, int>> sizes{{1, 1},   {1, 7},   {7, 1},   {2, 2},
                                               {3, 3},   {5, 6},   {64, 4},  {65, 10},
                                               {257, 5}, {512, 6}, {1537, 3}};
  for (const PixelFormat format : test::deep_formats()) {
    for (const auto& [width, height] : sizes) {
      for (const DeviceLayout& layout :
           {DeviceLayout{}, DeviceLayout{0, 16, true}, DeviceLayout{0, 0, true, true},
            DeviceLayout{1, 0}, DeviceLayout{2, 2}, DeviceLayout{3, 29},
            DeviceLayout{48, 5, false, true}}) {
        const FieldOrder order = layout.negative ? FieldOrder::top_first : FieldOrder::progressive;
        expect_same_as_cpu({}, {format, width, height}, Content::noise, layout, order);
      }
    }
  }
}

/// Rows that end in every place of a strip, and a last row of chroma with one of luma.
TEST_F(CudaDeepChain, StripsAndWhatTheyLeaveOver) {
  const std::vector<PixelFormat> formats = test::deep_formats();
  for (const PixelFormat format : formats) {
    for (int width = 8; width <= 25; ++width) {
      for (const int height : {4, 5}) {
        for (const Content content : {Content::noise, Content::natural}) {
          expect_same_as_cpu({}, {format, width, height}, content, {0, 0, true});
          expect_same_as_cpu({}, {format, width, height}, content, {0, 0, true},
                             FieldOrder::top_first);
        }
      }
    }
  }
}

/// Compares one frame with fractions that are rounded to 8 bits. With an offset of 0 rows are
/// aligned, as strips need them. With another offset YCbCr has a curve of luma, behind which
/// saturation changes before fractions are rounded.
void expect_rounded_as_on_cpu(const ImageDesc& desc, Dither dither, int offset) {
  SCOPED_TRACE(std::string(to_string(desc.format)) + " " + std::to_string(desc.width));
  EqualizeParams params;
  if (offset != 0 && traits(desc.format).model == ColorModel::yuv) {
    params.space = Space::luma;
    params.saturation = 1.5;
  }
  const auto cpu = make_cpu_filter(params, {1});
  const auto cuda = make_cuda_filter(params);
  const ImageDesc fine = desc_with_fractions(desc);
  ASSERT_TRUE(cuda->takes_fractions(desc, {true, false}));
  ASSERT_EQ(cpu->configure_with(desc, {true, false}), desc);
  ASSERT_EQ(cuda->configure_with(desc, {true, false}), desc);
  Image in(fine);
  Image expected(desc);
  const DeviceLayout layout{offset, offset, offset == 0};
  DeviceImage device_in(fine, layout);
  DeviceImage device_out(desc, layout);
  test::fill(in.view(), Content::noise, 7);
  FrameContext context;
  context.field_order = offset == 0 ? FieldOrder::progressive : FieldOrder::top_first;
  context.dither = dither;
  cpu->submit(in.view(), expected.view(), context);
  device_in.upload(in.view());
  device_out.poison();
  cuda->submit(device_in.view(), device_out.view(), context);
  ASSERT_EQ(test::count_differences(expected.view(), device_out.download().view()), 0U);
}

TEST_F(CudaDeepChain, FractionsAreRoundedAsOnTheCpu) {
  for (const PixelFormat format : test::byte_formats()) {
    for (const auto& [width, height] :
         std::vector<std::pair<int, int>>{{1, 1}, {3, 2}, {7, 5}, {72, 4}, {257, 6}, {1201, 37}}) {
      for (const Dither dither : {Dither::none, Dither::ordered}) {
        for (const int offset : {0, 3}) {
          expect_rounded_as_on_cpu({format, width, height}, dither, offset);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

/// Few enough for the sanitizers: strips and spans with what they leave over, and single cells, of
/// all values and of coarse levels; fractions that are rounded.
TEST_F(CudaDeepChain, AFewFramesOfEachKernel) {
  EqualizeParams limits;
  limits.floor = 2;
  limits.temporal_ms = 300;
  for (const PixelFormat format : test::deep_formats()) {
    for (const DeviceLayout& layout : {DeviceLayout{0, 0, true}, DeviceLayout{1}}) {
      expect_same_as_cpu({}, {format, 277, 5}, Content::natural, layout);
      expect_same_as_cpu(limits, {format, 277, 5}, Content::natural, layout);
    }
    // Rows of whole words, but not of whole vectors.
    expect_same_as_cpu({}, {format, 276, 5}, Content::natural);
    expect_same_as_cpu(limits, {format, 276, 5}, Content::natural);
  }
  for (const PixelFormat format : test::byte_formats()) {
    expect_rounded_as_on_cpu({format, 277, 5}, Dither::none, 0);
    expect_rounded_as_on_cpu({format, 277, 5}, Dither::ordered, 3);
  }
}

TEST_F(CudaDeepChain, EveryBinCountAndScaler) {
  for (const PixelFormat format : {PixelFormat::i420_10le, PixelFormat::p012_le,
                                   PixelFormat::gray16_le, PixelFormat::y444_16le}) {
    for (const int bins : {2, 3, 100, 1023, 1024, 5000, 65536}) {
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

TEST_F(CudaDeepChain, EveryOptionOfTheCurve) {
  const auto with = [](double EqualizeParams::*field, double value) {
    EqualizeParams params;
    params.*field = value;
    return params;
  };
  for (const EqualizeParams& params :
       {with(&EqualizeParams::strength, 0.4), with(&EqualizeParams::clip_limit, 2.5),
        with(&EqualizeParams::floor, 2), with(&EqualizeParams::ceiling, 90),
        with(&EqualizeParams::max_gain, 3), with(&EqualizeParams::temporal_ms, 300)}) {
    for (const PixelFormat format : test::deep_formats()) {
      for (const Content content : {Content::natural, Content::noise, Content::black})
        expect_same_as_cpu(params, {format, 301, 37}, content);
    }
  }
}

TEST_F(CudaDeepChain, EveryMatrixAndRange) {
  for (const PixelFormat format : {PixelFormat::p010_10le, PixelFormat::i422_12le,
                                   PixelFormat::y444_16le, PixelFormat::p016_le}) {
    for (const ColorMatrix matrix : {ColorMatrix::bt601, ColorMatrix::bt709, ColorMatrix::bt2020}) {
      for (const ColorRange range : {ColorRange::limited, ColorRange::full}) {
        for (const Content content : {Content::natural, Content::noise, Content::ramp})
          expect_same_as_cpu({}, {format, 1131, 23, matrix, range}, content, {0, 0, true});
      }
    }
  }
}

/// More cells than threads, and counters that all blocks meet in.
TEST_F(CudaDeepChain, LargeFrames) {
  for (const PixelFormat format : test::deep_formats())
    expect_same_as_cpu({}, {format, 1920, 1080}, Content::natural);
  for (const Content content : {Content::constant, Content::noise}) {
    expect_same_as_cpu({}, {PixelFormat::p010_10le, 3840, 2160}, content);
    expect_same_as_cpu({}, {PixelFormat::gray16_le, 4801, 3203}, content, {1, 1});
  }
  // One value alone, in blocks whose counters have 16 bits.
  for (const PixelFormat format :
       {PixelFormat::gray16_le, PixelFormat::bgr48_le, PixelFormat::rgba64_le, PixelFormat::p016_le,
        PixelFormat::y444_16le}) {
    expect_same_as_cpu({}, {format, 3840, 2160}, Content::constant);
  }
}

TEST_F(CudaDeepChain, RandomSizes) {
  const int count = test::wants_every_count() ? 2000 : 150;
  std::mt19937 random(20261122);
  const std::vector<PixelFormat> formats = test::deep_formats();
  for (int i = 0; i < count; ++i) {
    const PixelFormat format = formats[random() % formats.size()];
    const int width = 1 + static_cast<int>(random() % 2000);
    const int height = 1 + static_cast<int>(random() % 100);
    EqualizeParams params;
    params.scaler = static_cast<Scaler>(random() % 3);
    if (random() % 2 == 0) params.bins = 2 + static_cast<int>(random() % 65535);
    const DeviceLayout layout = test::random_layout(random);
    const auto order = random() % 4 == 0 ? FieldOrder::bottom_first : FieldOrder::progressive;
    expect_same_as_cpu(params, {format, width, height}, test::all_contents()[random() % 8], layout,
                       order);
    if (HasFatalFailure()) return;
  }
}

/// Nobody waits between the frames: each leaves the counters clear for the next.
TEST_F(CudaDeepChain, FramesOnEachOthersHeels) {
  for (const PixelFormat format : {PixelFormat::i420_10le, PixelFormat::y444_16le}) {
    const ImageDesc desc{format, 701, 250};
    test::FrameRun run(desc, 12);
    const cuda::Stream stream = cuda::make_stream();
    cuda::DeepChain chain({});
    chain.configure(desc);
    for (std::size_t i = 0; i < 12; ++i)
      run.enqueue(chain, i, stream.get());
    run.expect_results();
  }
}

/// One filter, from 8 bits to more and back.
TEST_F(CudaDeepChain, TheFilterChoosesByTheFormat) {
  const auto cpu = make_cpu_filter(EqualizeParams{}, {1});
  const auto cuda = make_cuda_filter(EqualizeParams{}, CudaOptions{});
  for (const PixelFormat format : {PixelFormat::i420, PixelFormat::p010_10le, PixelFormat::bgr,
                                   PixelFormat::rgba64_le, PixelFormat::i420_12le}) {
    ASSERT_TRUE(cuda->accepts(format));
    const ImageDesc desc{format, 333, 77};
    cpu->configure(desc);
    cuda->configure(desc);
    Image in(desc);
    Image expected(desc);
    test::fill(in.view(), Content::natural, 3);
    FrameContext context;
    cpu->submit(in.view(), expected.view(), context);
    DeviceImage device_in(desc);
    DeviceImage device_out(desc);
    device_in.upload(in.view());
    cuda->submit(device_in.view(), device_out.view(), context);
    const Image got = device_out.download();
    EXPECT_EQ(test::count_differences(expected.view(), got.view()), 0U) << to_string(format);
  }
}

}  // namespace
}  // namespace equalux
