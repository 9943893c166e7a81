#include "pipelines/control/control_socket.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

#include <equalux/error.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "pipelines/files/descriptor_io.h"
#include "src/common/log.h"
#include "src/common/system_error.h"

namespace equalux {
namespace {

constexpr std::size_t kMostCallers = 8;
constexpr int kAnswerMs = 1000;  // then a caller that reads no answers is let go

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    throw Error(ExitCode::usage, "--control is '" + path + "', must be a path of 1 to " +
                                     std::to_string(sizeof address.sun_path - 1) + " bytes");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

int connect_or_bind(bool bind, int fd, const sockaddr_un& address) {
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  return bind ? ::bind(fd, generic, sizeof address) : ::connect(fd, generic, sizeof address);
}

/// Removes a socket that a killed program left behind; anything else at the path stays.
void clear_the_way(const std::string& path, const sockaddr_un& address) {
  struct stat file {};
  if (::lstat(path.c_str(), &file) != 0) return;
  if (!S_ISSOCK(file.st_mode)) {
    throw Error(ExitCode::usage,
                "--control " + path + " exists and is no socket, must be a new path");
  }
  // A call that waits would not return from a program that takes no callers.
  const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int error = connect_or_bind(false, socket.get(), address) == 0 ? 0 : errno;
  // EAGAIN: it has all the callers that it takes. EPROTOTYPE: it listens for datagrams.
  if (error == 0 || error == EAGAIN || error == EPROTOTYPE) {
    throw Error(ExitCode::cannot_create,
                "--control " + path + ": another program listens there, must be another path");
  }
  if (error != ECONNREFUSED) {
    throw Error(ExitCode::cannot_create, "--control " + path +
                                             ": whether a program listens there cannot be told: " +
                                             system_error_text(error) + ", must be another path");
  }
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return;
  throw Error(ExitCode::cannot_create, "--control " + path +
                                           ": the socket that is left there cannot be removed: " +
                                           system_error_text(errno) + ", must be another path");
}

class Listener final : public ControlSocket {
 public:
  Listener(std::string path, ControlApi& api) : path_(std::move(path)), api_(api) {
    const sockaddr_un address = address_of(path_);
    callers_.reserve(kMostCallers);
    clear_the_way(path_, address);
    socket_ = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int fd = socket_.get();
    // Restricts the mode before bind(), which takes the file's mode from the socket's. A chmod() of
    // the path would come too late, and a umask would affect files that other threads create
    // meanwhile.
    const bool bound =
        fd >= 0 && ::fchmod(fd, S_IRUSR | S_IWUSR) == 0 && connect_or_bind(true, fd, address) == 0;
    if (bound) (void)::lstat(path_.c_str(), &file_);
    if (!bound || ::listen(fd, kMostCallers) != 0 || end_.descriptor() < 0) {
      give_up(system_error_text(errno));
    }
    try {
      thread_ = std::thread([this] { serve(); });
    } catch (const std::system_error& error) {
      give_up(error.code().message());
    }
  }
  ~Listener() override {
    end_.set();
    thread_.join();
    remove_file();
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

 private:
  struct Caller {
    Descriptor socket;
    std::string unread{};  // an incomplete line
  };

  /// Removes the socket's file, but not what has taken its place.
  void remove_file() const {
    struct stat there {};
    if (::lstat(path_.c_str(), &there) != 0) return;
    if (there.st_dev == file_.st_dev && there.st_ino == file_.st_ino) ::unlink(path_.c_str());
  }

  [[noreturn]] void give_up(const std::string& why) const {
    remove_file();
    throw Error(ExitCode::cannot_create, "--control " + path_ + " cannot be made: " + why);
  }

  /// Serves callers; where memory is short, disconnects them, and the run goes on.
  void serve() noexcept {
    for (;;) {
      try {
        take_turns();
        return;
      } catch (const std::exception& error) {
        logger().warn("--control {}: {}, going on without its callers", path_, error.what());
      }
      callers_.clear();
    }
  }

  /// Returns once the socket is to be closed.
  void take_turns() {
    std::vector<pollfd> fds;
    for (;;) {
      fds.assign({{.fd = end_.descriptor(), .events = POLLIN, .revents = 0},
                  {.fd = socket_.get(), .events = POLLIN, .revents = 0}});
      if (callers_.size() == kMostCallers) fds[1].fd = -1;  // Further callers wait.
      for (const Caller& caller : callers_)
        fds.push_back({.fd = caller.socket.get(), .events = POLLIN, .revents = 0});
      if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return;
      if (end_.is_set()) return;
      for (std::size_t i = 2; i < fds.size(); ++i) {
        Caller& caller = callers_[i - 2];
        if (fds[i].revents != 0 && !listen_to(caller)) caller.socket.close();
      }
      std::erase_if(callers_, [](const Caller& caller) { return caller.socket.get() < 0; });
      if ((fds[1].revents & POLLIN) != 0) {
        Descriptor caller(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (caller.get() >= 0) callers_.push_back({std::move(caller)});
      }
    }
  }

  /// Reads from a caller and answers; returns false once it is gone.
  bool listen_to(Caller& caller) {
    std::array<char, 1024> bytes{};
    const ssize_t count = ::recv(caller.socket.get(), bytes.data(), bytes.size(), 0);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    if (count == 0) {  // The last line may lack its newline.
      if (!caller.unread.empty())
        send_all(caller.socket.get(), api_.handle(caller.unread).json + "\n");
      return false;
    }
    caller.unread.append(bytes.data(), static_cast<std::size_t>(count));
    for (std::size_t end = 0; (end = caller.unread.find('\n')) != std::string::npos;) {
      const std::string line = caller.unread.substr(0, end);
      caller.unread.erase(0, end + 1);
      if (!send_all(caller.socket.get(), api_.handle(line).json + "\n")) return false;
    }
    if (caller.unread.size() <= kLongestRequest) return true;
    // The answer says that it is too long.
    send_all(caller.socket.get(), api_.handle(caller.unread).json + "\n");
    return false;
  }

  bool send_all(int fd, const std::string& text) const {
    std::size_t sent = 0;
    while (sent < text.size()) {
      const ssize_t count = ::send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (count > 0) {
        sent += static_cast<std::size_t>(count);
        continue;
      }
      if (errno != EAGAIN && errno != EINTR) return false;
      std::array<pollfd, 2> fds{{{.fd = fd, .events = POLLOUT, .revents = 0},
                                 {.fd = end_.descriptor(), .events = POLLIN, .revents = 0}}};
      if (::poll(fds.data(), fds.size(), kAnswerMs) <= 0 || end_.is_set()) return false;
    }
    return true;
  }

  std::string path_;
  ControlApi& api_;
  Descriptor socket_;
  struct stat file_ {};  ///< of the path, once it is ours
  Wakeup end_;
  std::vector<Caller> callers_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<ControlSocket> open_control_socket(const std::string& path, ControlApi& api) {
  return std::make_unique<Listener>(path, api);
}

}  // namespace equalux
