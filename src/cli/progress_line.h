#pragma once

#include <string>

#include "run.h"

/// Progress on stderr: one line that is rewritten on a terminal, a line every ten seconds else.
namespace equalux::cli {

class ProgressLine {
 public:
  /// `label` starts the line, as the file of a batch; may be empty.
  ProgressLine(bool quiet, std::string label);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void update(const RunProgress& progress);
  /// Takes the line off the terminal, so that other text can follow.
  void clear();

 private:
  bool quiet_;
  bool terminal_;
  bool shown_ = false;
  double next_plain_s_;
  std::string label_;
};

/// "42 %, frame 1234 of 3000, 51.3 fps, 0:35 left"
[[nodiscard]] std::string progress_text(const RunProgress& progress);

/// Seconds as "1:02:03" or "2:03".
[[nodiscard]] std::string clock_text(double seconds);

}  // namespace equalux::cli
