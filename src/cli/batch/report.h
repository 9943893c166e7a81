#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/cli/batch/job.h"
#include "src/cli/batch/options.h"
#include "src/cli/batch/plan.h"

/// What a batch tells of itself: a table on stderr, and report.json.
namespace equalux::cli {

/// A job and what became of it; nothing where the batch ended before it began.
struct Outcome {
  BatchJob job;
  std::optional<FileResult> result;
  std::string place;  ///< where it ran
};

/// The closing table.
[[nodiscard]] std::string batch_table(const std::vector<Outcome>& outcomes);

/// A line for each kind of thing that folders held and the batch left alone; empty where there was
/// none.
[[nodiscard]] std::string left_out_text(const BatchPlan& plan);

/// The text of report.json.
[[nodiscard]] std::string batch_report(const std::vector<Outcome>& outcomes,
                                       const BatchOptions& options, double elapsed_s,
                                       const BatchPlan& plan = {});

/// What a batch with these outcomes exits with.
[[nodiscard]] ExitCode batch_exit_code(const std::vector<Outcome>& outcomes, int signal);

/// "report.json", or "report-3-of-16.json" for a shard.
[[nodiscard]] std::string shard_name(const std::string& stem, const std::string& extension,
                                     const Shard& shard);

}  // namespace equalux::cli
