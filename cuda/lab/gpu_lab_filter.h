#pragma once

#include <vector>

#include <equalux/filter.h>

#include "src/lab/gpu_lab.h"

/// Calls of any CUDA filter, timed as the reports time theirs.
namespace equalux::gpu_lab {

/// Allocate device memory, copy up, submit, copy down, free; the host's memory is pageable.
/// `filter` was configured for the image's desc, and returned `output`. `kernels_ms` are taken
/// within those calls, launches included.
[[nodiscard]] CallTimes time_filter_calls(Filter& filter, const ConstImageView& image,
                                          const ImageDesc& output, const Budget& budget);

/// Milliseconds of a filter's kernels without their launches, everything in device memory. The
/// filter only enqueues, some dozens of launches at most.
[[nodiscard]] std::vector<double> time_filter_kernels(Filter& filter, const ConstImageView& image,
                                                      const ImageDesc& output,
                                                      const Budget& budget);

/// "upload", the stages that the filter marks, "download", from and to pinned memory, buffers
/// ready, without launches.
[[nodiscard]] std::vector<StageSamples> time_filter_stages(Filter& filter,
                                                           const ConstImageView& image,
                                                           const ImageDesc& output,
                                                           const Budget& budget);

}  // namespace equalux::gpu_lab
