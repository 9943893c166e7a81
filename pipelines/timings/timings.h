#pragma once

#include <string>

#include "pipelines/core/frame.h"
#include "pipelines/core/text_file.h"

/// A frame's timings as text: one JSON object per line, and a line for the log.
namespace equalux {

/// Appends {"index","pts_ns","capture_ms","queue_ms","upload_ms","stages":{...},"download_ms",
/// "sink_ms","latency_ms","dropped_before","reconnects","late","placeholder"} without a newline.
/// What was not measured is absent, and so are the last three where they are 0 or false.
/// Stages of the same name (two filters of a kind) are summed.
void append_timings_json(std::string& out, const Frame& frame);

/// Writes `--timings FILE.jsonl`. One thread at a time; for RunOptions::on_frame.
class TimingsWriter {
 public:
  /// Throws Error(cannot_create).
  explicit TimingsWriter(const std::string& path) : file_(path) {}

  /// Throws Error(write_failed).
  void write(const Frame& frame);
  void finish() { file_.finish(); }

 private:
  TextFile file_;
  std::string line_;
};

/// Logs one line at debug level; nothing is formatted at other levels.
void log_timings(const Frame& frame);

}  // namespace equalux
