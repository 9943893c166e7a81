#pragma once

#include <equalux/error.h>

#include "batch/options.h"

namespace equalux::cli {

/// Many files, each as `run` would do it. This process plans, gives out and tells; worker processes
/// filter. Throws Error for what concerns all files; what concerns one is in its report.
[[nodiscard]] ExitCode run_batch(const BatchOptions& options);

}  // namespace equalux::cli
