// Frames that a host hands over one by one, on streams of its own, on an invented device.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/host/host_filter.h"
#include "tests/cuda/fake_cuda.h"

namespace equalux::test {
namespace {

constexpr std::size_t kBytes = std::size_t{3} * 64 * 48;

/// Memory of an invented device for one frame.
class DeviceFrame {
 public:
  explicit DeviceFrame(const ImageDesc& desc) : view_{desc, {}, {}} {
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, kBytes), cudaSuccess);
    view_.data[0] = static_cast<std::uint8_t*>(memory);
    view_.stride[0] = 3 * desc.width;
  }
  ~DeviceFrame() { EXPECT_EQ(cudaFree(view_.data[0]), cudaSuccess); }
  DeviceFrame(const DeviceFrame&) = delete;
  DeviceFrame& operator=(const DeviceFrame&) = delete;
  [[nodiscard]] const ImageView& view() const { return view_; }

 private:
  ImageView view_;
};

TEST(CudaHostFilter, AStreamMayBeGoneBeforeTheNextFrame) {
  fake_cuda::reset();
  {
    const ImageDesc desc{PixelFormat::bgr, 64, 48};
    HostFilter filter({{"denoise", {}}, {"equalize", {{"temporal-ms", "300"}}}},
                      {.backend = Backend::cuda});
    filter.configure(desc);
    const DeviceFrame in(desc);
    const DeviceFrame out(desc);
    for (int i = 0; i < 4; ++i) {
      cudaStream_t stream = nullptr;
      ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
      FrameContext context = filter.next();
      context.stream = stream;
      filter.submit(in.view(), out.view(), context);
      ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
      EXPECT_FALSE(filter.save().empty());
    }
    filter.reset();
    EXPECT_THAT(fake_cuda::misuses(), ::testing::IsEmpty());
  }
  EXPECT_EQ(fake_cuda::held(), fake_cuda::Held{});
  fake_cuda::reset();
}

}  // namespace
}  // namespace equalux::test
