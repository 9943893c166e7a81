// Several chains of the production path on one device, which is none: launches that overlap the
// ones before them never meet another chain's.
#include <optional>

#include <cuda_runtime_api.h>
#include <equalux/convolve.h>
#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cuda/fake_cuda.h"
#include "tests/support/pipeline_fakes.h"

namespace equalux::test {
namespace {

/// A filter with a stream of its own.
class Chain {
 public:
  Chain() : filter_(make_cuda_filter(EqualizeParams{}, CudaOptions{0})) {
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
  }
  ~Chain() {
    filter_.reset();
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
  }
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  void configure() { filter_->configure(frame_.desc()); }
  void submit(int frames) {
    FrameContext context;
    context.stream = stream_;
    for (int i = 0; i < frames; ++i)
      filter_->submit(frame_.view(), frame_.view(), context);
  }

 private:
  std::unique_ptr<Filter> filter_;
  cudaStream_t stream_ = nullptr;
  Image frame_{ImageDesc{PixelFormat::bgr, 64, 48}};
};

class CudaChains : public ::testing::Test {
 protected:
  CudaChains() { fake_cuda::reset(); }
  ~CudaChains() override { fake_cuda::reset(); }
};

TEST_F(CudaChains, OneThatComesLaterWaitsForOverlappedLaunches) {
  Chain first;
  first.configure();
  first.submit(3);
  ASSERT_EQ(fake_cuda::early_launches(), 2U) << "launches after the first overlap";
  Chain second;
  second.configure();
  second.submit(2);
  first.submit(2);
  EXPECT_EQ(fake_cuda::meetings(), 0U);
}

/// What was captured has not run, so that it does not show that the grid fits.
TEST_F(CudaChains, ACapturedLaunchAllowsNoOverlap) {
  Chain chain;
  chain.configure();
  fake_cuda::set_captures(true);
  chain.submit(2);
  fake_cuda::set_captures(false);
  chain.submit(1);
  EXPECT_EQ(fake_cuda::early_launches(), 0U);
  chain.submit(1);
  EXPECT_EQ(fake_cuda::early_launches(), 1U);
}

/// Another chain comes between the look at who is there and the launch.
TEST_F(CudaChains, OneThatComesMeanwhileWaitsForTheLaunch) {
  Chain first;
  first.configure();
  first.submit(1);
  Chain second;
  std::optional<WaitingThread> comes;
  fake_cuda::set_pause([&] {
    if (comes) return;
    comes.emplace([&] { second.configure(); });
    comes->await_sleep();
    EXPECT_FALSE(comes->over()) << "it came through before the launch was made";
  });
  first.submit(1);
  ASSERT_TRUE(comes);
  comes->join();
  second.submit(1);
  EXPECT_EQ(fake_cuda::meetings(), 0U);
}

/// Kernels of 13 x 13 and 15 x 15 weights need more shared memory than a launch has unasked, and
/// the permission is one for both.
TEST_F(CudaChains, ConvolutionsOfSeveralSizesLeaveEachOtherTheirSharedMemory) {
  Image in({PixelFormat::bgr, 64, 48});
  Image out(in.desc());
  for (const int size : {15, 13, 15}) {
    ConvolveParams params;
    params.kernel = "custom";
    params.weights.assign(static_cast<std::size_t>(size * size), "0");
    params.weights[0] = "8400000";
    params.divisor = "8400001";
    const auto filter = make_cuda_filter(params, CudaOptions{0});
    filter->configure(in.desc());
    FrameContext context;
    filter->submit(in.view(), out.view(), context);
  }
  EXPECT_THAT(fake_cuda::misuses(), testing::IsEmpty());
}

}  // namespace
}  // namespace equalux::test
