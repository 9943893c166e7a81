#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <equalux/device.h>

#include "pipelines/core/processor.h"

/// Runs filters on a GPU while frames before and after are copied.
namespace equalux {

/// Frames that may be on the device at once: one on its way there, one with the filters, one on
/// its way back.
inline constexpr std::size_t kCudaDepth = 3;

/// `filters` are CUDA filters of `device`, configured by the processor; none = a copy. Throws
/// Error(unavailable).
[[nodiscard]] std::unique_ptr<Processor> make_cuda_processor(
    std::vector<std::unique_ptr<Filter>> filters, const CudaDevice& device,
    std::size_t depth = kCudaDepth);

}  // namespace equalux
