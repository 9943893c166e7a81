#pragma once

#include <cstdint>
#include <optional>

#include <nlohmann/json.hpp>

#include "src/cli/batch/options.h"
#include "src/cli/batch/plan.h"
#include "src/cli/batch/worker_pool.h"

/// What a batch would do, and about what it would take.
namespace equalux::cli {

/// Prints on stdout what a batch would do with each file, and about how much time and disk it would
/// take, by a sample of a few of them. Writes nothing where the results go.
[[nodiscard]] ExitCode dry_run(const BatchOptions& options, const BatchPlan& plan,
                               const std::vector<std::size_t>& jobs, const WorkerMain& worker);

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
