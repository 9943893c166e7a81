// Frames that a host hands over one by one, on streams of its own, on an invented device.
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include <cuda_runtime_api.h>
#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda/runtime/handles.h"
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

/// Filters as many frames, each on a stream of its own, which is gone before the next one comes.
void filter_frames(int count) {
  const ImageDesc desc{PixelFormat::bgr, 64, 48};
  HostFilter filter({{"denoise", {}}, {"equalize", {{"temporal-ms", "300"}}}},
                    {.backend = Backend::cuda});
  filter.configure(desc);
  const DeviceFrame in(desc);
  const DeviceFrame out(desc);
  for (int i = 0; i < count; ++i) {
    const cuda::Stream stream = cuda::make_stream();
    FrameContext context = filter.next();
    context.stream = stream.get();
    filter.submit(in.view(), out.view(), context);
    EXPECT_FALSE(filter.save().empty());
  }
  filter.reset();
}

TEST(CudaHostFilter, AStreamMayBeGoneBeforeTheNextFrame) {
  fake_cuda::reset();
  filter_frames(4);
  EXPECT_THAT(fake_cuda::misuses(), ::testing::IsEmpty());
  EXPECT_EQ(fake_cuda::held(), fake_cuda::Held{});
  fake_cuda::reset();
}

/// A filter that could not be configured has nothing left of the frames before, whose memory is
/// freed by then.
TEST(CudaHostFilter, TakesNoFrameAfterItCouldNotBeConfigured) {
  const ImageDesc before{PixelFormat::bgr, 64, 48};
  const ImageDesc after{PixelFormat::bgr, 64, 40};
  for (const char* name : {"denoise", "equalize", "clahe"}) {
    int failed = 0;
    for (std::uint64_t at = 1;; ++at) {
      fake_cuda::reset({fake_cuda::Call::allocation, at, cudaErrorMemoryAllocation, false});
      {
        std::unique_ptr<Filter> filter;
        bool configured = false;
        try {
          filter = make_cuda_filter(FilterSpec{name, {}}, {}, {.device = 0});
          filter->configure(before);
          configured = true;
          filter->configure(after);
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ExitCode::unavailable) << name;
        }
        if (fake_cuda::struck().empty()) break;
        if (configured) {
          ++failed;
          FrameContext context;
          const DeviceFrame in(before);
          const DeviceFrame out(before);
          for (const ImageDesc& desc : {before, after}) {
            ImageView from = in.view();
            ImageView to = out.view();
            from.desc = to.desc = desc;
            EXPECT_THROW(filter->submit(from, to, context), Error) << name << " " << at;
          }
        }
      }
      EXPECT_THAT(fake_cuda::misuses(), ::testing::IsEmpty()) << name << " " << at;
    }
    EXPECT_GT(failed, 0) << name;
  }
  fake_cuda::reset();
}

/// The calls about events that frames make: those in which such a call can fail.
std::set<std::string> event_calls(int frames) {
  std::set<std::string> names;
  for (std::uint64_t at = 1;; ++at) {
    fake_cuda::reset({fake_cuda::Call::event, at, cudaErrorUnknown, false});
    try {
      filter_frames(frames);
    } catch (const Error&) {
    }
    const std::string name = fake_cuda::struck();
    fake_cuda::reset();
    if (name.empty()) return names;
    names.insert(name);
  }
}

TEST(CudaHostFilter, AFrameWaitsForTheOneBeforeOnAnotherStream) {
  using ::testing::Contains;
  using ::testing::Not;
  EXPECT_THAT(event_calls(1), Not(Contains("cudaStreamWaitEvent")));
  EXPECT_THAT(event_calls(2), Contains("cudaStreamWaitEvent"));
}

}  // namespace
}  // namespace equalux::test
