#include "cuda/runtime/check.h"
#include "cuda/runtime/handles.h"
#include "src/common/cuda_memory.h"

/// Memory of frames, and the order of others' streams.
namespace equalux {
namespace {

constexpr ImageMemory kDeviceMemory{[](std::size_t bytes) -> void* {
                                      void* memory = nullptr;
                                      if (cudaMalloc(&memory, bytes) == cudaSuccess) return memory;
                                      static_cast<void>(cudaGetLastError());
                                      return nullptr;
                                    },
                                    [](void* memory) { cuda::ignore(cudaFree(memory)); }};

}  // namespace

const ImageMemory& cuda_frame_memory() {
  return kDeviceMemory;
}

int cuda_device_of(const void* memory) {
  cudaPointerAttributes attributes{};
  cuda::check(cudaPointerGetAttributes(&attributes, memory), "asking where a frame lies");
  if (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged) {
    throw Error(ExitCode::usage, "the frame lies in no device's memory");
  }
  return attributes.device;
}

void cuda_wait(int device, void* stream, void* before) {
  cuda::use_device(device);
  const cuda::Event done = cuda::make_event();
  cuda::check(cudaEventRecord(done.get(), static_cast<cudaStream_t>(before)),
              "marking the end of a stream's work");
  cuda::check(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), done.get(), 0),
              "having one stream wait for another");
}

void cuda_finish(int device, void* stream) {
  cuda::use_device(device);
  cuda::check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "waiting for a stream");
}

}  // namespace equalux
