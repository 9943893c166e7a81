#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "pipelines/core/frame.h"
#include "src/cli/stream/progress_line.h"

namespace equalux::cli {

/// Progress of a batch, shown as a line on stderr.
class BatchProgress {
 public:
  /// Makes the progress; `weights` are the sizes of files in any unit, by index in the plan.
  BatchProgress(const std::vector<std::size_t>& jobs, std::vector<double> weights,
                const CommonOptions& options);
  void start(std::size_t job, const std::string& name);
  void news(const nlohmann::json& message);
  void end(std::size_t job);
  /// Takes a file back that is begun again later.
  void put_off(std::size_t job);
  /// Updates the line if it is due.
  void tick();
  /// Prints the final object for --progress json.
  void finish(ExitCode code) const;
  /// Clears the line from a terminal, so that text past the log can follow.
  void clear() { output_.clear(); }

  /// Returns "3 of 12 files, 25 %, 120.0 fps, 1:10 left; a.mkv 40 %, b.mkv 12 %".
  [[nodiscard]] std::string text(double elapsed_s) const;

 private:
  struct Running {
    std::size_t job = 0;
    std::string name;
    std::string phase;
    double fraction = 0;
    double fps = 0;
  };
  [[nodiscard]] double fraction() const;
  [[nodiscard]] nlohmann::ordered_json json(double elapsed_s) const;
  Running* find(std::size_t job);

  std::size_t files_ = 0;
  std::vector<double> weights_;
  double all_ = 0;
  double done_ = 0;  // of all_
  std::size_t ended_ = 0;
  std::vector<Running> running_;
  ProgressOutput output_;
  double next_json_s_ = 0;
  Clock::time_point start_ = Clock::now();
};

}  // namespace equalux::cli
