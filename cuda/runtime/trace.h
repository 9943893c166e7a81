#pragma once

#include <nvtx3/nvtx3.hpp>

/// Ranges that a profiler shows (NVTX); without one they cost a look at a flag.
namespace equalux::cuda {

struct TraceDomain {
  static constexpr const char* name{"equalux"};
};

/// Shows a span, to the end of the scope, under a name: the thread's part of a stage, which is to
/// enqueue it.
using TraceRange = nvtx3::scoped_range_in<TraceDomain>;

}  // namespace equalux::cuda
