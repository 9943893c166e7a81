#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

/// What launches have to know of a device.
namespace equalux::cuda {

struct LaunchDevice {
  int multiprocessors = 1;
  /// Kernels may be launched before the one ahead of them in the stream has ended (programmatic
  /// dependent launch), because their code waits for it.
  bool dependent_launch = false;

  /// Asks the current device. `kernel` is any that has the wait in it where it is compiled for
  /// compute capability 9.0 or later: what counts is the code that runs, which a newer device may
  /// have made from older PTX. Throws Error(unavailable).
  static LaunchDevice of(const void* kernel);
};

/// Launch attributes of a kernel: with the permission to start early, or none.
class EarlyLaunch {
 public:
  explicit EarlyLaunch(const LaunchDevice& device) : count_(device.dependent_launch ? 1 : 0) {
    attribute_.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute_.val.programmaticStreamSerializationAllowed = 1;
  }
  /// Valid as long as this is.
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
