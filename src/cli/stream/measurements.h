#pragma once

#include <optional>
#include <string>

#include <equalux/curve.h>

#include "pipelines/core/frame_hash.h"
#include "pipelines/core/run.h"
#include "pipelines/files/partial_file.h"
#include "pipelines/timings/timing_summary.h"
#include "pipelines/timings/timings.h"
#include "src/cli/options.h"

/// Files that are written beside the frames of a stream.
namespace equalux::cli {

/// What --timings, --summary and --verify ask for, of one stream.
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

/// The file of --curve-to. Created at once, so that a folder that is missing is told before the
/// first frame; there under its name only once it is written. One thread at a time.
class CurveFile {
 public:
  /// Does nothing for an empty path. Throws Error(cannot_create).
  explicit CurveFile(const std::string& path);

  /// The curves of a clip; nothing where it has none.
  void add(const std::optional<CurveSum>& clip);
  /// Writes the mean of all. Where there was no frame there is none: says so, and leaves no file.
  /// Throws Error(write_failed).
  void finish();

 private:
  std::optional<PartialFile> file_;
  CurveSum sum_;
};

}  // namespace equalux::cli
