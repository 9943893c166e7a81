#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/// What tests of streams need: commands of other programs, and ports of this machine.
namespace equalux::test {

struct ShellResult {
  int exit_code = -1;
  std::string output;
};

/// Runs a command for 20 s at most.
inline ShellResult shell_result(const std::string& command) {
  ShellResult result;
  std::FILE* pipe = ::popen(("timeout 20 " + command + " 2>&1").c_str(), "r");
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe))
    result.output += static_cast<char>(c);
  const int status = ::pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

inline sockaddr_in loopback_address(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// A socket at a port of this machine.
class Listener {
 public:
  explicit Listener(int type = SOCK_STREAM) : fd_(::socket(AF_INET, type, 0)) {
    sockaddr_in address = loopback_address(0);
    socklen_t size = sizeof address;
    ::bind(fd_, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    ::listen(fd_, 1);
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { ::close(fd_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  [[nodiscard]] int port() const { return port_; }

 private:
  int fd_;
  int port_ = 0;
};

/// A port that was free a moment ago; of TCP, or of UDP with SOCK_DGRAM.
inline int free_port_of(int type = SOCK_STREAM) {
  return Listener(type).port();
}

/// True once somebody listens there, by TCP.
inline bool wait_for_port(int port) {
  for (int i = 0; i < 1000; ++i) {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = loopback_address(port);
    const bool there =
        ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(fd);
    if (there) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace equalux::test
