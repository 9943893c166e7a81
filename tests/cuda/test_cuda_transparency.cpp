// Transparency beside pictures that a GPU filters, on an invented device.
#include <memory>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/core/frame_pool.h"
#include "pipelines/cuda/cuda_processor.h"
#include "tests/cuda/fake_cuda.h"
#include "tests/support/media/test_images.h"
#include "tests/support/media/transparent_source.h"

namespace equalux::test {
namespace {

TEST(CudaTransparency, StaysOnTheHostBesideItsFrame) {
  fake_cuda::reset();
  for (const PixelFormat format : {PixelFormat::i420, PixelFormat::y444_10le}) {
    const ImageDesc desc{format, 67, 35};
    std::vector<std::unique_ptr<Filter>> filters;
    filters.push_back(make_cuda_filter(EqualizeParams{}, CudaOptions{0}));
    const auto processor = make_cuda_processor(std::move(filters), choose_cuda_device(0), 3);
    FramePool inputs(desc, 4, true);
    FramePool outputs(processor->configure(desc), 4);
    outputs.add_alpha();
    TransparentSource source(desc, 5);
    int number = 0;
    const auto expect_next = [&] {
      const FramePtr result = processor->collect(true);
      ASSERT_TRUE(result && result->has_alpha_plane());
      EXPECT_EQ(tight_copy(result->alpha), TransparentSource::alpha_of(desc, number++));
    };
    for (int i = 0; i < 5; ++i) {
      FramePtr frame = inputs.acquire();
      ASSERT_TRUE(source.read(*frame));
      processor->submit(std::move(frame), outputs.acquire(), false, false);
      if (i >= 2) expect_next();
    }
    expect_next();
    expect_next();
    EXPECT_FALSE(outputs.acquire()->has_alpha_plane()) << "a frame that is used again";
  }
  fake_cuda::reset();
}

}  // namespace
}  // namespace equalux::test
