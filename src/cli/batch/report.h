#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/cli/batch/job.h"
#include "src/cli/batch/options.h"
#include "src/cli/batch/plan.h"

/// Reports of a batch: a table on stderr, and report.json.
namespace equalux::cli {

/// Job with its result; without one where the batch ended before it began.
struct Outcome {
  BatchJob job;
  std::optional<FileResult> result;
  std::string place;  ///< backend that it ran on
};

/// Returns the closing table, of more than 100 files only with those that have no whole result and
/// were not stopped by a signal.
[[nodiscard]] std::string batch_table(const std::vector<Outcome>& outcomes);

/// Returns a line for each kind of entry that was left out of folders; empty if there was none.
[[nodiscard]] std::string left_out_text(const BatchPlan& plan);

/// Returns the text of report.json.
[[nodiscard]] std::string batch_report(const std::vector<Outcome>& outcomes,
                                       const BatchOptions& options, double elapsed_s,
                                       const BatchPlan& plan = {});

/// Returns the exit code of a batch with these outcomes.
[[nodiscard]] ExitCode batch_exit_code(const std::vector<Outcome>& outcomes, int signal);

/// Returns "report.json", or "report-3-of-16.json" for a shard.
[[nodiscard]] std::string shard_name(const std::string& stem, const std::string& extension,
                                     const Shard& shard);

}  // namespace equalux::cli
