#pragma once

#include <cstddef>
#include <type_traits>

#include <cuda_runtime_api.h>

#include "cuda/runtime/check.h"
#include "cuda/runtime/launch_device.h"

/// Programmatic dependent launch: a kernel may start before the one ahead of it in the stream has
/// ended; see EarlyLaunch.
namespace equalux::cuda {

/// Waits until the kernel ahead in the stream has ended and its results are visible. Does nothing
/// before compute capability 9.0, where kernels of a stream do not overlap.
__device__ __forceinline__ void wait_for_results() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// Lets the next kernel of the stream start; its own wait_for_results() still waits for the end of
/// this one.
__device__ __forceinline__ void release() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Waits for the results of the kernel ahead, then lets the next one start. Because this wait comes
/// first, the next kernel may read what kernels before this one wrote, even ahead of its own wait.
__device__ __forceinline__ void wait_then_release() {
  wait_for_results();
  release();
}

/// Lets the next kernel start, then waits for the results of the kernel ahead: the next one's
/// blocks take multiprocessors as they become free. It may start while the kernel ahead of this one
/// still runs, so a kernel behind one with this call may read nothing ahead of its own wait.
__device__ __forceinline__ void release_then_wait() {
  release();
  wait_for_results();
}

/// Launches a kernel that begins with wait_for_results() or wait_then_release(), with so many bytes
/// of dynamic shared memory for each block. `what` names the launch in the error where it fails.
template <typename... Parameters>
void launch_early(const LaunchDevice& device, const char* what, void (*kernel)(Parameters...),
                  dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream,
                  const std::type_identity_t<Parameters>&... arguments) {
  EarlyLaunch launch(device);
  const cudaLaunchConfig_t config = launch.config(grid, block, stream, shared_bytes);
  check(cudaLaunchKernelEx(&config, kernel, arguments...), what);
}

/// Launches a kernel without dynamic shared memory, which may start early.
template <typename... Parameters>
void launch_early(const LaunchDevice& device, const char* what, void (*kernel)(Parameters...),
                  dim3 grid, dim3 block, cudaStream_t stream,
                  const std::type_identity_t<Parameters>&... arguments) {
  launch_early(device, what, kernel, grid, block, 0, stream, arguments...);
}

}  // namespace equalux::cuda
