#pragma once

#include <optional>
#include <string>

#include "pipelines/core/frame_hash.h"
#include "pipelines/core/run.h"
#include "pipelines/timings/timing_summary.h"
#include "pipelines/timings/timings.h"
#include "src/cli/options.h"

/// What --timings, --summary and --verify ask for, of one stream.
namespace equalux::cli {

class Measurements {
 public:
  /// `resumed`: the file of hashes goes on behind what it holds.
  explicit Measurements(const CommonOptions& options, bool resumed = false)
      : options_(options), resumed_(resumed) {}

  /// Creates the files, for frames of `info`. Throws Error(cannot_create).
  void open(const StreamInfo& info);
  /// A frame that is through the sink, with its times. One thread at a time.
  void add_frame(const Frame& frame);
  /// A filtered frame, before the sink. One thread at a time.
  void add_result(const Frame& frame);
  /// Bytes of the file of hashes so far, all of them on their way to the disk; 0 where there is
  /// none. Throws Error(write_failed).
  [[nodiscard]] std::uint64_t hash_bytes();
  /// Closes the files. Throws Error(write_failed).
  void finish();

  /// The closing table: counts, throughput, and percentiles of every stage that was measured.
  [[nodiscard]] std::string table(const RunResult& result) const { return summary_.table(result); }

 private:
  const CommonOptions& options_;
  const bool resumed_;
  TimingSummary summary_;
  std::optional<TimingsWriter> timings_;
  std::optional<FrameHashWriter> hashes_;
};

}  // namespace equalux::cli
