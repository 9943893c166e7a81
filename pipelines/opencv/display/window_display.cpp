#include "pipelines/opencv/display/window_display.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <link.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifdef EQUALUX_HAVE_X11
#include <X11/Xlib.h>
#endif

#include <equalux/error.h>

#include "pipelines/files/descriptor_io.h"

namespace equalux {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool hung_up(int fd) {
  pollfd state{.fd = fd, .events = POLLRDHUP, .revents = 0};
  return ::poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR | POLLRDHUP)) != 0;
}

class SocketWatch final : public DisplayWatch {
 public:
  SocketWatch(std::string name, Descriptor socket)
      : DisplayWatch(std::move(name)), socket_(std::move(socket)) {}
  bool alive() override { return alive_ = alive_ && !hung_up(socket_.get()); }

 private:
  Descriptor socket_;
};

/// Returns a watch of the server that listens on a socket; null where none does.
std::unique_ptr<DisplayWatch> watch_socket(std::string name, const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return nullptr;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(socket.get(), generic, sizeof(address)) != 0) return nullptr;
  return std::make_unique<SocketWatch>(std::move(name), std::move(socket));
}

#ifdef EQUALUX_HAVE_X11

class X11Watch final : public DisplayWatch {
 public:
  X11Watch(std::string name, Display* display) : DisplayWatch(std::move(name)), display_(display) {
    const int screen = XDefaultScreen(display_);
    width_ = XDisplayWidth(display_, screen);
    height_ = XDisplayHeight(display_, screen);
  }
  ~X11Watch() override {
    // Closing talks to the server, and Xlib calls exit() where that does not answer.
    if (alive()) XCloseDisplay(display_);
  }
  X11Watch(const X11Watch&) = delete;
  X11Watch& operator=(const X11Watch&) = delete;
  bool alive() override { return alive_ = alive_ && !hung_up(XConnectionNumber(display_)); }

 private:
  Display* display_;
};

std::unique_ptr<DisplayWatch> open_x11(const std::string& display) {
  Display* const connection = XOpenDisplay(display.c_str());
  if (connection == nullptr) return nullptr;
  return std::make_unique<X11Watch>("DISPLAY=" + display, connection);
}

#else

/// Connects to an X server. Without Xlib only local servers can be checked, and not whether they
/// admit us.
std::unique_ptr<DisplayWatch> open_x11(const std::string& display) {
  if (!display.starts_with(':')) return nullptr;
  return watch_socket("DISPLAY=" + display,
                      "/tmp/.X11-unix/X" + display.substr(1, display.find('.') - 1));
}

#endif

std::unique_ptr<DisplayWatch> open_wayland(const std::string& display) {
  const fs::path socket = display.starts_with('/')
                              ? fs::path(display)
                              : fs::path(environment("XDG_RUNTIME_DIR")) / display;
  return watch_socket("WAYLAND_DISPLAY=" + display, socket.string());
}

/// Returns true where Qt, if highgui uses it, lacks its Wayland plugin: Qt then aborts.
bool toolkit_lacks_wayland() {
  std::string qt_folder;
  ::dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* found) {
        const fs::path path(library->dlpi_name);
        if (!path.filename().string().starts_with("libQt5Core.so")) return 0;
        *static_cast<std::string*>(found) = path.parent_path().string();
        return 1;
      },
      &qt_folder);
  if (qt_folder.empty()) return false;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(qt_folder + "/qt5/plugins/platforms", none))
    if (entry.path().filename().string().starts_with("libqwayland")) return false;
  return true;
}

/// Makes the toolkits take the display that we found; any other choice could end the process.
void tell_toolkits(const char* qt, const char* gtk) {
  ::setenv("QT_QPA_PLATFORM", qt, 1);
  ::setenv("GDK_BACKEND", gtk, 1);
  ::setenv("QT_LOGGING_RULES", "*.debug=false;*.info=false;*.warning=false", 0);
}

std::atomic<bool> in_highgui{false};

void say_why_at_exit() {
  if (!in_highgui) return;
  constexpr std::string_view kLine =
      "equalux: window: the display closed the connection; nothing more can be shown\n";
  if (::write(STDERR_FILENO, kLine.data(), kLine.size()) < 0) {
    // There is nobody left to tell.
  }
  ::_exit(static_cast<int>(ExitCode::write_failed));
}

}  // namespace

std::unique_ptr<DisplayWatch> open_display() {
  const std::string x11 = environment("DISPLAY");
  const std::string wayland = environment("WAYLAND_DISPLAY");
  if (x11.empty() && wayland.empty())
    throw Error(ExitCode::unavailable,
                "window: there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set); use "
                "-o FILE, or run it in a desktop session or with 'ssh -X'");
  if (!x11.empty()) {
    if (auto display = open_x11(x11)) {
      tell_toolkits("xcb", "x11");
      return display;
    }
  }
  if (!wayland.empty()) {
    if (auto display = open_wayland(wayland)) {
      if (toolkit_lacks_wayland())
        throw Error(ExitCode::unavailable,
                    "window: OpenCV's toolkit has no Wayland plugin; install qtwayland5, or start "
                    "Xwayland and set DISPLAY");
      tell_toolkits("wayland", "wayland");
      return display;
    }
  }
  throw Error(ExitCode::unavailable,
              "window: no display server answers on " +
                  (x11.empty() ? "WAYLAND_DISPLAY=" + wayland : "DISPLAY=" + x11) +
                  "; set it to a running one, or use -o FILE");
}

HighguiCall::HighguiCall() {
  static const bool registered = std::atexit(say_why_at_exit) == 0;
  static_cast<void>(registered);
  in_highgui = true;
}
HighguiCall::~HighguiCall() {
  in_highgui = false;
}

}  // namespace equalux
