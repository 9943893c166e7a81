#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <equalux/export.h>

/// What CUDA finds on this machine. Nothing here needs a driver or a build with CUDA.
namespace equalux {

/// A GPU that the driver lists.
struct CudaDevice {
  int number = 0;  ///< CUDA's, for --device
  std::string name;
  int major = 0;  ///< compute capability
  int minor = 0;
  int multiprocessors = 0;
  std::size_t total_bytes = 0;
  std::size_t free_bytes = 0;  ///< 0 where it cannot be asked
  std::string trouble;         ///< why it cannot be used; empty where it can
};

struct CudaStatus {
  bool available = false;  ///< a device answers and this build has code for it
  std::string reason;      ///< one clause, what is there or what is missing
  std::vector<CudaDevice> devices;
};

/// Asks driver and devices; takes a tenth of a second a GPU, and makes a context on each.
[[nodiscard]] EQUALUX_EXPORT CudaStatus cuda_status();

/// Throws what choose_cuda_device() would, as far as it can be told without work on a device: no
/// driver, no device, a number that none has.
EQUALUX_EXPORT void require_cuda_device(int wanted);

/// The device that `wanted` names, the only one that is asked then, or for -1 the first of those
/// with most free memory. Throws Error(unavailable) where that one does not answer, and
/// Error(usage) for a number that no device has.
[[nodiscard]] EQUALUX_EXPORT CudaDevice choose_cuda_device(int wanted);

}  // namespace equalux
