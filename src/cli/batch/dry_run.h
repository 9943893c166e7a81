#pragma once

#include <cstdint>

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
  std::uint64_t frames = 0;  ///< 0 = unknown
  int width = 0;
  int height = 0;
  double seconds_a_frame = 0;  ///< 0 = could not be measured
  double bytes_a_frame = 0;    ///< bytes of the result
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FileEstimate, frames, width, height, seconds_a_frame,
                                   bytes_a_frame)

/// Estimates a file. Throws Error where it cannot be read.
[[nodiscard]] FileEstimate estimate_file(const BatchJob& job, const BatchOptions& options);

}  // namespace equalux::cli
