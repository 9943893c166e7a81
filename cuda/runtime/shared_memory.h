#pragma once

#include <algorithm>
#include <cstddef>

#include "cuda/runtime/check.h"

/// Dynamic shared memory beyond the 48 KB that a kernel may have without asking.
namespace equalux::cuda {

/// Allows a kernel all the dynamic shared memory that a block of the current device may have beside
/// the kernel's static shared memory. Returns that number of bytes.
template <typename Kernel>
std::size_t allow_shared_memory(Kernel* kernel) {
  int device = 0;
  int most = 0;
  check(cudaGetDevice(&device), "asking for the device");
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        "asking for the shared memory");
  const void* function = reinterpret_cast<const void*>(kernel);
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, function), "loading a kernel");
  const int dynamic = std::max(0, most - static_cast<int>(attributes.sharedSizeBytes));
  check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic),
        "asking for shared memory");
  return static_cast<std::size_t>(dynamic);
}

}  // namespace equalux::cuda
