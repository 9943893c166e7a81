#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "src/cli/commands/run_stream.h"

namespace equalux::cli {

/// Most files at a time.
inline constexpr int kMostJobs = 256;

/// What the user asked of a batch.
struct BatchOptions {
  StreamOptions stream;  ///< but for input and output
  std::vector<std::string> inputs;
  std::string manifest;
  std::string out;
  std::string extension;
  int jobs = 0;                        ///< files at a time; 0 = by the cores
  std::vector<int> devices;            ///< empty = whatever --backend and --device say
  std::uint64_t segment_frames = 300;  ///< 0 = a file is one segment
  std::string shard;
  bool dry_run = false;
  /// Options that decide what the results hold, as they were given or preset.
  nlohmann::json parameters = nlohmann::json::object();
};

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

}  // namespace equalux::cli
