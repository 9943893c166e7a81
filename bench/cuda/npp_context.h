#pragma once

#include <string>

#include <cuda_runtime_api.h>
#include <equalux/error.h>
#include <nppdefs.h>

#include "cuda/runtime/check.h"

/// Common parts of calls of NVIDIA's Performance Primitives (NPP).
namespace equalux::bench {

/// Throws Error(unavailable) where NPP reports an error.
inline void npp_check(NppStatus status, const char* doing) {
  if (status == NPP_SUCCESS) return;
  throw Error(ExitCode::unavailable,
              "NPP: " + std::string(doing) + " failed with " + std::to_string(status));
}

[[nodiscard]] inline NppStreamContext npp_context(cudaStream_t stream) {
  NppStreamContext context{};
  cudaDeviceProp device{};
  cuda::check(cudaGetDevice(&context.nCudaDeviceId), "asking for the device");
  cuda::check(cudaGetDeviceProperties(&device, context.nCudaDeviceId), "asking for the device");
  context.hStream = stream;
  context.nMultiProcessorCount = device.multiProcessorCount;
  context.nMaxThreadsPerMultiProcessor = device.maxThreadsPerMultiProcessor;
  context.nMaxThreadsPerBlock = device.maxThreadsPerBlock;
  context.nSharedMemPerBlock = device.sharedMemPerBlock;
  context.nCudaDevAttrComputeCapabilityMajor = device.major;
  context.nCudaDevAttrComputeCapabilityMinor = device.minor;
  cuda::check(cudaStreamGetFlags(stream, &context.nStreamFlags), "asking for the stream");
  return context;
}

}  // namespace equalux::bench
