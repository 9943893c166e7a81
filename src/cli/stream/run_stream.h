#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "pipelines/core/run.h"
#include "src/cli/options.h"
#include "src/cli/stream/io_factory.h"
#include "src/cli/stream/live_control.h"
#include "src/cli/stream/measurements.h"
#include "src/cli/stream/record.h"

/// One stream from input to output: what `run` does once and `batch` for each file.
namespace equalux::cli {

struct StreamOptions {
  CommonOptions common;
  std::string input;
  std::string output;
  InputOptions in;
  OutputOptions out;
  std::uint64_t frames = 0;  ///< 0 = all
  bool latency_report = false;
  LiveOptions live;
  RecordingOptions record;
  bool steerable = false;  ///< may change while it runs
  /// A GPU that filters may encode, too. Not in a batch, whose files are to be alike wherever each
  /// was made, and the same after a stop.
  bool may_encode_on_gpu = false;
  std::string label;             ///< before each line about this stream, as "[2/7] clip.mkv: "
  bool announce = true;          ///< say which backend runs
  bool always_summarise = true;  ///< the closing table also where no timings were asked for
  CurveFile* curves = nullptr;   ///< where the frames' curves go, with --curve-to

  // What a batch adds; see RunOptions.
  std::uint64_t checkpoint_every = 0;
  std::optional<Checkpoint> resume_from;  ///< --verify goes on behind what its file holds
  /// Called behind each checkpoint with the bytes of the file of hashes up to there, 0 without one.
  std::function<void(const Checkpoint&, std::uint64_t hash_bytes)> on_checkpoint;
  std::function<void(const RunProgress&)> on_progress;  ///< in place of the line on stderr
  /// Puts something of its own around the source; null = nothing.
  std::function<std::unique_ptr<Source>(std::unique_ptr<Source>)> wrap_source;
  std::function<void(const Frame&)> on_result;  ///< each filtered frame, beside --verify
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
