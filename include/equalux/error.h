#pragma once

#include <stdexcept>
#include <string>

/// Errors of the library and the exit codes of the program.
namespace equalux {

/// Exit codes of the program. Every Error carries one, so that no second table maps errors to
/// codes.
enum class ExitCode : int {
  done = 0,
  usage = 2,           ///< wrong usage or parameter, an unknown name, output = input
  partial = 3,         ///< the output holds fewer frames than the input promised
  bad_input = 65,      ///< the input cannot be decoded
  no_input = 66,       ///< an input, camera or device node is missing
  unavailable = 69,    ///< exists, but cannot be used here: backend, plugin, display, driver
  cannot_create = 73,  ///< the output cannot be created
  write_failed = 74,   ///< writing the output failed
  interrupted = 130,   ///< stopped by SIGINT; the output is closed and playable
  terminated = 143,    ///< stopped by SIGTERM; the output is closed and playable
};

/// Error with a one-line message: the file or option, what is wrong, what would be right.
///
/// The library throws nothing else for wrong input. Programs turn it into an exit code, and plugins
/// into an error of their host, in one place.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

  [[nodiscard]] ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

}  // namespace equalux
