#pragma once

#include <cuda_runtime_api.h>

/// Kernels that are launched before the one ahead of them has ended; see EarlyLaunch.
namespace equalux::cuda {

/// A kernel that waits for the results before it.
__device__ __forceinline__ void wait_for_results() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// A kernel that waits for the results before it, then lets the next one start. So that one may,
/// ahead of its own wait, read what kernels before this wrote.
__device__ __forceinline__ void wait_then_release() {
  wait_for_results();
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

}  // namespace equalux::cuda
