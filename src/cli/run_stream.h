#pragma once

#include <string>

#include "io_factory.h"
#include "live_control.h"
#include "options.h"
#include "run.h"

/// One stream from input to output: what `run` does once and `batch` for each file.
namespace equalux::cli {

struct StreamOptions {
  CommonOptions common;
  std::string input;
  std::string output;
  InputOptions in;
  OutputOptions out;
  std::uint64_t frames = 0;      ///< 0 = all
  bool latency_report = false;
  LiveOptions live;
  bool steerable = false;  ///< may change while it runs
  std::string label;             ///< before each line about this stream, as "[2/7] clip.mkv: "
  bool announce = true;          ///< say which backend runs
  bool always_summarise = true;  ///< the closing table also where no timings were asked for
};

/// Throws Error(usage) for everything that the options alone tell is wrong.
void check_stream(const StreamOptions& options);

/// Runs it, with progress, measurements and summary. Throws Error; a partial or interrupted run
/// comes back as RunResult.
[[nodiscard]] RunResult run_stream(const StreamOptions& options);

/// --frames
[[nodiscard]] Option frames_option(std::uint64_t& frames);

/// Why the output is not whole; empty where it is.
[[nodiscard]] std::string ending_text(const RunResult& result);

}  // namespace equalux::cli
