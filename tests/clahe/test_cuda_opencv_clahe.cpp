// clahe:compatible=opencv on a GPU: the same bytes as on the CPU.
#include <string>

#include <equalux/clahe.h>
#include <gtest/gtest.h>

#include "tests/support/device/device_filter.h"

namespace equalux {
namespace {

using test::Content;
using CudaOpencvClahe = test::DeviceTest;

void expect_same(const ImageDesc& desc, double clip_limit, int x, int y, Content content,
                 const test::FilterLayout& layout = {}) {
  SCOPED_TRACE("tiles " + std::to_string(x) + "," + std::to_string(y) + " clip " +
               std::to_string(clip_limit));
  ClaheParams params;
  params.tiles_x = x;
  params.tiles_y = y;
  params.curve.clip_limit = clip_limit;
  params.curve.compatible = Compatible::opencv;
  const auto cpu = make_cpu_filter(params, {1});
  const auto cuda = make_cuda_filter(params);
  test::expect_same_frames(*cpu, *cuda, desc, content, layout, 3);
}

TEST_F(CudaOpencvClahe, EveryContentLimitAndLayout) {
  const std::vector<test::FilterLayout> layouts{
      {{0, 0, true}, {0, 0, true}}, {{1, 3}, {7, 5}}, {{16, 0, true, true}, {32, 0, true, true}}};
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::gray16_le}) {
    for (const Content content : test::all_contents()) {
      for (const double limit : {0.0, 0.5, 2.0, 40.0, 1e300}) {
        for (const test::FilterLayout& layout : layouts)
          expect_same({format, 203, 151}, limit, 4, 3, content, layout);
      }
    }
  }
}

TEST_F(CudaOpencvClahe, EverySizeAndTileCount) {
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::gray16_le}) {
    for (const auto& [width, height] : {std::pair{1, 1}, {1, 40}, {40, 1}, {16, 17}, {640, 480}}) {
      for (const auto& [x, y] : {std::pair{1, 1}, {8, 8}, {17, 5}, {1, 33}})
        expect_same({format, width, height}, 2, x, y, Content::natural);
    }
  }
  expect_same({PixelFormat::gray8, 301, 260}, 2, 256, 256, Content::natural);
  expect_same({PixelFormat::gray8, 3840, 2160}, 3, 8, 8, Content::natural);
  expect_same({PixelFormat::gray8, 67, 65535}, 3, 2, 8, Content::noise);
}

TEST_F(CudaOpencvClahe, WorksInPlaceAndTakesAnotherLimit) {
  ClaheParams params;
  params.curve.compatible = Compatible::opencv;
  const ImageDesc desc{PixelFormat::gray16_le, 323, 94};
  const auto cpu = make_cpu_filter(params, {1});
  const auto cuda = make_cuda_filter(params);
  cpu->configure(desc);
  cuda->configure(desc);
  Image image(desc);
  test::fill(image.view(), Content::natural, 11);
  test::DeviceImage device(desc);
  device.upload(image.view());
  FrameContext context;
  for (const char* limit : {"2", "9", "0"}) {
    ASSERT_TRUE(cpu->update({{"clip-limit", limit}}));
    ASSERT_TRUE(cuda->update({{"clip-limit", limit}}));
    cpu->submit(image.view(), image.view(), context);
    cuda->submit(device.view(), device.view(), context);
    EXPECT_EQ(test::count_differences(image.view(), device.download().view()), 0U) << limit;
  }
}

}  // namespace
}  // namespace equalux
