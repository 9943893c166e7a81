#include "src/cli/signals.h"

#include <csignal>

#include <fcntl.h>
#include <unistd.h>

namespace equalux::cli {
namespace {

extern "C" void on_signal(int number) {
  int none = 0;
  if (!stop_token().signal.compare_exchange_strong(none, number)) {
    ::_exit(kSignalExitBase + number);
  }
}

extern "C" void on_signal_patiently(int number) {
  int none = 0;
  stop_token().signal.compare_exchange_strong(none, number);
}

/// A terminal that was closed ends the run as SIGTERM does. Shells pass the signal on as well, so
/// that it comes more than once.
extern "C" void on_hangup(int) {
  on_signal_patiently(SIGTERM);
}

void handle_with(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  // System calls restart: libraries below do not expect EINTR.
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction inherited {};
  sigaction(SIGHUP, nullptr, &inherited);
  if (inherited.sa_handler == SIG_IGN) return;  // nohup: the run outlives its terminal
  action.sa_handler = on_hangup;
  sigaction(SIGHUP, &action, nullptr);
}

}  // namespace

StopToken& stop_token() {
  static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");
  static constinit StopToken token;
  return token;
}

void catch_signals() {
  handle_with(on_signal);
}

void catch_signals_patiently() {
  handle_with(on_signal_patiently);
}

void hold_standard_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(number, F_GETFD) >= 0) continue;
    // open() takes the lowest free number, which is this one; the wrong direction makes each use
    // fail.
    static_cast<void>(::open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

void ignore_write_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace equalux::cli
