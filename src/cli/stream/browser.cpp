#include "src/cli/stream/browser.h"

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/cli/signals.h"

namespace equalux::cli {
namespace {

constexpr std::chrono::milliseconds kNextWatch{100};
/// A newly started browser reads its profile before it loads the page.
constexpr std::chrono::seconds kLongestOpening{60};

/// Starts xdg-open in a session of its own, so that Ctrl-C does not end a browser that it becomes.
pid_t start_opener(const std::string& url) {
  std::string program = "xdg-open";
  std::string address = url;
  char* const arguments[] = {program.data(), address.data(), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  // Browsers' own messages do not belong on this terminal.
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  sigset_t all;
  sigfillset(&all);
  posix_spawnattr_setsigdefault(&attributes, &all);
  pid_t opener = -1;
  const int failure =
      ::posix_spawnp(&opener, program.c_str(), &files, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failure != 0) {
    throw Error(
        ExitCode::unavailable,
        "--open needs xdg-open (Debian: xdg-utils), which is not installed; must be without "
        "it, and a browser at the address that is printed");
  }
  return opener;
}

}  // namespace

Browser::Browser(const std::string& url, const PageServer& page) : page_(page) {
  const pid_t opener = start_opener(url);
  thread_ = std::thread([this, opener] { watch(opener); });
}

Browser::~Browser() {
  over_ = true;
  thread_.join();
}

ExitCode Browser::ending(ExitCode code) const {
  if (found_ == Found::no_browser) {
    throw Error(ExitCode::unavailable,
                "--open: no browser came to the page; must be one that xdg-open starts");
  }
  return found_ == Found::closed ? ExitCode::done : code;
}

void Browser::watch(int opener) {
  const auto end = std::chrono::steady_clock::now() + kLongestOpening;
  bool visited = false;
  bool failed = false;
  while (!over_) {
    int status = 0;
    // xdg-open may become the browser and run longer than the page: do not wait for its end.
    if (opener > 0 && ::waitpid(opener, &status, WNOHANG) == opener) {
      opener = -1;
      failed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    visited = visited || page_.is_visited();
    if (visited ? page_.is_left() : failed || std::chrono::steady_clock::now() >= end) {
      found_ = visited ? Found::closed : Found::no_browser;
      stop_token().signal = SIGINT;
      return;
    }
    std::this_thread::sleep_for(kNextWatch);
  }
}

}  // namespace equalux::cli
