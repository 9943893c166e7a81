#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/cli/batch/options.h"
#include "src/cli/batch/plan.h"

/// What a batch tells of itself: a line and a table on stderr, report.json, a contact sheet.
namespace equalux::cli {

/// A job and what became of it; nothing where the batch ended before it began.
struct Outcome {
  BatchJob job;
  std::optional<FileResult> result;
  std::string place;  ///< where it ran
};

/// The closing table.
[[nodiscard]] std::string batch_table(const std::vector<Outcome>& outcomes);

/// A line for each kind of thing that folders held and the batch left alone; empty where there was
/// none.
[[nodiscard]] std::string left_out_text(const BatchPlan& plan);

/// The text of report.json.
[[nodiscard]] std::string batch_report(const std::vector<Outcome>& outcomes,
                                       const BatchOptions& options, double elapsed_s,
                                       const BatchPlan& plan = {});

/// What a batch with these outcomes exits with.
[[nodiscard]] ExitCode batch_exit_code(const std::vector<Outcome>& outcomes, int signal);

/// The stills of the outcomes, before and after, as a PNG. False where there are none, or this
/// build writes no PNG. Throws Error(cannot_create, write_failed).
bool write_contact_sheet(const std::string& path, const std::vector<Outcome>& outcomes,
                         const std::string& out);

/// "report.json", or "report-3-of-16.json" for a shard.
[[nodiscard]] std::string shard_name(const std::string& stem, const std::string& extension,
                                     const Shard& shard);

/// How far a batch is, for a line on stderr.
class BatchProgress {
 public:
  /// `weights`: the size of each file of the batch, in any unit; by the plan's numbers.
  BatchProgress(const std::vector<std::size_t>& jobs, std::vector<double> weights,
                const CommonOptions& options);
  ~BatchProgress() { clear(); }
  BatchProgress(const BatchProgress&) = delete;
  BatchProgress& operator=(const BatchProgress&) = delete;

  void start(std::size_t job, const std::string& name);
  void news(const nlohmann::json& message);
  void end(std::size_t job);
  /// Shows the line, where it is time to.
  void tick();
  /// The last line for programs.
  void finish(ExitCode code) const;
  /// Takes it off a terminal, so that other text can follow.
  void clear();

  /// "3 of 12 files, 25 %, 120.0 fps, 1:10 left; a.mkv 40 %, b.mkv 12 %"
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
  void end_of(std::size_t job);

  std::size_t files_ = 0;
  std::vector<double> weights_;
  double all_ = 0;
  double done_ = 0;  // of all_
  std::size_t ended_ = 0;
  std::vector<Running> running_;
  bool json_;
  bool quiet_;
  double next_json_s_ = 0;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point start_ = Clock::now();
  double next_plain_s_;
};

}  // namespace equalux::cli
