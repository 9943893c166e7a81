// The context that the caller's thread had, behind every call of a filter for hosts.
#include <thread>

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <equalux/filter.h>
#include <gtest/gtest.h>

#include "src/common/cuda_memory.h"
#include "src/host/host_filter.h"
#include "tests/support/device/device_image.h"
#include "tests/support/media/test_images.h"

namespace equalux::test {
namespace {

/// Calls of the driver, as a host with a context of its own makes them.
class Driver {
 public:
  Driver() : library_(::dlopen("libcuda.so.1", RTLD_LAZY)) {}

  void* make_context() {
    void* context = nullptr;
    EXPECT_EQ(call<int (*)(unsigned)>("cuInit")(0), 0);
    EXPECT_EQ((call<int (*)(void**, unsigned, int)>("cuCtxCreate_v2")(&context, 0, 0)), 0);
    return context;
  }
  void destroy(void* context) { EXPECT_EQ(call<int (*)(void*)>("cuCtxDestroy_v2")(context), 0); }
  void* current() {
    void* context = nullptr;
    EXPECT_EQ(call<int (*)(void**)>("cuCtxGetCurrent")(&context), 0);
    return context;
  }

 private:
  template <typename Call>
  Call call(const char* name) {
    return reinterpret_cast<Call>(::dlsym(library_, name));
  }

  void* library_;
};

class KeptContext : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_cuda_device(Devices::all)) GTEST_SKIP() << "no CUDA device";
  }

  /// Calls everything that a filter for hosts has; `kept()` is true while the context is the same.
  template <typename Kept>
  static void use_a_filter(int device, const DeviceImage& in, const DeviceImage& out,
                           const Kept& kept) {
    {
      HostFilter filter({{"denoise", {}}, {"equalize", {{"temporal-ms", "300"}}}},
                        {.backend = Backend::cuda, .device = device});
      EXPECT_TRUE(kept()) << "made";
      filter.configure(in.view().desc);
      EXPECT_TRUE(kept()) << "configured";
      for (int i = 0; i < 3; ++i)
        filter.submit(in.view(), out.view(), filter.next());
      EXPECT_TRUE(kept()) << "frames";
      filter.update(1, {{"strength", "0.5"}});
      EXPECT_TRUE(kept()) << "updated";
      const std::string state = filter.save();
      EXPECT_TRUE(kept()) << "saved";
      filter.load(state);
      EXPECT_TRUE(kept()) << "loaded";
      filter.reset();
      EXPECT_TRUE(kept()) << "reset";
    }
    EXPECT_TRUE(kept()) << "destroyed";
    cuda_wait(device, nullptr, nullptr);
    EXPECT_TRUE(kept()) << "waited";
    EXPECT_THROW(HostFilter({{"equalize", {}}}, {.backend = Backend::cuda, .device = 1000}), Error);
    EXPECT_TRUE(kept()) << "not made";
  }
  static Image frame() {
    Image image(kDesc);
    fill(image.view(), Content::natural);
    return image;
  }
  static constexpr ImageDesc kDesc{PixelFormat::bgr, 64, 48};
};

TEST_F(KeptContext, IsTheCallersOwn) {
  std::thread([] {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    DeviceImage in(kDesc);
    const DeviceImage out(kDesc);
    in.upload(frame().view());
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    Driver driver;
    void* const own = driver.make_context();
    use_a_filter(0, in, out, [&] { return driver.current() == own; });
    driver.destroy(own);
  }).join();
}

TEST_F(KeptContext, IsNoneWhereTheCallerHasNone) {
  DeviceImage in(kDesc);
  const DeviceImage out(kDesc);
  in.upload(frame().view());
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::thread([&] {
    Driver driver;
    use_a_filter(0, in, out, [&] { return driver.current() == nullptr; });
  }).join();
}

TEST_F(KeptContext, IsThatOfTheCallersDevice) {
  int devices = 0;
  ASSERT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
  if (devices < 2) GTEST_SKIP() << "one CUDA device";
  std::thread([] {
    ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
    DeviceImage in(kDesc);
    const DeviceImage out(kDesc);
    in.upload(frame().view());
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    Driver driver;
    void* const first = driver.current();
    use_a_filter(1, in, out, [&] {
      int device = -1;
      EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
      return device == 0 && driver.current() == first;
    });
    ASSERT_EQ(cudaSetDevice(1), cudaSuccess);  // to free the frames
  }).join();
}

}  // namespace
}  // namespace equalux::test
