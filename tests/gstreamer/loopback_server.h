#pragma once

#include <array>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace equalux::test {

/// A server on 127.0.0.1 that answers each call in a thread of its own and then hangs up.
class LoopbackServer {
 public:
  /// `answer` is called with the connection, of which the request has been read.
  explicit LoopbackServer(std::function<void(int)> answer) : answer_(std::move(answer)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    socklen_t length = sizeof address;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    ::listen(listener_, 8);
    thread_ = std::thread([this] { accept(); });
  }
  /// Waits for the calls to be answered.
  ~LoopbackServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  [[nodiscard]] int port() const { return port_; }

 private:
  void accept() {
    std::vector<std::thread> calls;
    for (int call = 0; (call = ::accept(listener_, nullptr, nullptr)) >= 0;) {
      calls.emplace_back([this, call] {
        std::array<char, 4096> request{};
        static_cast<void>(::recv(call, request.data(), request.size(), 0));
        answer_(call);
        ::close(call);
      });
    }
    for (std::thread& call : calls)
      call.join();
  }

  std::function<void(int)> answer_;
  int listener_ = -1;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace equalux::test
