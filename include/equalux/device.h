#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <equalux/export.h>

/// CUDA devices of this machine. All functions work without a driver and in builds without CUDA.
namespace equalux {

/// GPU as the driver lists it.
struct CudaDevice {
  int number = 0;  ///< CUDA's ordinal, as for --device
  std::string name;
  int major = 0;  ///< compute capability
  int minor = 0;
  int multiprocessors = 0;
  std::size_t total_bytes = 0;
  std::size_t free_bytes = 0;  ///< 0 where the device cannot be asked
  std::string trouble;         ///< reason for which the device cannot be used; empty where it can
};

struct CudaStatus {
  bool available = false;  ///< a device answers, and this build has code for it
  std::string reason;      ///< one clause: what was found, or what is missing
  std::vector<CudaDevice> devices;
};

/// Asks the driver and every device. Takes about 0.1 s a GPU, as it creates a context on each.
[[nodiscard]] EQUALUX_EXPORT CudaStatus cuda_status();

/// Throws what choose_cuda_device() would throw, as far as this shows without work on a device: no
/// driver, no device, an ordinal that no device has.
EQUALUX_EXPORT void require_cuda_device(int wanted);

/// Returns device number `wanted`, or for -1 the one with most free memory, the first of equals. A
/// number queries that device alone, -1 all devices. Throws Error(unavailable) where the device
/// does not answer, and Error(usage) for an ordinal that no device has.
[[nodiscard]] EQUALUX_EXPORT CudaDevice choose_cuda_device(int wanted);

}  // namespace equalux
