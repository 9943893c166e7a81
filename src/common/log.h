#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/common/formatting.h"

namespace spdlog {
class logger;
}

/// Log of the program, on stderr only, so that it never mixes with frames on stdout.
namespace equalux {

enum class LogLevel { trace, debug, info, warn, error, off };

/// Escapes control characters, which a terminal would obey, as \n, \t or \x1b. Names of files, tags
/// and messages of libraries may contain them.
[[nodiscard]] std::string printable(std::string_view text);

/// Returns a count with its noun: "1 frame", "2 frames".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view what);

/// Logger. Every line is printable(). Thread-safe except for send_to(). Writing never throws: a
/// line that cannot be written is lost.
class Logger {
 public:
  /// Receiver of lines in place of stderr.
  using Sink = std::function<void(LogLevel, std::string_view line)>;

  [[nodiscard]] bool writes(LogLevel level) const noexcept;
  /// Writes a line without formatting.
  void write(LogLevel level, std::string_view line) noexcept;

  template <typename... Args>
  void debug(fmt::format_string<Args...> text, Args&&... args) noexcept {
    format(LogLevel::debug, text, fmt::make_format_args(args...));
  }
  template <typename... Args>
  void info(fmt::format_string<Args...> text, Args&&... args) noexcept {
    format(LogLevel::info, text, fmt::make_format_args(args...));
  }
  template <typename... Args>
  void warn(fmt::format_string<Args...> text, Args&&... args) noexcept {
    format(LogLevel::warn, text, fmt::make_format_args(args...));
  }
  template <typename... Args>
  void error(fmt::format_string<Args...> text, Args&&... args) noexcept {
    format(LogLevel::error, text, fmt::make_format_args(args...));
  }

  /// Replaces `secret` by `shown` in every later line, also in messages of libraries. An empty
  /// secret hides nothing. Thread-safe.
  void hide(std::string secret, std::string shown);
  /// Returns `text` with secrets replaced, for output past the log.
  [[nodiscard]] std::string without_secrets(std::string text) const;

  /// Sends lines to a sink, in a process whose log another one shows. With an empty sink they are
  /// lost.
  void send_to(Sink sink);
  void set_level(LogLevel level);

 private:
  friend Logger& logger();
  Logger();
  void format(LogLevel level, fmt::string_view text, fmt::format_args args) noexcept;

  std::shared_ptr<spdlog::logger> lines_;
  mutable std::mutex secrets_mutex_;
  std::vector<std::pair<std::string, std::string>> secrets_;  // with replacements, longest first
};

/// Returns the logger. Before set_up_logging() it writes warnings and errors.
Logger& logger();

/// Makes the program's logger that of this copy of the code; for modules. Call it before any thread
/// writes.
void share_logger(Logger& of_program) noexcept;

/// Sets the level by name (trace, debug, info, warn, error, off). Throws Error(usage) for others.
void set_up_logging(std::string_view level);

}  // namespace equalux
