#pragma once

#include "src/cli/batch/options.h"
#include "src/cli/batch/plan.h"
#include "src/cli/batch/worker_pool.h"

namespace equalux::cli {

/// Prints on stdout what a batch would do with each file, and about how much time and disk it would
/// take, by a sample of a few of them. Writes nothing where the results go.
[[nodiscard]] ExitCode dry_run(const BatchOptions& options, const BatchPlan& plan,
                               const std::vector<std::size_t>& jobs, const WorkerMain& worker);

}  // namespace equalux::cli
