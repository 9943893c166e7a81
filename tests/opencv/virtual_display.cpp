#include "tests/opencv/virtual_display.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#ifdef EQUALUX_HAVE_X11
#include <X11/Xlib.h>
#endif

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace equalux::test {
namespace {

constexpr int kStartMs = 20'000;
// A server is asked to end every 200 ms, for 10 s.
constexpr int kAskedToEnd = 50;
constexpr int kSlices = 20;
constexpr std::chrono::milliseconds kSlice{10};

/// The display number that the server writes once it listens; empty where it does not.
std::string read_number(int fd) {
  std::string text;
  while (text.find('\n') == std::string::npos) {
    pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, kStartMs) <= 0) return {};
    std::array<char, 16> part{};
    const ssize_t got = ::read(fd, part.data(), part.size());
    if (got <= 0) return {};
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  return text.substr(0, text.find('\n'));
}

}  // namespace

VirtualDisplay::VirtualDisplay() {
  std::array<int, 2> number{};
  if (::pipe(number.data()) != 0) return;
  server_ = ::fork();
  if (server_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::close(number[0]);
    const int nowhere = ::open("/dev/null", O_RDWR);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    const std::string fd = std::to_string(number[1]);
    ::execlp("Xvfb", "Xvfb", "-displayfd", fd.c_str(), "-screen", "0", "1280x800x24", "-nolisten",
             "tcp", static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(number[1]);
  const std::string display = read_number(number[0]);
  ::close(number[0]);
  if (!display.empty()) name_ = ":" + display;
}

VirtualDisplay::~VirtualDisplay() {
  // Xvfb forgets a SIGTERM that comes after it has written its number and before it listens.
  for (int asked = 0; server_ > 0 && asked < kAskedToEnd; ++asked) {
    ::kill(server_, SIGTERM);
    for (int slice = 0; slice < kSlices; ++slice) {
      if (::waitpid(server_, nullptr, WNOHANG) != 0) {
        server_ = -1;
        return;
      }
      std::this_thread::sleep_for(kSlice);
    }
  }
  kill();
}

void VirtualDisplay::kill() {
  if (server_ <= 0) return;
  ::kill(server_, SIGKILL);
  ::waitpid(server_, nullptr, 0);
  server_ = -1;
}

#ifdef EQUALUX_HAVE_X11
bool ask_to_close(unsigned long window) {
  Display* const display = XOpenDisplay(nullptr);
  if (display == nullptr) return false;
  XEvent event{};
  event.xclient.type = ClientMessage;
  event.xclient.window = window;
  event.xclient.message_type = XInternAtom(display, "WM_PROTOCOLS", False);
  event.xclient.format = 32;
  event.xclient.data.l[0] = static_cast<long>(XInternAtom(display, "WM_DELETE_WINDOW", False));
  event.xclient.data.l[1] = CurrentTime;
  const bool sent = XSendEvent(display, window, False, NoEventMask, &event) != 0;
  XCloseDisplay(display);
  return sent;
}
#else
bool ask_to_close(unsigned long window) {
  static_cast<void>(window);
  return false;
}
#endif

unsigned long find_window(const std::string& title) {
  const std::string command = "xdotool search --onlyvisible --name '^" + title + "' 2>/dev/null";
  FILE* const answer = ::popen(command.c_str(), "r");
  if (answer == nullptr) return 0;
  unsigned long window = 0;
  if (std::fscanf(answer, "%lu", &window) != 1) window = 0;
  ::pclose(answer);
  return window;
}

int run_quietly(const std::string& command) {
  const int status = std::system((command + " >/dev/null 2>&1").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

}  // namespace equalux::test
