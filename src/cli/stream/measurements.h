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

/// Files of --timings, --summary and --verify for one stream.
class Measurements {
 public:
  /// Makes the files' writer; `resumed`: hashes are appended to an existing file.
  explicit Measurements(const CommonOptions& options, bool resumed = false)
      : options_(options), resumed_(resumed) {}

  /// Creates the files, for frames of `info`. Throws Error(cannot_create).
  void open(const StreamInfo& info);
  /// Adds a frame that has passed the sink, with its times. One thread at a time.
  void add_frame(const Frame& frame);
  /// Adds a filtered frame, before the sink. One thread at a time.
  void add_result(const Frame& frame);
  /// Returns the size of the file of hashes so far, after a flush to the system; 0 where there is
  /// none. Throws Error(write_failed).
  [[nodiscard]] std::uint64_t hash_bytes();
  /// Closes the files. Throws Error(write_failed).
  void finish();

  /// Returns the closing table: counts, throughput, and percentiles of every measured stage.
  [[nodiscard]] std::string table(const RunResult& result) const { return summary_.table(result); }

 private:
  const CommonOptions& options_;
  const bool resumed_;
  TimingSummary summary_;
  std::optional<TimingsWriter> timings_;
  std::optional<FrameHashWriter> hashes_;
};

/// File of --curve-to. It is created at once, so that a missing folder is reported before the first
/// frame, and gets its name once it is complete. One thread at a time.
class CurveFile {
 public:
  /// Creates the file; does nothing for an empty path. Throws Error(cannot_create).
  explicit CurveFile(const std::string& path);

  /// Adds the curves of a clip; nothing where it has none.
  void add(const std::optional<CurveSum>& clip);
  /// Writes the mean of all curves. Without any frame it warns and leaves no file. Throws
  /// Error(write_failed).
  void finish();

 private:
  std::optional<PartialFile> file_;
  CurveSum sum_;
};

}  // namespace equalux::cli
