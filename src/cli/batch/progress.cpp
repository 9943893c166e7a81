#include "src/cli/batch/progress.h"

#include <algorithm>
#include <cstdio>

#include <sys/ioctl.h>
#include <unistd.h>

#include "src/cli/stream/progress_line.h"
#include "src/common/log.h"
#include "src/common/utf8.h"

namespace equalux::cli {
namespace {

constexpr double kJsonEveryS = 0.5;
constexpr std::size_t kUsualColumns = 80;

std::string percent(double fraction) {
  return std::to_string(static_cast<int>(100 * fraction)) + " %";
}

std::size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualColumns;
  return size.ws_col;
}

}  // namespace

BatchProgress::BatchProgress(const std::vector<std::size_t>& jobs, std::vector<double> weights,
                             const CommonOptions& options)
    : files_(jobs.size()),
      weights_(std::move(weights)),
      json_(options.progress == "json"),
      quiet_(options.quiet),
      terminal_(::isatty(STDERR_FILENO) == 1),
      next_plain_s_(kPlainEveryS) {
  for (const std::size_t job : jobs)
    all_ += weights_.at(job);
}

BatchProgress::Running* BatchProgress::find(std::size_t job) {
  const auto found = std::find_if(running_.begin(), running_.end(),
                                  [job](const Running& entry) { return entry.job == job; });
  return found == running_.end() ? nullptr : &*found;
}

void BatchProgress::end_of(std::size_t job) {
  std::erase_if(running_, [job](const Running& entry) { return entry.job == job; });
}

void BatchProgress::start(std::size_t job, const std::string& name) {
  end_of(job);
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
  end_of(job);
  done_ += weights_.at(job);
  ++ended_;
}

void BatchProgress::put_off(std::size_t job) {
  end_of(job);
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
  char speed[32];
  std::snprintf(speed, sizeof speed, ", %.1f fps", fps);
  std::string text = std::to_string(ended_) + " of " + std::to_string(files_) + " files, " +
                     percent(fraction()) + speed;
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
  if (!json_) return;
  print_progress({{"state", "ended"},
                  {"file", ended_},
                  {"files", files_},
                  {"elapsed_s", milliseconds(Clock::now() - start_) / 1000},
                  {"exit_code", static_cast<int>(code)}});
}

void BatchProgress::tick() {
  const double elapsed_s = milliseconds(Clock::now() - start_) / 1000;
  if (json_) {
    if (elapsed_s < next_json_s_) return;
    next_json_s_ = elapsed_s + kJsonEveryS;
    print_progress(json(elapsed_s));
    return;
  }
  if (quiet_) return;
  if (terminal_) {
    // A letter has at least as many bytes as columns.
    const std::string line(beginning_of(text(elapsed_s), terminal_columns() - 1));
    std::fprintf(stderr, "\r%s\x1b[K", line.c_str());
    std::fflush(stderr);
    shown_ = true;
  } else if (elapsed_s >= next_plain_s_) {
    std::fprintf(stderr, "equalux: %s\n", text(elapsed_s).c_str());
    while (next_plain_s_ <= elapsed_s)
      next_plain_s_ += kPlainEveryS;
  }
}

void BatchProgress::clear() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace equalux::cli
