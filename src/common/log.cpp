#include "src/common/log.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>

#include <equalux/error.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "src/common/status_line.h"

namespace equalux {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  return static_cast<spdlog::level::level_enum>(level == LogLevel::off ? spdlog::level::off
                                                                       : static_cast<int>(level));
}

Logger* shared_logger = nullptr;

class CallbackSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit CallbackSink(Logger::Sink sink) : sink_(std::move(sink)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    sink_(static_cast<LogLevel>(message.level), {message.payload.data(), message.payload.size()});
  }
  void flush_() override {}

  Logger::Sink sink_;
};

/// Writes lines of the log to stderr. A status line makes room for them and comes again below.
/// Modules log through the program's sink, so that there is one status.
class TerminalSink final : public spdlog::sinks::ansicolor_stderr_sink_mt {
 public:
  void log(const spdlog::details::log_msg& message) override {
    const std::lock_guard lock(status_mutex_);
    if (!status_.empty()) std::fputs(kClear, stderr);
    spdlog::sinks::ansicolor_stderr_sink_mt::log(message);
    if (!status_.empty()) write_status();
  }
  void show_status(const std::string& text) {
    const std::lock_guard lock(status_mutex_);
    if (!status_.empty() || !text.empty()) std::fputs(kClear, stderr);
    status_ = text;
    write_status();
  }

 private:
  static constexpr const char* kClear = "\r\x1b[K";

  void write_status() {
    std::fputs(status_.c_str(), stderr);
    std::fflush(stderr);
  }

  std::mutex status_mutex_;
  std::string status_;
};

TerminalSink& terminal_sink() {
  static auto* const sink = new TerminalSink;  // a line may come while the program ends
  return *sink;
}

/// Returns the length in bytes of a control character at `at`, 0 if there is none: those of ASCII,
/// and U+0080 to U+009F.
std::size_t control_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  if (byte(at) < 0x20 || byte(at) == 0x7f) return 1;
  return byte(at) == 0xc2 && byte(at + 1) >= 0x80 && byte(at + 1) < 0xa0 ? 2 : 0;
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t control = control_at(text, at);
    if (control == 0) {
      shown += text[at++];
      continue;
    }
    if (text[at] == '\n' || text[at] == '\t') {
      shown += text[at] == '\n' ? "\\n" : "\\t";
    } else {
      const auto code = static_cast<unsigned char>(text[at + control - 1]);
      shown += {'\\', 'x', kDigits[code >> 4U], kDigits[code & 15U]};
    }
    at += control;
  }
  return shown;
}

std::string counted(std::uint64_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

void show_status(const std::string& text) {
  terminal_sink().show_status(text);
}

Logger::Logger()
    : lines_(std::make_shared<spdlog::logger>(
          "equalux", std::shared_ptr<TerminalSink>(&terminal_sink(), [](auto*) {}))) {
  set_level(LogLevel::warn);
}

bool Logger::writes(LogLevel level) const noexcept {
  return lines_->should_log(spdlog_level(level));
}

void Logger::write(LogLevel level, std::string_view line) noexcept {
  format(level, "{}", fmt::make_format_args(line));
}

void Logger::format(LogLevel level, fmt::string_view text, fmt::format_args args) noexcept {
  if (!writes(level)) return;
  try {
    lines_->log(spdlog_level(level), printable(without_secrets(fmt::vformat(text, args))));
  } catch (const std::exception&) {  // no memory; nothing may be thrown here
  }
}

void Logger::hide(std::string secret, std::string shown) {
  if (secret.empty()) return;
  const std::lock_guard lock(secrets_mutex_);
  // Longer secrets come first: of a secret that contains another, nothing may be left.
  const auto at = std::find_if(secrets_.begin(), secrets_.end(), [&](const auto& entry) {
    return entry.first == secret || entry.first.size() < secret.size();
  });
  if (at != secrets_.end() && at->first == secret) return;
  secrets_.emplace(at, std::move(secret), std::move(shown));
}

std::string Logger::without_secrets(std::string text) const {
  const std::lock_guard lock(secrets_mutex_);
  for (const auto& [secret, shown] : secrets_) {
    for (std::size_t at = 0; (at = text.find(secret, at)) != std::string::npos; at += shown.size())
      text.replace(at, secret.size(), shown);
  }
  return text;
}

void Logger::send_to(Sink sink) {
  lines_->sinks().clear();
  if (sink) lines_->sinks().push_back(std::make_shared<CallbackSink>(std::move(sink)));
}

void Logger::set_level(LogLevel level) {
  lines_->set_level(spdlog_level(level));
  // Only debug logs show times.
  lines_->set_pattern(level <= LogLevel::debug ? "%n %H:%M:%S.%e %t %l: %v" : "%n: %v");
}

Logger& logger() {
  if (shared_logger != nullptr) return *shared_logger;
  static Logger instance;
  return instance;
}

void share_logger(Logger& of_program) noexcept {
  shared_logger = &of_program;
}

void set_up_logging(std::string_view level) {
  static constexpr std::array<std::string_view, 6> kNames{"trace", "debug", "info",
                                                          "warn",  "error", "off"};
  const auto* const named = std::find(kNames.begin(), kNames.end(), level);
  if (named == kNames.end()) {
    throw Error(ExitCode::usage, "--log-level is '" + std::string(level) +
                                     "', must be trace, debug, info, warn, error or off");
  }
  logger().set_level(static_cast<LogLevel>(std::distance(kNames.begin(), named)));
}

}  // namespace equalux
