#pragma once

#include "src/cli/batch/options.h"
#include "src/cli/batch/plan.h"
#include "src/cli/batch/worker_pool.h"

/// What a worker process of a batch does.
namespace equalux::cli {

/// Takes orders for jobs of the plan until the channel ends or a signal comes.
[[nodiscard]] int run_worker(const BatchOptions& options, const BatchPlan& plan,
                             const WorkerPlace& place, Channel& channel);

}  // namespace equalux::cli
