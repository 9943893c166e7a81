#pragma once

#include <string>
#include <string_view>

#include <cuda_runtime_api.h>
#include <equalux/error.h>

/// Checks around every call of the CUDA runtime, which turn its status codes into exceptions.
namespace equalux::cuda {

/// Makes an error that names the current device, what was being done, and CUDA's own name for the
/// failure.
[[nodiscard]] Error cuda_error(cudaError_t status, std::string_view what);

/// Keeps the name by which errors call a device, since a lost device does not tell its name any
/// more.
void remember_name(int device, const std::string& name);

/// Throws Error(unavailable) unless the call succeeded. `what` says what was being done, as in
/// "allocating 24 MB".
inline void check(cudaError_t status, std::string_view what) {
  if (status != cudaSuccess) throw cuda_error(status, what);
}

/// Ignores a call's failure, as destructors do, and clears the runtime's sticky error, which would
/// otherwise be reported by a later call, such as a launch.
inline void ignore(cudaError_t status) noexcept {
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
}

/// Makes a device current in this thread; errors of the thread name it from then on. Throws
/// Error(unavailable).
void use_device(int device);

}  // namespace equalux::cuda
