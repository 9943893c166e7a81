#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <equalux/device.h>

#include "pipelines/core/processor.h"

/// Filtering on a GPU, overlapped with the copies of earlier and later frames.
namespace equalux {

/// Frames on the device at a time: one being uploaded, one being filtered, one being downloaded.
inline constexpr std::size_t kCudaDepth = 3;

/// Makes a processor. `filters` are CUDA filters of `device`, which the processor configures; none
/// = a copy. Throws Error(unavailable).
[[nodiscard]] std::unique_ptr<Processor> make_cuda_processor(
    std::vector<std::unique_ptr<Filter>> filters, const CudaDevice& device,
    std::size_t depth = kCudaDepth);

}  // namespace equalux
