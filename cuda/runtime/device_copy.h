#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "cuda/runtime/check.h"
#include "cuda/runtime/handles.h"

/// Writes of device memory by the host while no frames are processed, as in configure() and load().
namespace equalux::cuda {

/// Waits until kernels of every stream see what the functions below wrote. The runtime's calls may
/// return before the last of pageable memory has arrived, and order only streams that wait for the
/// default stream, which ours do not.
inline void wait_for_default_stream(std::string_view what) {
  check(cudaStreamSynchronize(cudaStreamLegacy), what);
}

/// Copies `bytes` of host memory to device memory.
inline void upload(void* to, const void* from, std::size_t bytes, std::string_view what) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), what);
  wait_for_default_stream(what);
}

/// Allocates device memory and copies the host's elements into it.
template <typename T>
[[nodiscard]] DevicePointer<T> uploaded(const std::vector<T>& host, std::string_view what) {
  DevicePointer<T> device = allocate_device<T>(host.size());
  upload(device.get(), host.data(), host.size() * sizeof(T), what);
  return device;
}

/// Sets each of `bytes` to `value`.
inline void fill_device(void* memory, int value, std::size_t bytes, std::string_view what) {
  check(cudaMemset(memory, value, bytes), what);
  wait_for_default_stream(what);
}

}  // namespace equalux::cuda
