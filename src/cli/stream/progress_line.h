#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "pipelines/core/run.h"
#include "src/cli/options.h"

/// Progress on stderr: one line that is rewritten on a terminal, a line every ten seconds else; or,
/// for programs, a JSON object a line.
namespace equalux::cli {

/// Seconds between lines where there is no terminal.
inline constexpr double kPlainEveryS = 10;

class ProgressLine {
 public:
  /// `label` starts the line, as the file of a batch; may be empty.
  ProgressLine(const CommonOptions& options, std::string label);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void update(const RunProgress& progress);
  /// The last line for programs: what came of it.
  void end(std::uint64_t frames, double elapsed_s, ExitCode code);
  /// Takes the line off the terminal, so that other text can follow.
  void clear();

 private:
  bool json_;
  bool quiet_;
  bool terminal_;
  bool shown_ = false;
  double next_plain_s_;
  std::string label_;
};

/// "42 %, frame 1234 of 3000, 51.3 fps, 0:35 left"
[[nodiscard]] std::string progress_text(const RunProgress& progress);

/// Writes it to stderr, in one line.
void print_progress(const nlohmann::ordered_json& progress);

/// Seconds as "1:02:03" or "2:03".
[[nodiscard]] std::string clock_text(double seconds);

}  // namespace equalux::cli
