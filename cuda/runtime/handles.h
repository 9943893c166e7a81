#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <cuda_runtime_api.h>

#include "cuda/runtime/check.h"

/// Owners of CUDA streams, events and memory. All are movable; destructors ignore errors, since
/// nothing can be freed after a device is lost.
namespace equalux::cuda {

template <typename Handle, cudaError_t (*destroy)(Handle)>
struct HandleDeleter {
  using pointer = Handle;
  void operator()(Handle handle) const noexcept { ignore(destroy(handle)); }
};

using Stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>,
                               HandleDeleter<cudaStream_t, cudaStreamDestroy>>;
using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>,
                              HandleDeleter<cudaEvent_t, cudaEventDestroy>>;

/// Makes a stream that does not wait for the default stream.
[[nodiscard]] inline Stream make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  return Stream(stream);
}

/// Makes an event that orders streams; with `timing` it also measures.
[[nodiscard]] inline Event make_event(bool timing = false) {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, timing ? cudaEventDefault : cudaEventDisableTiming),
        "creating an event");
  return Event(event);
}

struct DeviceDeleter {
  void operator()(void* memory) const noexcept { ignore(cudaFree(memory)); }
};
struct PinnedDeleter {
  void operator()(void* memory) const noexcept { ignore(cudaFreeHost(memory)); }
};

template <typename T>
using DevicePointer = std::unique_ptr<T, DeviceDeleter>;
template <typename T>
using PinnedPointer = std::unique_ptr<T, PinnedDeleter>;

/// Allocates `count` elements of device memory, aligned to 256 bytes and not initialised.
template <typename T>
[[nodiscard]] DevicePointer<T> allocate_device(std::size_t count) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)),
        "allocating " + std::to_string(count * sizeof(T)) + " bytes of device memory");
  return DevicePointer<T>(static_cast<T*>(memory));
}

/// Allocates `count` elements of page-locked host memory, not initialised.
template <typename T>
[[nodiscard]] PinnedPointer<T> allocate_pinned(std::size_t count) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, count * sizeof(T)),
        "allocating " + std::to_string(count * sizeof(T)) + " bytes of pinned memory");
  return PinnedPointer<T>(static_cast<T*>(memory));
}

}  // namespace equalux::cuda
