#pragma once

#include <nvtx3/nvtx3.hpp>

/// Ranges for profilers (NVTX). Without a profiler a range costs the test of a flag.
namespace equalux::cuda {

struct TraceDomain {
  static constexpr const char* name{"equalux"};
};

/// Shows a range under a name until the end of the scope. It covers the time in which the thread
/// enqueues a stage, not the stage on the device.
using TraceRange = nvtx3::scoped_range_in<TraceDomain>;

}  // namespace equalux::cuda
