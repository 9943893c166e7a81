#pragma once

#include <map>
#include <string>

#include <sys/types.h>

#include "tests/support/temp_folder.h"

/// A PipeWire of the test's own, which nobody else reaches and which reaches no device.
namespace equalux::test {

/// A session bus, a daemon and a session manager, which end with this object, and with the thread
/// that started them.
class PrivateDaemon {
 public:
  /// What is not installed of what it needs; empty where all is there.
  [[nodiscard]] static std::string missing();

  /// Starts all three and points XDG_RUNTIME_DIR of this process, and of those that it starts, at
  /// them. Throws std::runtime_error.
  PrivateDaemon();
  ~PrivateDaemon();
  PrivateDaemon(const PrivateDaemon&) = delete;
  PrivateDaemon& operator=(const PrivateDaemon&) = delete;

  /// Kills the daemon, with which the session manager ends.
  void kill();
  /// Starts both again.
  void start();
  /// The daemon alone, which connects nobody with anybody.
  void start_without_manager();

  /// CPU time of the daemon so far, in seconds.
  [[nodiscard]] double cpu_seconds() const;

 private:
  void launch(const std::string& program, const std::string& arguments = "");
  void end(const std::string& program);

  TempFolder folder_;
  std::map<std::string, pid_t> running_;
};

/// CPU time of a process so far, in seconds.
[[nodiscard]] double cpu_seconds_of(pid_t process);

}  // namespace equalux::test
