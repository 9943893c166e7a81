#pragma once

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pipelines/pipewire/daemon_state.h"

/// Programs that are cameras or look at them, beside a test.
namespace equalux::test {

/// A program beside this test, until it goes.
class Companion {
 public:
  Companion(const std::string& program, const std::vector<std::string>& arguments) {
    std::vector<char*> words{const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments)
      words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    process_ = ::fork();
    if (process_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::execv(program.c_str(), words.data());
    ::_exit(127);
  }
  ~Companion() {
    if (process_ < 0) return;
    signal(SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;

  void signal(int number) const { ::kill(process_, number); }
  [[nodiscard]] pid_t process() const { return process_; }
  /// Ends it with SIGTERM and waits until it has gone.
  void end() {
    signal(SIGTERM);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
  }

 private:
  pid_t process_ = -1;
};

inline std::optional<PipewireCamera> listed(const std::string& name) {
  for (const PipewireCamera& camera : look_at_pipewire().cameras)
    if (camera.name == name) return camera;
  return std::nullopt;
}

/// True once programs see it, or no longer do.
inline bool await_camera(const std::string& name, bool there = true) {
  for (int i = 0; i < 1000; ++i) {
    if (listed(name).has_value() == there) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

}  // namespace equalux::test
