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

/// The program's log: stderr only, so that frames on stdout are never mixed with it.
namespace equalux {

enum class LogLevel { trace, debug, info, warn, error, off };

/// `text` as a terminal may show it: control characters, which it would obey, become \n, \t or
/// \x1b. Names of files, tags and texts of libraries hold any.
[[nodiscard]] std::string printable(std::string_view text);

/// "1 frame", "2 frames"
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view what);

/// Every line is printable(). Thread-safe, but for send_to(). Writing never throws: a line that
/// cannot be written is lost.
class Logger {
 public:
  /// Where lines go in place of stderr.
  using Sink = std::function<void(LogLevel, std::string_view line)>;

  [[nodiscard]] bool writes(LogLevel level) const noexcept;
  /// A line as it is.
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

  /// From now on every line has `shown` wherever `secret` stands, also in what libraries say.
  /// Nothing is hidden for an empty one. Thread-safe.
  void hide(std::string secret, std::string shown);
  /// `text` as lines have it, for what is written past the log.
  [[nodiscard]] std::string without_secrets(std::string text) const;

  /// Sends lines to a sink, in a process whose log another one shows. Without one they are lost.
  void send_to(Sink sink);
  void set_level(LogLevel level);

 private:
  friend Logger& logger();
  Logger();
  void format(LogLevel level, fmt::string_view text, fmt::format_args args) noexcept;

  std::shared_ptr<spdlog::logger> lines_;
  mutable std::mutex secrets_mutex_;
  std::vector<std::pair<std::string, std::string>> secrets_;  // and what is shown, longest first
};

/// The one logger. Usable before set_up_logging(): warnings and above then.
Logger& logger();

/// Makes another copy's of this code the one logger; for modules, which write to the program's.
/// Before any thread writes.
void share_logger(Logger& of_program) noexcept;

/// Level by name (trace, debug, info, warn, error, off). Throws Error(usage) for another one.
void set_up_logging(std::string_view level);

}  // namespace equalux
