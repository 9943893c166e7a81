#pragma once

#include <string>
#include <string_view>

#include <cuda_runtime_api.h>

#include <equalux/error.h>

/// Every call of the CUDA runtime goes through check().
namespace equalux::cuda {

/// An error that names the current device, what was being done, and CUDA's own name for it.
[[nodiscard]] Error cuda_error(cudaError_t status, std::string_view what);

/// Throws Error(unavailable) unless the call succeeded. `what` says what was being done, as in
/// "allocating 24 MB".
inline void check(cudaError_t status, std::string_view what) {
  if (status != cudaSuccess) throw cuda_error(status, what);
}

}  // namespace equalux::cuda
