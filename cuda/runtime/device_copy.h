#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "cuda/runtime/check.h"
#include "cuda/runtime/handles.h"

/// Device memory written from the host while nothing runs per frame: in configure(), load() and the
/// like.
namespace equalux::cuda {

/// Waits until what these functions began is in place for kernels of every stream. The runtime's
/// own calls return while the last of pageable memory is on its way, or at once, and order only
/// streams that wait for the default one, as ours do not.
inline void wait_for_default_stream(std::string_view what) {
  check(cudaStreamSynchronize(cudaStreamLegacy), what);
}

/// `bytes` of host memory to device memory.
inline void upload(void* to, const void* from, std::size_t bytes, std::string_view what) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), what);
  wait_for_default_stream(what);
}

/// Device memory that holds a copy of the host's.
template <typename T>
[[nodiscard]] DevicePointer<T> uploaded(const std::vector<T>& host, std::string_view what) {
  DevicePointer<T> device = allocate_device<T>(host.size());
  upload(device.get(), host.data(), host.size() * sizeof(T), what);
  return device;
}

/// Every one of `bytes` becomes `value`.
inline void fill_device(void* memory, int value, std::size_t bytes, std::string_view what) {
  check(cudaMemset(memory, value, bytes), what);
  wait_for_default_stream(what);
}

}  // namespace equalux::cuda
