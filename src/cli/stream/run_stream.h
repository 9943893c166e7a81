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
  bool steerable = false;  ///< options may change while it runs
  /// Allows encoding on the GPU that filters. Not for batches, whose results must not depend on the
  /// machine or on interruptions.
  bool may_encode_on_gpu = false;
  std::string label;             ///< prefix of log lines about this stream, as "[2/7] clip.mkv: "
  bool announce = true;          ///< tells which backend runs
  bool always_summarise = true;  ///< prints the closing table even without --timings
  CurveFile* curves = nullptr;   ///< receives the frames' curves, with --curve-to

  // Fields that a batch sets; see RunOptions.
  std::uint64_t checkpoint_every = 0;
  std::optional<Checkpoint> resume_from;  ///< --verify then appends to its file
  /// Called behind each checkpoint, with the size of the file of hashes up to there, 0 without one.
  std::function<void(const Checkpoint&, std::uint64_t hash_bytes)> on_checkpoint;
  std::function<void(const RunProgress&)> on_progress;  ///< replaces the line on stderr
  /// Called with the source's own stream, before the sink opens.
  std::function<void(const StreamInfo&)> on_source;
  /// Wraps the source; null = nothing.
  std::function<std::unique_ptr<Source>(std::unique_ptr<Source>)> wrap_source;
  /// Called with each filtered frame, beside --verify.
  std::function<void(const Frame&)> on_result;
};

/// Checks everything that the options alone tell. Throws Error(usage).
void check_stream(const StreamOptions& options);

/// Runs the stream, with progress, measurements and summary. Throws Error; a partial or interrupted
/// run is a RunResult.
[[nodiscard]] RunResult run_stream(const StreamOptions& options);

/// Makes --frames.
[[nodiscard]] Option frames_option(std::uint64_t& frames);

/// Returns why `output` is incomplete; empty where it is complete.
[[nodiscard]] std::string ending_text(const RunResult& result, const std::string& output);

}  // namespace equalux::cli
