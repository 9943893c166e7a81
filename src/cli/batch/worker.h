#pragma once

#include "src/cli/batch/options.h"
#include "src/cli/batch/plan.h"
#include "src/cli/batch/worker_pool.h"

/// Worker process of a batch.
namespace equalux::cli {

/// Orders of a batch to its workers.
inline constexpr const char* kJobOrder = "job";    ///< filter; a file of another process is left
inline constexpr const char* kWaitOrder = "wait";  ///< filter; another process is waited for
inline constexpr const char* kEstimateOrder = "estimate";

/// Carries out orders for jobs of the plan until the channel ends or a signal comes; returns the
/// exit code.
[[nodiscard]] int run_worker(const BatchOptions& options, const BatchPlan& plan,
                             const WorkerPlace& place, Channel& channel);

}  // namespace equalux::cli
