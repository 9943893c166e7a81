#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "src/cli/stream/run_stream.h"

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

}  // namespace equalux::cli
