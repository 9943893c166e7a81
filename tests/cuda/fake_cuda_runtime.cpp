#include <algorithm>
#include <cstdio>
#include <cstring>

#include <cuda_runtime_api.h>

#include "tests/cuda/fake_cuda.h"

/// The runtime's own names: what the backend and the code that nvcc makes around kernels call. A
/// call that is missing here fails to link, since the toolkit's library then brings all of them.
namespace fake = equalux::test::fake_cuda;
using fake::Call;
using fake::Copy;
using fake::Handle;
using fake::Memory;

namespace {

/// Properties of the fake devices, those of compute capability 9.0.
constexpr int kCapability = 90;
constexpr int kMultiprocessors = 8;
constexpr int kBlockThreads = 1024;
constexpr int kSharedBytes = 227 * 1024;
constexpr float kStageMs = 0.5F;

thread_local int current = 0;

std::size_t free_bytes_of_current() {
  return fake::free_bytes()[static_cast<std::size_t>(current)];
}

/// A call that fails, or does `then`.
template <typename Then>
cudaError_t call(Call kind, const Then& then, const char* function = __builtin_FUNCTION()) {
  if (const cudaError_t error = fake::enter(kind, function); error != cudaSuccess) return error;
  return then();
}

cudaError_t on_stream(Call kind, cudaStream_t stream, const char* function = __builtin_FUNCTION()) {
  fake::use_handle(stream, Handle::stream);
  return fake::enter(kind, function);
}

/// One that fails has waited all the same.
cudaError_t wait(Call kind, const char* function = __builtin_FUNCTION()) {
  const cudaError_t error = fake::enter(kind, function);
  fake::finish_copies();
  return error;
}

cudaError_t copy_later(const Copy& copy, cudaStream_t stream,
                       const char* function = __builtin_FUNCTION()) {
  const cudaError_t error = on_stream(Call::copy, stream, function);
  if (error != cudaSuccess) return error;
  fake::copy_later(copy);
  return cudaSuccess;
}

int attribute(cudaDeviceAttr which) {
  switch (which) {
    case cudaDevAttrMultiProcessorCount:
      return kMultiprocessors;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return kSharedBytes;
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return kBlockThreads;
    case cudaDevAttrMaxBlockDimZ:
      return 64;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return 2048;
    case cudaDevAttrMaxGridDimX:
      return 0x7fffffff;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return 65535;
    case cudaDevAttrComputeCapabilityMajor:
      return kCapability / 10;
    case cudaDevAttrComputeCapabilityMinor:
      return kCapability % 10;
    case cudaDevAttrCooperativeLaunch:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

// The names and their parameters are the runtime's.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

// ---- devices

cudaError_t cudaGetDeviceCount(int* count) {
  return call(Call::query, [&] {
    *count = static_cast<int>(fake::free_bytes().size());
    return cudaSuccess;
  });
}
cudaError_t cudaGetDevice(int* device) {
  return call(Call::query, [&] {
    *device = current;
    return cudaSuccess;
  });
}
cudaError_t cudaSetDevice(int device) {
  return call(Call::query, [&] {
    if (device < 0 || static_cast<std::size_t>(device) >= fake::free_bytes().size()) {
      return fake::note(cudaErrorInvalidDevice);
    }
    current = device;
    fake::make_context(device);
    return cudaSuccess;
  });
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int /*device*/) {
  return call(Call::query, [&] {
    *properties = {};
    std::snprintf(properties->name, sizeof properties->name, "%s", fake::kDeviceName);
    properties->major = kCapability / 10;
    properties->multiProcessorCount = kMultiprocessors;
    properties->totalGlobalMem = free_bytes_of_current();
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int /*device*/) {
  return call(Call::query, [&] {
    *value = attribute(which);
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int /*device*/) {
  return call(Call::query, [&] {
    std::snprintf(text, static_cast<std::size_t>(size), "0000:00:00.0");
    return cudaSuccess;
  });
}
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  return call(Call::query, [&] {
    *free_bytes = *total_bytes = free_bytes_of_current();
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceSynchronize() {
  fake::waited_for(std::nullopt);
  return wait(Call::stream);
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

// ---- errors

cudaError_t cudaGetLastError() {
  return fake::last_error(true);
}
cudaError_t cudaPeekAtLastError() {
  return fake::last_error(false);
}
const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorNoDevice:
      return "cudaErrorNoDevice";
    case cudaErrorInsufficientDriver:
      return "cudaErrorInsufficientDriver";
    case cudaErrorNoKernelImageForDevice:
      return "cudaErrorNoKernelImageForDevice";
    case cudaErrorInvalidDevice:
      return "cudaErrorInvalidDevice";
    case cudaErrorDevicesUnavailable:
      return "cudaErrorDevicesUnavailable";
    case cudaErrorIllegalAddress:
      return "cudaErrorIllegalAddress";
    case cudaErrorLaunchOutOfResources:
      return "cudaErrorLaunchOutOfResources";
    case cudaErrorLaunchFailure:
      return "cudaErrorLaunchFailure";
    default:
      return "unrecognized error code";
  }
}
const char* cudaGetErrorString(cudaError_t /*error*/) {
  return "as the test asked";
}

// ---- memory

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return call(Call::allocation, [&] { return fake::allocate(memory, bytes, Memory::device); });
}
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  return call(Call::allocation, [&] { return fake::allocate(memory, bytes, Memory::pinned); });
}
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned /*flags*/) {
  return call(Call::allocation, [&] { return fake::allocate(memory, bytes, Memory::pinned); });
}
cudaError_t cudaFree(void* memory) {
  return fake::release(memory, Memory::device);
}
cudaError_t cudaFreeHost(void* memory) {
  return fake::release(memory, Memory::pinned);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
  return call(Call::query, [&] {
    const std::optional<Memory> kind = fake::memory_of(memory);
    *attributes = {};
    attributes->device = current;
    attributes->type = kind == Memory::device   ? cudaMemoryTypeDevice
                       : kind == Memory::pinned ? cudaMemoryTypeHost
                                                : cudaMemoryTypeUnregistered;
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return call(Call::copy, [&] {
    fake::copy_now({to, 0, from, 0, bytes, 1, kind});
    return cudaSuccess;
  });
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t bytes, std::size_t rows, cudaMemcpyKind kind) {
  return call(Call::copy, [&] {
    fake::copy_now({to, to_pitch, from, from_pitch, bytes, rows, kind});
    return cudaSuccess;
  });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return copy_later({to, 0, from, 0, bytes, 1, kind}, stream);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t bytes, std::size_t rows,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_later({to, to_pitch, from, from_pitch, bytes, rows, kind}, stream);
}
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  return call(Call::copy, [&] {
    fake::copy_now({memory, 0, nullptr, 0, bytes, 1, cudaMemcpyDeviceToDevice, value});
    return cudaSuccess;
  });
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  return copy_later({memory, 0, nullptr, 0, bytes, 1, cudaMemcpyDeviceToDevice, value}, stream);
}
cudaError_t cudaMemset2DAsync(void* memory, std::size_t pitch, int value, std::size_t bytes,
                              std::size_t rows, cudaStream_t stream) {
  return copy_later({memory, pitch, nullptr, 0, bytes, rows, cudaMemcpyDeviceToDevice, value},
                    stream);
}

// ---- streams and events

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
  return call(Call::stream, [&] {
    *stream = static_cast<cudaStream_t>(fake::make_handle(Handle::stream));
    return cudaSuccess;
  });
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return fake::destroy_handle(stream, Handle::stream);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  fake::use_handle(stream, Handle::stream);
  fake::waited_for(stream);
  return wait(Call::stream);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = fake::captures() ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  fake::pause();
  return on_stream(Call::stream, stream);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/) {
  fake::use_handle(event, Handle::event);
  return on_stream(Call::event, stream);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  const cudaError_t error = on_stream(Call::launch, stream);
  if (error == cudaSuccess) function(data);
  return error;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned /*flags*/) {
  return call(Call::event, [&] {
    *event = static_cast<cudaEvent_t>(fake::make_handle(Handle::event));
    return cudaSuccess;
  });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return fake::destroy_handle(event, Handle::event);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  fake::use_handle(event, Handle::event);
  const cudaError_t error = on_stream(Call::event, stream);
  if (error == cudaSuccess) fake::recorded(event);
  return error;
}
/// Never done at the first look.
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call(Call::event, [&] {
    fake::use_handle(event, Handle::event);
    if (fake::first_look(event)) return cudaErrorNotReady;
    fake::finish_copies();
    return cudaSuccess;
  });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  fake::use_handle(event, Handle::event);
  return wait(Call::event);
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t begin, cudaEvent_t end) {
  return call(Call::event, [&] {
    fake::use_handle(begin, Handle::event);
    fake::use_handle(end, Handle::event);
    *ms = kStageMs;
    return cudaSuccess;
  });
}

// ---- kernels

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* /*kernel*/) {
  return call(Call::query, [&] {
    *attributes = {};
    attributes->ptxVersion = attributes->binaryVersion = kCapability;
    attributes->maxThreadsPerBlock = kBlockThreads;
    return cudaSuccess;
  });
}
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute which, int value) {
  return call(Call::query, [&] {
    if (which == cudaFuncAttributeMaxDynamicSharedMemorySize) fake::allow_shared(kernel, value);
    return cudaSuccess;
  });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                   const void* /*kernel*/,
                                                                   int /*threads*/,
                                                                   std::size_t /*bytes*/,
                                                                   unsigned /*flags*/) {
  return call(Call::query, [&] {
    *blocks = 1;
    return cudaSuccess;
  });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                          int threads, std::size_t bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, threads, bytes, 0);
}
cudaError_t cudaLaunchKernel(const void* kernel, dim3 /*grid*/, dim3 /*block*/,
                             void** /*arguments*/, std::size_t bytes, cudaStream_t stream) {
  fake::use_shared(kernel, bytes);
  return on_stream(Call::launch, stream);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                void** /*arguments*/) {
  fake::use_shared(kernel, config->dynamicSmemBytes);
  const cudaError_t error = on_stream(Call::launch, config->stream);
  const cudaLaunchAttribute* const end = config->attrs + config->numAttrs;
  const bool early =
      std::any_of<const cudaLaunchAttribute*>(config->attrs, end, [](const auto& attribute) {
        return attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization;
      });
  if (error == cudaSuccess) fake::launched(config->stream, early);
  return error;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
