#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "src/cli/stream/run_stream.h"

namespace equalux::cli {

/// Most files in progress at once.
inline constexpr int kMostJobs = 256;

/// Options of a batch.
struct BatchOptions {
  StreamOptions stream;  ///< without input and output
  std::vector<std::string> inputs;
  std::string manifest;
  std::string out;
  std::string extension;
  int jobs = 0;                        ///< files at once; 0 = depending on the cores
  std::vector<int> devices;            ///< empty = as --backend and --device say
  std::uint64_t segment_frames = 300;  ///< 0 = one segment a file
  std::string shard;
  bool dry_run = false;
  bool overwrite = false;  ///< replaces results of other inputs, and files that no batch made
  /// Options that decide what results hold, from the command line and presets.
  nlohmann::json parameters = nlohmann::json::object();
};

}  // namespace equalux::cli
