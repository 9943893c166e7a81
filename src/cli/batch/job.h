#pragma once

#include <functional>

#include "src/cli/batch/options.h"
#include "src/cli/batch/plan.h"

/// Processing of one file of a batch.
namespace equalux::cli {

/// Result of one file.
struct FileResult {
  std::string status = "failed";  ///< "done", "partial", "failed", "skipped", "stopped"
  std::string reason;             ///< reason, unless "done"
  int code = 0;                   ///< exit code that a run of this file alone would have
  std::uint64_t frames_in = 0;
  std::uint64_t frames_out = 0;
  std::uint64_t resumed_at = 0;  ///< frames that an earlier run had written
  double media_s = 0;            ///< duration of the frames written
  double elapsed_s = 0;          ///< duration of this run
  std::string input_md5;
  bool held = false;         ///< not looked at: another process has the lock
  bool device_lost = false;  ///< failed because of its device, before the first result
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(FileResult, status, reason, code, frames_in,
                                                frames_out, resumed_at, media_s, elapsed_s,
                                                input_md5, held, device_lost)

struct JobContext {
  const BatchOptions& options;
  std::size_t number = 1;  ///< number of the file in the whole plan, from 1
  std::size_t count = 1;
  bool waits = false;  ///< for another process that is at work on the file
  std::function<void(const RunProgress&)> on_progress;
  /// Called with "waiting", "reading" or "checking", phases without frames.
  std::function<void(const std::string&)> on_phase;
};

/// Filters a file, resumes an earlier run, or finds that the file is done. All its errors are in
/// the result.
[[nodiscard]] FileResult process_file(const BatchJob& job, const JobContext& context);

/// Returns why a job must not write its output: the result of another input is there, or a file
/// that no batch made. Empty where it may, as with --overwrite. `entry`: what read_entry() gave;
/// `md5`: called where the input's MD5 is needed.
[[nodiscard]] std::string foreign_output(const BatchOptions& options, const BatchJob& job,
                                         const nlohmann::json& entry,
                                         const std::function<std::string()>& md5);

/// Numbers a per-file output: timings.jsonl becomes timings-3.jsonl.
[[nodiscard]] std::string numbered(const std::string& path, std::size_t number, std::size_t count);

}  // namespace equalux::cli
