#include "src/cli/batch/progress.h"

#include <algorithm>

#include "src/common/formatting.h"
#include "src/common/log.h"

namespace equalux::cli {
namespace {

constexpr double kJsonEveryS = 0.5;

std::string percent(double fraction) {
  return std::to_string(static_cast<int>(100 * fraction)) + " %";
}

}  // namespace

BatchProgress::BatchProgress(const std::vector<std::size_t>& jobs, std::vector<double> weights,
                             const CommonOptions& options)
    : files_(jobs.size()), weights_(std::move(weights)), output_(options) {
  for (const std::size_t job : jobs)
    all_ += weights_.at(job);
}

BatchProgress::Running* BatchProgress::find(std::size_t job) {
  const auto found = std::find_if(running_.begin(), running_.end(),
                                  [job](const Running& entry) { return entry.job == job; });
  return found == running_.end() ? nullptr : &*found;
}

void BatchProgress::put_off(std::size_t job) {
  std::erase_if(running_, [job](const Running& entry) { return entry.job == job; });
}

void BatchProgress::start(std::size_t job, const std::string& name) {
  put_off(job);
  running_.push_back({job, name, "", 0, 0});
}

void BatchProgress::news(const nlohmann::json& message) {
  Running* entry = find(message.value("job", std::size_t{0}));
  if (entry == nullptr) return;
  entry->phase = message.value("text", "");
  entry->fraction = message.value("fraction", 0.0);
  entry->fps = message.value("fps", 0.0);
}

void BatchProgress::end(std::size_t job) {
  put_off(job);
  done_ += weights_.at(job);
  ++ended_;
}

double BatchProgress::fraction() const {
  double done = done_;
  for (const Running& entry : running_)
    done += entry.fraction * weights_.at(entry.job);
  return all_ > 0 ? std::clamp(done / all_, 0.0, 1.0) : 0;
}

std::string BatchProgress::text(double elapsed_s) const {
  double fps = 0;
  for (const Running& entry : running_)
    fps += entry.fps;
  std::string text =
      fmt::format("{} of {} files, {}, {:.1f} fps", ended_, files_, percent(fraction()), fps);
  if (const double done = fraction(); done > 0 && done < 1) {
    text += ", " + clock_text(elapsed_s * (1 - done) / done) + " left";
  }
  char separator = ';';
  for (const Running& entry : running_) {
    text += separator + (" " + printable(entry.name) + " ");
    text += entry.phase.empty() ? percent(entry.fraction) : entry.phase;
    separator = ',';
  }
  return text;
}

nlohmann::ordered_json BatchProgress::json(double elapsed_s) const {
  double fps = 0;
  nlohmann::ordered_json running = nlohmann::ordered_json::array();
  for (const Running& entry : running_) {
    fps += entry.fps;
    running.push_back({{"name", entry.name}, {"fraction", entry.fraction}, {"fps", entry.fps}});
    if (!entry.phase.empty()) running.back()["phase"] = entry.phase;
  }
  const double done = fraction();
  nlohmann::ordered_json now{{"state", "running"}, {"file", ended_}, {"files", files_},
                             {"fraction", done},   {"fps", fps},     {"elapsed_s", elapsed_s}};
  if (done > 0) now["left_s"] = elapsed_s * (1 - done) / done;
  now["running"] = std::move(running);
  return now;
}

void BatchProgress::finish(ExitCode code) const {
  if (!output_.is_json()) return;
  print_progress({{"state", "ended"},
                  {"file", ended_},
                  {"files", files_},
                  {"elapsed_s", milliseconds(Clock::now() - start_) / 1000},
                  {"exit_code", static_cast<int>(code)}});
}

void BatchProgress::tick() {
  const double elapsed_s = milliseconds(Clock::now() - start_) / 1000;
  if (!output_.is_json()) {
    output_.show(text(elapsed_s), elapsed_s);
  } else if (elapsed_s >= next_json_s_) {
    next_json_s_ = elapsed_s + kJsonEveryS;
    print_progress(json(elapsed_s));
  }
}

}  // namespace equalux::cli
