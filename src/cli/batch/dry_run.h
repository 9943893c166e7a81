#pragma once

#include <cstdint>
#include <optional>

#include <nlohmann/json.hpp>

#include "src/cli/batch/options.h"
#include "src/cli/batch/plan.h"
#include "src/cli/batch/worker_pool.h"

/// Preview of a batch: what it would do, and roughly at what cost.
namespace equalux::cli {

/// Prints on stdout what a batch would do with each file, and estimates time and disk space by a
/// sample of files. Writes nothing below the folder of results.
[[nodiscard]] ExitCode dry_run(const BatchOptions& options, const BatchPlan& plan,
                               const std::vector<std::size_t>& jobs, const WorkerMain& worker);

/// Estimated cost of a file, from its header and, if possible, its first frames.
struct FileEstimate {
  std::optional<std::uint64_t> frames;
  std::optional<double> media_s;
  int width = 0;
  int height = 0;
  double seconds_a_frame = 0;  ///< 0 = could not be measured
  double bytes_a_frame = 0;    ///< bytes of the result
};
[[nodiscard]] nlohmann::json to_json(const FileEstimate& estimate);
/// Parses an estimate. Throws nlohmann::json::exception.
[[nodiscard]] FileEstimate estimate_from(const nlohmann::json& json);

/// Estimates a file. Throws Error where it cannot be read.
[[nodiscard]] FileEstimate estimate_file(const BatchJob& job, const BatchOptions& options);

}  // namespace equalux::cli
