// Which frames of more than 8 bits a GPU reads and writes in strips. No device is asked.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <equalux/image.h>
#include <gtest/gtest.h>

#include "cuda/equalize/deep/deep_stages.h"
#include "src/equalize/deep_curve.h"
#include "tests/equalize/deep/deep_reference.h"

namespace equalux {
namespace {

/// A frame whose planes begin `offset` bytes past a multiple of 256, as do those it is written to.
cuda::DeepFrame frame_at(PixelFormat format, int width, std::size_t offset) {
  const ImageDesc desc{format, width, 8};
  static std::vector<std::uint8_t> memory(1 << 20);
  const auto first = reinterpret_cast<std::uintptr_t>(memory.data());
  std::uint8_t* const at = memory.data() + (256 - first % 256) + offset;
  const ImageView view = image_layout(desc).view(desc, at);
  cuda::DeepFrame frame = cuda::deep_frame_of(desc, deep_samples(desc));
  cuda::set_planes(frame, view, view);
  return frame;
}

TEST(CudaDeepStrips, AlignedRows) {
  for (const PixelFormat format : test::deep_formats()) {
    SCOPED_TRACE(to_string(format));
    const cuda::DeepFrame frame = frame_at(format, 1920, 0);
    EXPECT_TRUE(cuda::lies_in_strips(frame));
    EXPECT_EQ(cuda::is_yuv(frame), traits(format).model == ColorModel::yuv);
  }
}

TEST(CudaDeepStrips, NoneWherePlanesOrRowsBeginElsewhere) {
  for (const PixelFormat format : test::deep_formats()) {
    SCOPED_TRACE(to_string(format));
    EXPECT_FALSE(cuda::lies_in_strips(frame_at(format, 1920, 2)));
    cuda::DeepFrame frame = frame_at(format, 1920, 0);
    frame.planes[0].in_stride += 8;
    EXPECT_FALSE(cuda::lies_in_strips(frame));
    frame = frame_at(format, 1920, 0);
    frame.planes[0].out_stride += 8;
    EXPECT_FALSE(cuda::lies_in_strips(frame));
  }
}

TEST(CudaDeepStrips, NoneThatAreDithered) {
  cuda::DeepFrame frame = frame_at(PixelFormat::p012_le, 1920, 0);
  const cuda::DeepFrame bytes = frame_at(PixelFormat::p012_le, 3840, 0);
  frame.rounding.active = true;
  frame.rounding.bits = 4;
  frame.rounding.out[0] = {bytes.planes[0].out, 1920, 1920, 8, 1};
  frame.rounding.out[1] = {bytes.planes[1].out, 1920, 960, 4, 2};
  frame.rounding.out[2] = {bytes.planes[1].out + 1, 1920, 960, 4, 2};
  EXPECT_TRUE(cuda::lies_in_strips(frame));
  frame.rounding.dither = Dither::ordered;
  EXPECT_FALSE(cuda::lies_in_strips(frame));
  frame.rounding.dither = Dither::none;
  frame.rounding.out[0].stride = 1924;
  EXPECT_FALSE(cuda::lies_in_strips(frame));
}

}  // namespace
}  // namespace equalux
