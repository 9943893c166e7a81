#pragma once

#include <cstddef>
#include <vector>

#include <equalux/error.h>

#include "src/cli/batch/options.h"
#include "src/cli/batch/plan.h"

namespace equalux::cli {

/// Many files, each as `run` would do it. This process plans, gives out and tells; worker processes
/// filter. Throws Error for what concerns all files; what concerns one is in its report.
[[nodiscard]] ExitCode run_batch(const BatchOptions& options);

/// One file after another, in this process and without results: their mean curve goes to
/// --curve-to. `jobs` are the plan's that are ours.
[[nodiscard]] ExitCode run_curve_pass(const BatchOptions& options, const BatchPlan& plan,
                                      const std::vector<std::size_t>& jobs);

}  // namespace equalux::cli
