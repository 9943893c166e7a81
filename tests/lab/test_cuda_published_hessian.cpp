#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <equalux/device.h>
#include <equalux/error.h>
#include <equalux/hessian.h>
#include <gtest/gtest.h>

#include "cuda/lab/published_hessian.h"
#include "src/common/float_difference.h"
#include "src/hessian/hessian_weights.h"
#include "tests/support/device/device_filter.h"

/// The report's strategies: the bits of the CPU's filter, all of them.
namespace equalux {
namespace {

using gpu_lab::HessianStrategy;
using test::Content;
using test::DeviceLayout;
using test::FilterLayout;

constexpr int kFrames = 3;  // of different content: planes hold the frame before

HessianParams scale(double sigma, HessianDerivative derivative = HessianDerivative::gaussian) {
  HessianParams params;
  if (derivative != HessianDerivative::sobel_laplacian) params.sigma = sigma;
  params.derivative = derivative;
  return params;
}

std::string name_of(HessianStrategy strategy) {
  std::string name(gpu_lab::kHessianStrategies.at(static_cast<std::size_t>(strategy)).second);
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

class CudaPublishedHessian : public testing::TestWithParam<HessianStrategy> {
 protected:
  void SetUp() override {
    if (!test::has_cuda_device()) GTEST_SKIP() << "no CUDA device";
    device_ = choose_cuda_device(-1).number;
  }

  void expect_same_as_cpu(const HessianParams& params, const ImageDesc& desc,
                          Content content = Content::noise, const FilterLayout& layout = {}) const {
    SCOPED_TRACE(std::string(enum_name(params.derivative)) + " sigma " +
                 std::to_string(params.sigma) + " " + std::string(enum_name(params.channel)));
    const auto cpu = make_cpu_filter(params, {1});
    const auto cuda = cuda::make_published_hessian(params, GetParam(), device_);
    test::expect_same_frames(*cpu, *cuda, desc, content, layout, kFrames);
  }

  int device_ = 0;
};

TEST_P(CudaPublishedHessian, EverySizeAndStride) {
  // A sub-image is 64 x 64.
  const std::vector<std::pair<int, int>> sizes{{1, 1},   {1, 9},   {9, 1},    {63, 65},
                                               {64, 64}, {65, 63}, {301, 70}, {1030, 70}};
  for (const auto& [width, height] : sizes) {
    for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::bgr}) {
      for (const DeviceLayout& layout :
           {DeviceLayout{}, DeviceLayout{4, 12}, DeviceLayout{0, 0, true, true}}) {
        expect_same_as_cpu({}, {format, width, height}, Content::noise, {layout, layout});
      }
      expect_same_as_cpu({}, {format, width, height}, Content::natural, {{3, 5}, {}});
    }
  }
}

TEST_P(CudaPublishedHessian, EveryScaleAndDerivative) {
  for (const HessianDerivative derivative :
       {HessianDerivative::gaussian, HessianDerivative::gradient,
        HessianDerivative::sobel_laplacian}) {
    for (const double sigma : {0.5, 1.0, 1.7, 3.0, 4.0, 6.0}) {
      expect_same_as_cpu(scale(sigma, derivative), {PixelFormat::bgr, 131, 75});
    }
  }
  // The longest kernels, longer than the frame.
  expect_same_as_cpu(scale(16), {PixelFormat::gray8, 40, 30});
  expect_same_as_cpu(scale(16, HessianDerivative::gradient), {PixelFormat::gray8, 40, 30});
}

TEST_P(CudaPublishedHessian, EveryFormatAndChannel) {
  for (int f = 0; f < kPixelFormatCount; ++f) {
    const auto format = static_cast<PixelFormat>(f);
    for (const HessianChannel channel :
         {HessianChannel::luma, HessianChannel::value, HessianChannel::green}) {
      if (!hessian_reads(format, channel) || traits(format).model == ColorModel::real) continue;
      HessianParams params;
      params.channel = channel;
      expect_same_as_cpu(params, {format, 97, 66});
    }
  }
}

TEST_P(CudaPublishedHessian, EveryContent) {
  for (const Content content : test::all_contents()) {
    expect_same_as_cpu(scale(1), {PixelFormat::gray8, 200, 133}, content);
  }
}

/// Frames of floats, any of which may be large, small or negative.
TEST_P(CudaPublishedHessian, FloatFrames) {
  const ImageDesc desc{PixelFormat::grayf32, 203, 61};
  const auto cpu = make_cpu_filter(scale(2), {1});
  const auto cuda = cuda::make_published_hessian(scale(2), GetParam(), device_);
  Image expected(cpu->configure(desc));
  ASSERT_EQ(cuda->configure(desc), expected.view().desc);
  test::DeviceImage device_in(desc);
  test::DeviceImage device_out(expected.view().desc);
  std::mt19937 random(5);
  std::uniform_real_distribution<float> levels(-400.0f, 900.0f);
  Image in(desc);
  for (int i = 0; i < kFrames; ++i) {
    for (int y = 0; y < desc.height; ++y) {
      for (int x = 0; x < desc.width; ++x) {
        const float level = levels(random);
        std::memcpy(in.view().row(0, y) + 4 * x, &level, 4);
      }
    }
    FrameContext context;
    cpu->submit(in.view(), expected.view(), context);
    device_in.upload(in.view());
    device_out.poison();
    cuda->submit(device_in.view(), device_out.view(), context);
    EXPECT_EQ(test::count_differences(expected.view(), device_out.download().view()), 0U);
  }
}

TEST_P(CudaPublishedHessian, ConfiguredAgain) {
  const auto cpu = make_cpu_filter(HessianParams{}, {1});
  const auto cuda = cuda::make_published_hessian({}, GetParam(), device_);
  for (const auto& [width, height] : {std::pair{130, 70}, std::pair{20, 190}, std::pair{300, 90}}) {
    test::expect_same_frames(*cpu, *cuda, {PixelFormat::gray8, width, height}, Content::natural, {},
                             kFrames);
  }
}

TEST_P(CudaPublishedHessian, MarksItsThreeSteps) {
  struct Marks final : StageMarks {
    std::vector<std::string> names;
    void mark(std::string_view step, void*) override { names.emplace_back(step); }
  } marks;
  const auto cuda = cuda::make_published_hessian({}, GetParam(), device_);
  const ImageDesc desc{PixelFormat::gray8, 70, 66};
  test::DeviceImage out(cuda->configure(desc));
  test::DeviceImage in(desc);
  FrameContext context;
  context.marks = &marks;
  cuda->submit(in.view(), out.view(), context);
  static_cast<void>(out.download());
  EXPECT_EQ(marks.names, (std::vector<std::string>{"smoothing", "derivatives", "eigenvalues"}));
}

TEST_P(CudaPublishedHessian, LargeFrames) {
  expect_same_as_cpu({}, {PixelFormat::gray8, 2240, 1488}, Content::natural);
}

INSTANTIATE_TEST_SUITE_P(Report, CudaPublishedHessian,
                         testing::Values(HessianStrategy::per_value_global,
                                         HessianStrategy::per_pixel_global, HessianStrategy::shared,
                                         HessianStrategy::shared_one_warp),
                         [](const auto& each) { return name_of(each.param); });

TEST(CudaHessianSubImages, FillTheSharedMemory) {
  // Equation 9 of 48 KB, equation 11 of a full block and of a warp.
  EXPECT_EQ(cuda::SubImages::of(49152, 256).side, 64);
  EXPECT_EQ(cuda::SubImages::of(49152, 256).pixels, 16);
  EXPECT_EQ(cuda::SubImages::of(49152, 32).pixels, 128);
  EXPECT_EQ(cuda::SubImages::of(49151, 32).side, 63);
  for (const int bytes : {12 * 9, 16384, 49151, 49152, 98304, 232448}) {
    for (const int threads : {32, 256}) {
      const cuda::SubImages cut = cuda::SubImages::of(bytes, threads);
      EXPECT_LE(cut.shared_bytes(), static_cast<std::size_t>(bytes));
      EXPECT_GT(12 * (cut.side + 1) * (cut.side + 1), bytes);
      EXPECT_GE(cut.pixels * threads, cut.side * cut.side);
    }
  }
}

/// cuSOLVER's method is an iteration: its values are near, not the same.
TEST(CudaHessianSolver, IsNear) {
  if (!test::has_cuda_device()) GTEST_SKIP() << "no CUDA device";
  const int device = choose_cuda_device(-1).number;
  const auto cpu = make_cpu_filter(HessianParams{}, {1});
  const auto cuda = cuda::make_published_hessian({}, HessianStrategy::cusolver_syevd, device);
  // The last one takes more than one call.
  for (const auto& [width, height] : {std::pair{1, 1}, std::pair{65, 63}, std::pair{301, 270}}) {
    const ImageDesc desc{PixelFormat::gray8, width, height};
    Image expected(cpu->configure(desc));
    try {
      ASSERT_EQ(cuda->configure(desc), expected.view().desc);
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    test::DeviceImage device_in(desc);
    test::DeviceImage device_out(expected.view().desc);
    Image in(desc);
    for (std::uint32_t i = 0; i < kFrames; ++i) {
      test::fill(in.view(), Content::noise, 7 + i);
      FrameContext context;
      cpu->submit(in.view(), expected.view(), context);
      device_in.upload(in.view());
      device_out.poison();
      cuda->submit(device_in.view(), device_out.view(), context);
      EXPECT_LT(worst_difference(expected.view(), device_out.download().view()), 0.01f)
          << width << "x" << height;
    }
  }
}

}  // namespace
}  // namespace equalux
