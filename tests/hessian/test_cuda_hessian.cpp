#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <equalux/hessian.h>
#include <gtest/gtest.h>

#include "cuda/hessian/hessian.h"
#include "src/hessian/hessian_weights.h"
#include "tests/support/device/device_filter.h"
#include "tests/support/device/device_test.h"
#include "tests/support/long_counts.h"

/// `eigenvalues` on a GPU: the bits of the CPU backend.
namespace equalux {
namespace {

using test::Content;
using test::DeviceLayout;
using test::FilterLayout;

class CudaHessian : public test::DeviceTest {
 protected:
  static void expect_same_as_cpu(const HessianParams& params, const ImageDesc& desc,
                                 Content content = Content::noise,
                                 const FilterLayout& layout = {}) {
    SCOPED_TRACE(std::string(enum_name(params.derivative)) + " sigma " +
                 std::to_string(params.sigma) + " truncate " + std::to_string(params.truncate) +
                 " " + std::string(enum_name(params.channel)));
    const auto cpu = make_cpu_filter(params, {1});
    const auto cuda = make_cuda_filter(params);
    test::expect_same_frames(*cpu, *cuda, desc, content, layout);
  }

  static HessianParams scale(double sigma,
                             HessianDerivative derivative = HessianDerivative::gaussian) {
    HessianParams params;
    if (derivative != HessianDerivative::sobel_laplacian) params.sigma = sigma;
    params.derivative = derivative;
    return params;
  }
};

TEST_F(CudaHessian, EveryFormatAndChannel) {
  for (int f = 0; f < kPixelFormatCount; ++f) {
    const auto format = static_cast<PixelFormat>(f);
    for (const HessianChannel channel :
         {HessianChannel::luma, HessianChannel::value, HessianChannel::red, HessianChannel::green,
          HessianChannel::blue}) {
      if (!hessian_reads(format, channel) || traits(format).model == ColorModel::real) continue;
      HessianParams params;
      params.channel = channel;
      for (const Content content : {Content::noise, Content::natural}) {
        expect_same_as_cpu(params, {format, 301, 70}, content);
        expect_same_as_cpu(params, {format, 300, 37}, content, {{0, 0, true}, {0, 0, true}});
      }
    }
  }
}

TEST_F(CudaHessian, EveryScaleAndDerivative) {
  for (const HessianDerivative derivative :
       {HessianDerivative::gaussian, HessianDerivative::gradient,
        HessianDerivative::sobel_laplacian}) {
    for (const double sigma : {0.5, 0.7, 1.0, 1.3, 2.0, 2.3, 3.0, 4.0, 5.5, 8.0, 11.0, 15.0}) {
      expect_same_as_cpu(scale(sigma, derivative), {PixelFormat::bgr, 331, 75});
    }
  }
  // Every radius: blocks of steps in the kernels end anywhere.
  for (int radius = 1; radius <= kMaxGaussianRadius; ++radius) {
    HessianParams params;
    params.sigma = std::clamp(radius / 4.0, kMinSigma, kMaxSigma);
    params.truncate = radius / params.sigma;
    if (params.truncate < kMinTruncate) continue;
    expect_same_as_cpu(params, {PixelFormat::gray8, 210, 50});
  }
}

TEST_F(CudaHessian, EveryContent) {
  for (const Content content : test::all_contents()) {
    expect_same_as_cpu({}, {PixelFormat::bgr, 640, 133}, content);
    expect_same_as_cpu(scale(1, HessianDerivative::gradient), {PixelFormat::gray8, 640, 133},
                       content);
  }
}

TEST_F(CudaHessian, EverySizeAndStride) {
  const std::vector<std::pair<int, int>> sizes{{1, 1},    {1, 9},    {9, 1},   {2, 2},    {3, 5},
                                               {4, 8},    {5, 130},  {16, 16}, {17, 33},  {127, 9},
                                               {128, 16}, {129, 17}, {513, 3}, {1030, 70}};
  for (const auto& [width, height] : sizes) {
    for (const PixelFormat format :
         {PixelFormat::gray8, PixelFormat::bgr, PixelFormat::xrgb, PixelFormat::nv12}) {
      for (const DeviceLayout& layout :
           {DeviceLayout{}, DeviceLayout{0, 16, true}, DeviceLayout{0, 0, true, true},
            DeviceLayout{1, 0}, DeviceLayout{3, 29}, DeviceLayout{4, 4},
            DeviceLayout{48, 5, false, true}}) {
        expect_same_as_cpu({}, {format, width, height}, Content::noise, {layout, layout});
        expect_same_as_cpu(scale(3), {format, width, height}, Content::noise, {layout, {}});
      }
    }
  }
}

/// Frames of floats, any of which may be large, small or negative.
TEST_F(CudaHessian, FloatFrames) {
  const ImageDesc desc{PixelFormat::grayf32, 203, 61};
  Image in(desc);
  std::mt19937 random(3);
  std::uniform_real_distribution<float> levels(-400.0f, 900.0f);
  for (int y = 0; y < desc.height; ++y) {
    for (int x = 0; x < desc.width; ++x) {
      const float level = levels(random);
      std::memcpy(in.view().row(0, y) + 4 * x, &level, 4);
    }
  }
  for (const double sigma : {0.5, 2.0, 6.0}) {
    for (const DeviceLayout& layout : {DeviceLayout{}, DeviceLayout{2, 3}, DeviceLayout{4, 8}}) {
      const auto cpu = make_cpu_filter(scale(sigma), {1});
      const auto cuda = make_cuda_filter(scale(sigma));
      Image expected(cpu->configure(desc));
      ASSERT_EQ(cuda->configure(desc), expected.view().desc);
      FrameContext context;
      cpu->submit(in.view(), expected.view(), context);
      test::DeviceImage device_in(desc, layout);
      test::DeviceImage device_out(expected.view().desc, layout);
      device_in.upload(in.view());
      cuda->submit(device_in.view(), device_out.view(), context);
      EXPECT_EQ(test::count_differences(expected.view(), device_out.download().view()), 0U);
    }
  }
}

/// Blocks with little shared memory have small tiles, and at last none for levels.
TEST_F(CudaHessian, DevicesWithLittleSharedMemory) {
  const ImageDesc desc{PixelFormat::bgr, 331, 75};
  Image in(desc);
  test::fill(in.view(), Content::noise, 7);
  for (const double sigma : {2.0, 6.0, 15.0}) {
    const auto cpu = make_cpu_filter(scale(sigma), {1});
    Image expected(cpu->configure(desc));
    FrameContext context;
    cpu->submit(in.view(), expected.view(), context);
    for (const std::size_t most : {16384U, 30000U, 49152U, 66000U, 102400U}) {
      test::DeviceImage device_in(desc);
      test::DeviceImage device_out(expected.view().desc);
      device_in.upload(in.view());
      const cuda::HessianKernel kernel(
          hessian_weights(HessianDerivative::gaussian, sigma, HessianParams{}.truncate), desc.width,
          desc.height, most);
      const ImageView out = device_out.view();
      kernel.enqueue(cuda::LevelSource::of(device_in.view(), HessianChannel::luma),
                     {out.data[0], out.data[1], out.stride[0], out.stride[1]}, nullptr);
      EXPECT_EQ(test::count_differences(expected.view(), device_out.download().view()), 0U)
          << sigma << " " << most;
    }
  }
}

TEST_F(CudaHessian, LargeFrames) {
  expect_same_as_cpu({}, {PixelFormat::bgr, 3540, 2336}, Content::natural);
  expect_same_as_cpu(scale(15), {PixelFormat::bgr, 2240, 1488}, Content::natural);
  expect_same_as_cpu({}, {PixelFormat::nv12, 3840, 2160}, Content::noise);
}

TEST_F(CudaHessian, RandomFrames) {
  const int count = test::wants_every_count() ? 2000 : 200;
  std::mt19937 random(20261122);
  const auto pick = [&random](int most) {
    return static_cast<int>(random() % static_cast<unsigned>(most));
  };
  for (int i = 0; i < count; ++i) {
    const auto format = static_cast<PixelFormat>(pick(kPixelFormatCount));
    if (!hessian_reads(format, HessianChannel::luma) || traits(format).model == ColorModel::real) {
      continue;
    }
    HessianParams params;
    params.derivative = static_cast<HessianDerivative>(pick(3));
    if (params.derivative != HessianDerivative::sobel_laplacian) {
      params.sigma = 0.5 + 0.1 * pick(40);
      params.truncate = 1 + 0.5 * pick(8);
    }
    DeviceLayout layout;
    layout.aligned_rows = pick(2) == 0;
    layout.offset = layout.aligned_rows ? 0 : pick(64);
    layout.padding = pick(40);
    layout.negative = pick(4) == 0;
    const Content content = test::all_contents()[static_cast<std::size_t>(pick(8))];
    expect_same_as_cpu(params, {format, 1 + pick(900), 1 + pick(120)}, content, {layout, layout});
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace equalux
