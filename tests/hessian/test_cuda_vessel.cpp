#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <equalux/hessian.h>
#include <gtest/gtest.h>

#include "cuda/runtime/check.h"
#include "src/hessian/hessian_weights.h"
#include "tests/hessian/vessel_trees.h"
#include "tests/support/device/device_filter.h"
#include "tests/support/device/device_test.h"

/// `vessel` and `shapes` on a GPU: the bytes of the CPU backend.
namespace equalux {
namespace {

using test::Content;
using test::DeviceLayout;
using test::FilterLayout;

/// Formats that the family reads and that are 8-bit.
std::vector<PixelFormat> formats_of(HessianChannel channel) {
  std::vector<PixelFormat> formats;
  for (int f = 0; f < kPixelFormatCount; ++f) {
    const auto format = static_cast<PixelFormat>(f);
    if (hessian_reads(format, channel) && traits(format).model != ColorModel::real)
      formats.push_back(format);
  }
  return formats;
}

class CudaVessel : public test::DeviceTest {
 protected:
  template <typename Params>
  static void expect_same_as_cpu(const Params& params, const ImageDesc& desc,
                                 Content content = Content::noise, const FilterLayout& layout = {},
                                 FieldOrder order = FieldOrder::progressive) {
    const auto cpu = make_cpu_filter(params, {1});
    const auto cuda = make_cuda_filter(params);
    test::expect_same_frames(*cpu, *cuda, desc, content, layout, 2, order);
  }

  /// Expects the bytes of the CPU from the GPU, for one picture.
  template <typename Params>
  static void expect_same_picture(const Params& params, const ConstImageView& in) {
    const auto cpu = make_cpu_filter(params, {1});
    const auto cuda = make_cuda_filter(params);
    Image expected(cpu->configure(in.desc));
    ASSERT_EQ(cuda->configure(in.desc), expected.view().desc);
    FrameContext context;
    cpu->submit(in, expected.view(), context);
    test::DeviceImage device_in(in.desc);
    test::DeviceImage device_out(expected.view().desc);
    device_in.upload(in);
    cuda->submit(device_in.view(), device_out.view(), context);
    EXPECT_EQ(test::count_differences(expected.view(), device_out.download().view()), 0U);
  }
};

TEST_F(CudaVessel, EveryFormatAndOutput) {
  for (const PixelFormat format : formats_of(HessianChannel::luma)) {
    for (const VesselOutput output :
         {VesselOutput::mask, VesselOutput::overlay, VesselOutput::heat}) {
      VesselParams params;
      params.output = output;
      for (const FieldOrder order : {FieldOrder::progressive, FieldOrder::top_first}) {
        expect_same_as_cpu(params, {format, 301, 75}, Content::noise, {}, order);
        expect_same_as_cpu(params, {format, 256, 62}, Content::natural,
                           {{0, 0, true}, {0, 0, true}}, order);
      }
    }
    for (const ShapesOutput output : {ShapesOutput::overlay, ShapesOutput::classes}) {
      ShapesParams params;
      params.output = output;
      expect_same_as_cpu(params, {format, 301, 75});
      expect_same_as_cpu(params, {format, 256, 62}, Content::natural);
    }
  }
}

TEST_F(CudaVessel, EveryParameter) {
  for (const HessianDerivative derivative :
       {HessianDerivative::gaussian, HessianDerivative::gradient}) {
    for (const Polarity polarity : {Polarity::dark, Polarity::bright}) {
      for (const VesselMeasure measure : {VesselMeasure::ridge, VesselMeasure::frangi}) {
        for (const std::vector<double>& sigmas :
             {std::vector<double>{1}, std::vector<double>{2, 3, 4},
              std::vector<double>{1, 1.5, 2, 2.5, 3, 4, 5, 6}, std::vector<double>{15}}) {
          VesselParams params;
          params.derivative = derivative;
          params.polarity = polarity;
          params.measure = measure;
          params.sigmas = sigmas;
          params.min_size = 3;
          expect_same_as_cpu(params, {PixelFormat::bgr, 230, 91}, Content::natural);
          params.output = VesselOutput::heat;
          params.channel = HessianChannel::green;
          expect_same_as_cpu(params, {PixelFormat::bgr, 230, 91});
        }
      }
    }
  }
  for (const double sigma : {1.0, 2.0, 5.0, 15.0}) {
    for (const HessianDerivative derivative :
         {HessianDerivative::gaussian, HessianDerivative::gradient,
          HessianDerivative::sobel_laplacian}) {
      ShapesParams params;
      if (derivative != HessianDerivative::sobel_laplacian) params.sigma = sigma;
      params.derivative = derivative;
      params.threshold = 2;
      params.channel = HessianChannel::value;
      expect_same_as_cpu(params, {PixelFormat::rgbx, 230, 91});
    }
  }
}

/// Noise under low thresholds has components and holes of every shape.
TEST_F(CudaVessel, ComponentsOfEverySize) {
  const std::vector<std::pair<int, int>> sizes{{1, 1},   {1, 40},  {40, 1},  {2, 2},
                                               {31, 33}, {32, 32}, {33, 31}, {64, 65},
                                               {65, 8},  {97, 9},  {513, 3}, {700, 605}};
  for (const auto& [width, height] : sizes) {
    for (const int min_size : {0, 1, 2, 5, 20, 100000}) {
      VesselParams params;
      params.sigmas = {1, 2};
      params.low = 0.01;
      params.high = 0.05;
      params.min_size = min_size;
      for (const Content content : {Content::noise, Content::natural})
        expect_same_as_cpu(params, {PixelFormat::gray8, width, height}, content);
    }
  }
}

TEST_F(CudaVessel, Trees) {
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    const bool bright = seed % 2 == 0;
    const test::VesselTree tree = test::vessel_tree(700, 605, seed, bright);
    VesselParams params;
    params.polarity = bright ? Polarity::bright : Polarity::dark;
    expect_same_picture(params, tree.image.view());
    params.measure = VesselMeasure::frangi;
    expect_same_picture(params, tree.image.view());
  }
}

/// A picture in a disc of `radius` widths, noise up to `dark` around it, and islands in that.
Image round_photograph(PixelFormat format, double radius, int dark) {
  constexpr int kWidth = 333;
  constexpr int kHeight = 281;
  std::mt19937 random(7);
  Image in({format, kWidth, kHeight});
  test::fill(in.view(), Content::natural, 3);
  const int step = traits(format).step[0];
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const double dx = x - 160.0;
      const double dy = y - 140.0;
      const bool outside = dx * dx + dy * dy > radius * radius * kWidth * kWidth;
      const bool island = (x / 9 + y / 7) % 11 == 0 && x > 9 && y > 9;
      if (!outside || island) continue;
      for (int b = 0; b < step; ++b) {
        in.view().row(0, y)[x * step + b] =
            static_cast<std::uint8_t>(random() % static_cast<unsigned>(dark + 1));
      }
    }
  }
  return in;
}

VesselParams params_for_photographs(VesselOutput output) {
  VesselParams params;
  params.low = 0.02;
  params.high = 0.1;
  params.min_size = 10;
  params.output = output;
  return params;
}

/// The vignette touches two, three or all corners.
TEST_F(CudaVessel, FieldOfViewOfRoundPhotographs) {
  for (const PixelFormat format :
       {PixelFormat::gray8, PixelFormat::bgr, PixelFormat::xrgb, PixelFormat::nv12}) {
    for (const double radius : {0.3, 0.48, 0.55, 0.68}) {
      for (const int dark : {0, 9, 30}) {
        const Image in = round_photograph(format, radius, dark);
        expect_same_picture(params_for_photographs(VesselOutput::mask), in.view());
        expect_same_picture(params_for_photographs(VesselOutput::heat), in.view());
      }
    }
  }
}

/// For tools under which all of them take minutes.
TEST_F(CudaVessel, OneRoundPhotograph) {
  const Image in = round_photograph(PixelFormat::bgr, 0.48, 9);
  expect_same_picture(params_for_photographs(VesselOutput::mask), in.view());
}

TEST_F(CudaVessel, EverySizeAndStride) {
  for (const auto& [width, height] : std::vector<std::pair<int, int>>{
           {1, 1}, {3, 5}, {5, 130}, {127, 9}, {128, 32}, {129, 33}, {513, 3}}) {
    for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::bgr, PixelFormat::i420}) {
      for (const DeviceLayout& layout :
           {DeviceLayout{1, 0}, DeviceLayout{3, 29}, DeviceLayout{0, 0, true, true},
            DeviceLayout{48, 5, false, true}}) {
        VesselParams params;
        params.output = VesselOutput::overlay;
        expect_same_as_cpu(params, {format, width, height}, Content::noise, {layout, layout});
        expect_same_as_cpu(ShapesParams{}, {format, width, height}, Content::noise,
                           {layout, layout});
      }
    }
  }
}

/// One memory for input and result, as chains have it where a filter allows that.
TEST_F(CudaVessel, OverlaysInPlace) {
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::nv12, PixelFormat::i420}) {
    VesselParams params;
    params.output = VesselOutput::overlay;
    params.low = 0.02;
    const auto cpu = make_cpu_filter(params, {1});
    const auto cuda = make_cuda_filter(params);
    if (!cuda->works_in_place()) continue;
    const ImageDesc desc{format, 320, 200};
    Image in(desc);
    Image expected(cpu->configure(desc));
    cuda->configure(desc);
    test::fill(in.view(), Content::natural, 9);
    FrameContext context;
    cpu->submit(in.view(), expected.view(), context);
    test::DeviceImage frame(desc);
    frame.upload(in.view());
    cuda->submit(frame.view(), frame.view(), context);
    EXPECT_EQ(test::count_differences(expected.view(), frame.download().view()), 0U);
  }
}

TEST_F(CudaVessel, LargeFrames) {
  VesselParams params;
  params.output = VesselOutput::overlay;
  expect_same_as_cpu(params, {PixelFormat::bgr, 3540, 2336}, Content::natural);
  expect_same_as_cpu(ShapesParams{}, {PixelFormat::nv12, 3840, 2160}, Content::noise);
}

}  // namespace
}  // namespace equalux
