#pragma once

#include <functional>

#include "src/cli/batch/options.h"
#include "src/cli/batch/plan.h"

/// One file of a batch.
namespace equalux::cli {

/// What became of one file.
struct FileResult {
  std::string status = "failed";  ///< "done", "partial", "failed", "skipped", "stopped"
  std::string reason;             ///< of all but "done"
  int code = 0;                   ///< the exit code that one file alone would give
  std::uint64_t frames_in = 0;
  std::uint64_t frames_out = 0;
  std::uint64_t resumed_at = 0;  ///< frames that an earlier run had written
  double media_s = 0;            ///< of the frames written
  double elapsed_s = 0;          ///< of this run
  std::string input_md5;
  bool device_lost = false;  ///< failed by its device, before its time
};
[[nodiscard]] nlohmann::json to_json(const FileResult& result);
/// Throws nlohmann::json::exception.
[[nodiscard]] FileResult result_from(const nlohmann::json& json);

struct JobContext {
  const BatchOptions& options;
  std::size_t number = 1;  ///< of the file, from 1, in all of the plan
  std::size_t count = 1;
  std::function<void(const RunProgress&)> on_progress;
  std::function<void(const std::string&)> on_phase;  ///< "reading", "checking": no frames yet
};

/// Filters a file, goes on where an earlier run left it, or finds that it is done. Everything that
/// goes wrong with it is in the result.
[[nodiscard]] FileResult process_file(const BatchJob& job, const JobContext& context);

/// The name of a per-file output of the user's: timings.jsonl becomes timings-3.jsonl.
[[nodiscard]] std::string numbered(const std::string& path, std::size_t number, std::size_t count);

}  // namespace equalux::cli
