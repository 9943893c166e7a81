#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "pipelines/core/run.h"
#include "src/cli/options.h"

/// Progress on stderr: a line that is rewritten on a terminal, elsewhere a line every ten seconds;
/// or JSON, one object a line.
namespace equalux::cli {

/// Shows how far something is, as text.
class ProgressOutput {
 public:
  explicit ProgressOutput(const CommonOptions& options);
  ~ProgressOutput() { clear(); }
  ProgressOutput(const ProgressOutput&) = delete;
  ProgressOutput& operator=(const ProgressOutput&) = delete;

  /// Returns true where print_progress() is to be called in place of show().
  [[nodiscard]] bool is_json() const { return json_; }
  /// Shows a text if it is due so long after the start.
  void show(const std::string& text, double elapsed_s);
  /// Clears the line from the terminal, so that other text can follow.
  void clear();

 private:
  bool json_;
  bool quiet_;
  bool terminal_;
  bool shown_ = false;
  double next_plain_s_;
};

/// Progress of one stream.
class ProgressLine {
 public:
  /// Makes the line; `label` begins it, as the file of a batch, and may be empty.
  ProgressLine(const CommonOptions& options, std::string label);

  void update(const RunProgress& progress);
  /// Prints the final object of --progress json.
  void end(std::uint64_t frames, double elapsed_s, ExitCode code);
  /// Clears the line from the terminal, so that other text can follow.
  void clear() { output_.clear(); }

 private:
  ProgressOutput output_;
  std::string label_;
};

/// Returns "42 %, frame 1234 of 3000, 51.3 fps, 0:35 left".
[[nodiscard]] std::string progress_text(const RunProgress& progress);

/// Writes a JSON object to stderr, in one line.
void print_progress(const nlohmann::ordered_json& progress);

/// Returns seconds as "1:02:03" or "2:03".
[[nodiscard]] std::string clock_text(double seconds);

}  // namespace equalux::cli
