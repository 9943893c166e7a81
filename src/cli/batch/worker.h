#pragma once

#include "src/cli/batch/options.h"
#include "src/cli/batch/plan.h"
#include "src/cli/batch/worker_pool.h"

/// What a worker process of a batch does.
namespace equalux::cli {

/// Takes orders for jobs of the plan until the channel ends or a signal comes.
[[nodiscard]] int run_worker(const BatchOptions& options, const BatchPlan& plan,
                             const WorkerPlace& place, Channel& channel);

/// What a file would cost, from its head and, where that works, its first frames.
struct FileEstimate {
  std::optional<std::uint64_t> frames;
  std::optional<double> media_s;
  int width = 0;
  int height = 0;
  double seconds_a_frame = 0;  ///< 0 = could not be tried
  double bytes_a_frame = 0;    ///< of the result
};
[[nodiscard]] nlohmann::json to_json(const FileEstimate& estimate);
/// Throws nlohmann::json::exception.
[[nodiscard]] FileEstimate estimate_from(const nlohmann::json& json);

/// Throws Error where the file cannot be read.
[[nodiscard]] FileEstimate estimate_file(const BatchJob& job, const BatchOptions& options);

}  // namespace equalux::cli
