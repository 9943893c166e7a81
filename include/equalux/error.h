#pragma once

#include <stdexcept>
#include <string>

/// Errors of the library and the exit codes of the program.
namespace equalux {

/// What the program exits with. Every Error carries one, so that an error found anywhere ends in
/// the right code without a second table.
enum class ExitCode : int {
  done = 0,
  usage = 2,           ///< bad usage or parameter, a name unknown to us, output = input
  partial = 3,         ///< the output holds fewer frames than the input promised
  bad_input = 65,      ///< the input cannot be decoded
  no_input = 66,       ///< an input, camera or device node is missing
  unavailable = 69,    ///< known, but not usable here: backend, plugin, display, driver
  cannot_create = 73,  ///< the output cannot be created
  write_failed = 74,   ///< writing the output failed
  interrupted = 130,   ///< stopped by SIGINT; the output is closed and playable
  terminated = 143,    ///< stopped by SIGTERM; the output is closed and playable
};

/// One line that names the file or option, what is wrong and what would be right.
///
/// Thrown by everything in the library; turned into an exit code (or a GStreamer element error)
/// once, at the edge.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

  [[nodiscard]] ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

}  // namespace equalux
