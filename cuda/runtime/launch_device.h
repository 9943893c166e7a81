#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

/// Facts about a device that launches depend on.
namespace equalux::cuda {

struct LaunchDevice {
  int multiprocessors = 1;
  /// True where kernels may be launched before the one ahead of them in the stream has ended
  /// (programmatic dependent launch), because their code contains the wait.
  bool dependent_launch = false;

  /// Asks the current device. `kernel` is any kernel that waits for the one ahead of it when
  /// compiled for compute capability 9.0 or later. Both its PTX and its machine code are asked,
  /// since a newer device may run code that the driver made from older PTX, without the wait.
  /// Throws Error(unavailable).
  static LaunchDevice of(const void* kernel);
};

/// Launch attributes of a kernel: the permission to start early where the device allows it, else
/// none.
class EarlyLaunch {
 public:
  explicit EarlyLaunch(const LaunchDevice& device) : count_(device.dependent_launch ? 1 : 0) {
    attribute_.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute_.val.programmaticStreamSerializationAllowed = 1;
  }
  /// Describes a launch; valid as long as this object, which holds its attributes.
  [[nodiscard]] cudaLaunchConfig_t config(dim3 grid, dim3 block, cudaStream_t stream,
                                          std::size_t shared_bytes = 0) {
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = &attribute_;
    config.numAttrs = count_;
    return config;
  }

 private:
  cudaLaunchAttribute attribute_{};
  unsigned count_;
};

}  // namespace equalux::cuda
