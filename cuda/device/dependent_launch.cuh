#pragma once

#include <type_traits>

#include <cuda_runtime_api.h>

#include "cuda/runtime/check.h"
#include "cuda/runtime/launch_device.h"

/// Kernels that are launched before the one ahead of them has ended; see EarlyLaunch.
namespace equalux::cuda {

/// A kernel that waits for the results before it.
__device__ __forceinline__ void wait_for_results() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// A kernel that lets the next one start.
__device__ __forceinline__ void release() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// A kernel that waits for the results before it, then lets the next one start. So that one may,
/// ahead of its own wait, read what kernels before this wrote.
__device__ __forceinline__ void wait_then_release() {
  wait_for_results();
  release();
}

/// Launches a kernel that begins with wait_for_results() or wait_then_release(), without shared
/// memory of a size of the launch. `what` names it where it fails.
template <typename... Parameters>
void launch_early(const LaunchDevice& device, const char* what, void (*kernel)(Parameters...),
                  dim3 grid, dim3 block, cudaStream_t stream,
                  const std::type_identity_t<Parameters>&... arguments) {
  EarlyLaunch launch(device);
  const cudaLaunchConfig_t config = launch.config(grid, block, stream);
  check(cudaLaunchKernelEx(&config, kernel, arguments...), what);
}

}  // namespace equalux::cuda
