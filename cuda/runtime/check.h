#pragma once

#include <string>
#include <string_view>

#include <cuda_runtime_api.h>
#include <equalux/error.h>

/// Every call of the CUDA runtime goes through check().
namespace equalux::cuda {

/// An error that names the current device, what was being done, and CUDA's own name for it.
[[nodiscard]] Error cuda_error(cudaError_t status, std::string_view what);

/// What errors call a device that is lost, and does not tell its name any more.
void remember_name(int device, const std::string& name);

/// Throws Error(unavailable) unless the call succeeded. `what` says what was being done, as in
/// "allocating 24 MB".
inline void check(cudaError_t status, std::string_view what) {
  if (status != cudaSuccess) throw cuda_error(status, what);
}

/// Ignores a call's failure, as in a destructor: the runtime must not come back to its error at a
/// later call, such as a launch.
inline void ignore(cudaError_t status) noexcept {
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
}

/// Makes a device current in this thread, and the one that its errors name. Throws
/// Error(unavailable).
void use_device(int device);

}  // namespace equalux::cuda
