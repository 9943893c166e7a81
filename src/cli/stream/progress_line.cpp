#include "src/cli/stream/progress_line.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "src/common/json_text.h"
#include "src/common/log.h"
#include "src/common/status_line.h"

namespace equalux::cli {
namespace {

constexpr double kTerminalAfterS = 1.0;

template <typename... Values>
std::string formatted(const char* format, Values... values) {
  char text[128];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

}  // namespace

std::string clock_text(double seconds) {
  const long long total = std::llround(seconds);
  if (total < 3600) return formatted("%lld:%02lld", total / 60, total % 60);
  return formatted("%lld:%02lld:%02lld", total / 3600, total / 60 % 60, total % 60);
}

std::string progress_text(const RunProgress& progress) {
  std::string text;
  if (progress.fraction) text += formatted("%.0f %%, ", 100 * *progress.fraction);
  text += "frame " + std::to_string(progress.frames);
  if (progress.expected) text += " of " + std::to_string(*progress.expected);
  text += formatted(", %.1f fps", progress.fps);
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

ProgressLine::ProgressLine(const CommonOptions& options, std::string label)
    : json_(options.progress == "json"),
      quiet_(options.quiet),
      terminal_(::isatty(STDERR_FILENO) == 1),
      next_plain_s_(kPlainEveryS),
      label_(printable(label)) {}

void ProgressLine::end(std::uint64_t frames, double elapsed_s, ExitCode code) {
  if (!json_) return;
  print_progress({{"state", "ended"},
                  {"frame", frames},
                  {"elapsed_s", elapsed_s},
                  {"exit_code", static_cast<int>(code)}});
}

void ProgressLine::update(const RunProgress& progress) {
  if (json_) {
    nlohmann::ordered_json now{{"state", "running"}, {"frame", progress.frames}};
    if (progress.expected) now["frames"] = *progress.expected;
    if (progress.fraction) now["fraction"] = *progress.fraction;
    now["fps"] = progress.fps;
    now["elapsed_s"] = progress.elapsed_s;
    if (progress.fraction && *progress.fraction > 0) {
      now["left_s"] = progress.elapsed_s * (1 - *progress.fraction) / *progress.fraction;
    }
    print_progress(now);
    return;
  }
  if (quiet_) return;
  if (terminal_) {
    if (progress.elapsed_s < kTerminalAfterS) return;
    show_status(label_ + progress_text(progress));
    shown_ = true;
  } else if (progress.elapsed_s >= next_plain_s_) {
    std::fprintf(stderr, "equalux: %s%s\n", label_.c_str(), progress_text(progress).c_str());
    while (next_plain_s_ <= progress.elapsed_s)
      next_plain_s_ += kPlainEveryS;
  }
}

void ProgressLine::clear() {
  if (!shown_) return;
  show_status("");
  shown_ = false;
}

}  // namespace equalux::cli
