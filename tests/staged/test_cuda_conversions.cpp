// rgb_to_hsv and hsv_to_rgb on a GPU, bit for bit those of the CPU.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/staged/staged_stages.h"
#include "src/cpu/staged/staged_stages.h"
#include "tests/staged/device_array.h"
#include "tests/staged/stage_shapes.h"
#include "tests/support/device/device_image.h"
#include "tests/support/device/device_test.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using cuda::LaunchShape;
using test::all_shapes;
using test::bits_of;
using test::Content;
using test::DeviceArray;
using test::DeviceImage;
using test::DeviceLayout;
using test::kPixelsPerThread;
using test::text;
using test::with;

constexpr RgbToHsvVariant kRgbToHsvs[] = {RgbToHsvVariant::coalesced, RgbToHsvVariant::uncoalesced};

std::string text(const ImageDesc& desc, const DeviceLayout& layout) {
  return std::string(to_string(desc.format)) + " " + std::to_string(desc.width) + "x" +
         std::to_string(desc.height) + " offset " + std::to_string(layout.offset) + " padding " +
         std::to_string(layout.padding) + (layout.negative ? " bottom up" : "");
}

std::size_t pixels_of(const ImageDesc& desc) {
  return static_cast<std::size_t>(desc.width) * static_cast<std::size_t>(desc.height);
}

/// Layouts with and without groups of four pixels: tight, rows of 16 bytes, odd ones, bottom up.
const std::vector<DeviceLayout>& layouts() {
  static const std::vector<DeviceLayout> all{{},     {0, 0, true}, {0, 16, true, true}, {4, 0},
                                             {1, 0}, {3, 29},      {48, 5, false, true}};
  return all;
}

/// A frame in HSV, on the CPU and on the device.
struct HsvPair {
  explicit HsvPair(std::size_t pixels) : h(pixels), s(pixels), v(pixels) { cpu.resize(pixels); }
  void upload() {
    h.upload(cpu.h);
    s.upload(cpu.s);
    v.upload(cpu.v);
  }
  void poison() {
    h.poison();
    s.poison();
    v.poison();
  }
  [[nodiscard]] cuda::HsvPlanes planes() const { return {h.get(), s.get(), v.get()}; }

  HsvImage cpu;
  DeviceArray<float> h;
  DeviceArray<float> s;
  DeviceArray<float> v;
};

class CudaConversions : public test::DeviceTest {
 protected:
  /// Both conversions of one frame: its HSV image, and back with every V halved, also in place.
  void expect_conversions(const ImageDesc& desc, const DeviceLayout& layout, Content content,
                          const std::vector<LaunchShape>& shapes) {
    SCOPED_TRACE(text(desc, layout) + " " + test::name_of(content));
    Image in(desc);
    test::fill(in.view(), content, 5);
    HsvPair hsv(pixels_of(desc));
    rgb_to_hsv(in.view(), hsv.cpu, executor_);
    DeviceImage device_in(desc, layout);
    device_in.upload(in.view());
    for (const LaunchShape& shape : shapes) {
      for (const RgbToHsvVariant variant : kRgbToHsvs) {
        hsv.poison();
        cuda::rgb_to_hsv(variant, shape, device_in.view(), hsv.planes(), nullptr);
        ASSERT_EQ(bits_of(hsv.h.download()), bits_of(hsv.cpu.h)) << text(shape);
        ASSERT_EQ(bits_of(hsv.s.download()), bits_of(hsv.cpu.s)) << text(shape);
        ASSERT_EQ(bits_of(hsv.v.download()), bits_of(hsv.cpu.v)) << text(shape);
      }
    }
    for (float& value : hsv.cpu.v)
      value *= 0.5f;
    hsv.upload();
    Image expected(desc);
    hsv_to_rgb(hsv.cpu, in.view(), expected.view(), executor_);
    DeviceImage device_out(desc, layout);
    for (const LaunchShape& shape : shapes) {
      device_out.poison();
      cuda::hsv_to_rgb(shape, hsv.planes(), device_in.view(), device_out.view(), nullptr);
      const Image got = device_out.download();
      ASSERT_EQ(test::count_differences(expected.view(), got.view()), 0U) << text(shape);
    }
    cuda::hsv_to_rgb(shapes.front(), hsv.planes(), device_in.view(), device_in.view(), nullptr);
    const Image got = device_in.download();
    ASSERT_EQ(test::count_differences(expected.view(), got.view()), 0U) << "in place";
  }

  RowExecutor executor_{1};
};

TEST_F(CudaConversions, OfEveryFormatLayoutAndPixelsPerThread) {
  std::vector<LaunchShape> shapes;
  for (const int pixels : kPixelsPerThread) {
    shapes.push_back({dim3{24, 1, 1}, dim3{256, 1, 1}, pixels});
  }
  for (const PixelFormat format : test::rgb_formats()) {
    for (const DeviceLayout& layout : layouts()) {
      expect_conversions({format, 64, 9}, layout, Content::noise, shapes);
      expect_conversions({format, 61, 7}, layout, Content::natural, shapes);
    }
  }
}

TEST_F(CudaConversions, OfEveryShape) {
  std::vector<LaunchShape> shapes;
  for (const LaunchShape& shape : all_shapes()) {
    for (const int pixels : kPixelsPerThread)
      shapes.push_back(with(shape, pixels));
  }
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::bgr, PixelFormat::argb}) {
    expect_conversions({format, 101, 33}, {}, Content::natural, shapes);
    expect_conversions({format, 100, 33}, {1, 3, false, true}, Content::noise, shapes);
  }
}

TEST_F(CudaConversions, OfEverySizeAndContent) {
  std::vector<LaunchShape> shapes;
  for (const int pixels : kPixelsPerThread) {
    shapes.push_back({dim3{3, 1, 1}, dim3{33, 1, 1}, pixels});
  }
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::rgb, PixelFormat::bgra}) {
    for (int width = 1; width <= 9; ++width) {
      expect_conversions({format, width, 1}, {}, Content::noise, shapes);
      expect_conversions({format, 1, width}, {0, 0, true}, Content::noise, shapes);
      expect_conversions({format, width, 3}, {}, Content::noise, shapes);
    }
    for (const Content content : test::all_contents()) {
      expect_conversions({format, 64, 16}, {}, content, shapes);
    }
  }
}

/// Every pair of a largest and a smallest channel, in all orders of the channels.
TEST_F(CudaConversions, EveryHue) {
  const ImageDesc desc{PixelFormat::rgb, 1536, 256};
  Image in(desc);
  for (int y = 0; y < desc.height; ++y) {
    for (int x = 0; x < desc.width; ++x) {
      std::uint8_t* pixel = in.view().row(0, y) + 3 * x;
      const int channel = x / 256 % 3;
      const int least = x / 768 == 0 ? 0 : y / 2;
      pixel[channel] = static_cast<std::uint8_t>(y);
      pixel[(channel + 1) % 3] = static_cast<std::uint8_t>(x % 256);
      pixel[(channel + 2) % 3] = static_cast<std::uint8_t>(least);
    }
  }
  HsvPair hsv(pixels_of(desc));
  rgb_to_hsv(in.view(), hsv.cpu, executor_);
  DeviceImage device(desc);
  device.upload(in.view());
  const LaunchShape shape{dim3{64, 1, 1}, dim3{256, 1, 1}, 4};
  cuda::rgb_to_hsv(RgbToHsvVariant::coalesced, shape, device.view(), hsv.planes(), nullptr);
  ASSERT_EQ(bits_of(hsv.h.download()), bits_of(hsv.cpu.h));
  ASSERT_EQ(bits_of(hsv.s.download()), bits_of(hsv.cpu.s));
  ASSERT_EQ(bits_of(hsv.v.download()), bits_of(hsv.cpu.v));
  device.poison();
  cuda::hsv_to_rgb(shape, hsv.planes(), device.view(), device.view(), nullptr);
  const Image back = device.download();
  EXPECT_EQ(test::count_differences(in.view(), back.view()), 0U);
}

}  // namespace
}  // namespace equalux
