#include "src/cli/stream/progress_line.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include <nlohmann/json.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

#include "src/common/formatting.h"
#include "src/common/json_text.h"
#include "src/common/log.h"
#include "src/common/status_line.h"
#include "src/common/utf8.h"

namespace equalux::cli {
namespace {

constexpr double kTerminalAfterS = 1.0;
/// Seconds between lines without a terminal.
constexpr double kPlainEveryS = 10;
constexpr std::size_t kUsualColumns = 80;

std::size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualColumns;
  return size.ws_col;
}

}  // namespace

std::string clock_text(double seconds) {
  const long long total = std::llround(seconds);
  if (total < 3600) return fmt::format("{}:{:02}", total / 60, total % 60);
  return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
}

std::string progress_text(const RunProgress& progress) {
  std::string text;
  if (progress.fraction) text += fmt::format("{:.0f} %, ", 100 * *progress.fraction);
  text += "frame " + std::to_string(progress.frames);
  if (progress.expected) text += " of " + std::to_string(*progress.expected);
  text += fmt::format(", {:.1f} fps", progress.fps);
  if (progress.fraction && *progress.fraction > 0) {
    const double left = progress.elapsed_s * (1 - *progress.fraction) / *progress.fraction;
    text += ", " + clock_text(left) + " left";
  }
  return text;
}

void print_progress(const nlohmann::ordered_json& progress) {
  std::fprintf(stderr, "%s\n", json_text(progress).c_str());
  std::fflush(stderr);
}

ProgressOutput::ProgressOutput(const CommonOptions& options)
    : json_(options.progress == "json"),
      quiet_(options.quiet),
      terminal_(::isatty(STDERR_FILENO) == 1),
      next_plain_s_(kPlainEveryS) {}

void ProgressOutput::show(const std::string& text, double elapsed_s) {
  if (quiet_) return;
  if (terminal_) {
    if (elapsed_s < kTerminalAfterS) return;
    // A letter has at least as many bytes as columns.
    show_status(std::string(beginning_of(text, terminal_columns() - 1)));
    shown_ = true;
  } else if (elapsed_s >= next_plain_s_) {
    std::fprintf(stderr, "equalux: %s\n", text.c_str());
    while (next_plain_s_ <= elapsed_s)
      next_plain_s_ += kPlainEveryS;
  }
}

void ProgressOutput::clear() {
  if (!shown_) return;
  show_status("");
  shown_ = false;
}

ProgressLine::ProgressLine(const CommonOptions& options, std::string label)
    : output_(options), label_(printable(label)) {}

void ProgressLine::end(std::uint64_t frames, double elapsed_s, ExitCode code) {
  if (!output_.is_json()) return;
  print_progress({{"state", "ended"},
                  {"frame", frames},
                  {"elapsed_s", elapsed_s},
                  {"exit_code", static_cast<int>(code)}});
}

void ProgressLine::update(const RunProgress& progress) {
  if (!output_.is_json()) {
    output_.show(label_ + progress_text(progress), progress.elapsed_s);
    return;
  }
  nlohmann::ordered_json now{{"state", "running"}, {"frame", progress.frames}};
  if (progress.expected) now["frames"] = *progress.expected;
  if (progress.fraction) now["fraction"] = *progress.fraction;
  now["fps"] = progress.fps;
  now["elapsed_s"] = progress.elapsed_s;
  if (progress.fraction && *progress.fraction > 0) {
    now["left_s"] = progress.elapsed_s * (1 - *progress.fraction) / *progress.fraction;
  }
  print_progress(now);
}

}  // namespace equalux::cli
