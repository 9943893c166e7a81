#include "cuda/runtime/launch_device.h"

#include "cuda/runtime/check.h"

namespace equalux::cuda {

LaunchDevice LaunchDevice::of(const void* kernel) {
  LaunchDevice device;
  int number = 0;
  check(cudaGetDevice(&number), "asking for the device");
  check(cudaDeviceGetAttribute(&device.multiprocessors, cudaDevAttrMultiProcessorCount, number),
        "asking for the multiprocessors");
  cudaFuncAttributes code{};
  check(cudaFuncGetAttributes(&code, kernel), "asking for a kernel's code");
  device.dependent_launch = code.ptxVersion >= 90 && code.binaryVersion >= 90;
  return device;
}

}  // namespace equalux::cuda
