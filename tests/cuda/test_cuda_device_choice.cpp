// Which of several devices is taken, and what is left alone; on devices that are none.
#include <equalux/device.h>
#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cuda/fake_cuda.h"

namespace equalux::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::size_t kGiB = std::size_t{1} << 30;

class CudaDeviceChoice : public ::testing::Test {
 protected:
  CudaDeviceChoice() {
    fake_cuda::reset();
    fake_cuda::set_free_bytes({4 * kGiB, 9 * kGiB, 2 * kGiB, 9 * kGiB});
  }
  ~CudaDeviceChoice() override { fake_cuda::reset(); }
};

TEST_F(CudaDeviceChoice, TheFirstOfThoseWithMostFreeMemory) {
  const CudaDevice device = choose_cuda_device(-1);
  EXPECT_EQ(device.number, 1);
  EXPECT_EQ(device.free_bytes, 9 * kGiB);
  EXPECT_THAT(cuda_status().devices, SizeIs(4));
}

TEST_F(CudaDeviceChoice, TheOneAskedForAndNoContextOnAnother) {
  EXPECT_EQ(choose_cuda_device(2).number, 2);
  EXPECT_EQ(choose_cuda_device(2).free_bytes, 2 * kGiB);
  EXPECT_EQ(fake_cuda::contexts(), std::set<int>{2});
  int current = -1;
  ASSERT_EQ(cudaGetDevice(&current), cudaSuccess);
  EXPECT_EQ(current, 0) << "the calling thread's device";
}

TEST_F(CudaDeviceChoice, RequiringOneMakesNoContext) {
  require_cuda_device(-1);
  require_cuda_device(3);
  EXPECT_THAT(fake_cuda::contexts(), IsEmpty());
}

TEST_F(CudaDeviceChoice, ANumberThatNoneHasIsAnErrorOfTheOption) {
  for (const auto& ask : {+[](int number) { require_cuda_device(number); },
                          +[](int number) { static_cast<void>(choose_cuda_device(number)); }}) {
    try {
      ask(4);
      FAIL() << "device 4 of 4";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), HasSubstr("device is 4, must be -1 to 3 on this machine"));
    }
  }
  EXPECT_THAT(fake_cuda::contexts(), IsEmpty());
}

TEST_F(CudaDeviceChoice, WithoutADriverTheReasonIsSaid) {
  fake_cuda::reset({fake_cuda::Call::query, 1, cudaErrorNoDevice, false});
  try {
    require_cuda_device(1);
    FAIL() << "no device";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::unavailable);
    EXPECT_THAT(error.what(), HasSubstr("cuda: device 1: the driver finds no CUDA device"));
  }
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "left for the next call to find";
}

}  // namespace
}  // namespace equalux::test
