#pragma once

#include <string>

#include <sys/socket.h>

/// The address at which a page is served.
namespace equalux {

struct ServeAddress {
  sockaddr_storage socket{};
  socklen_t length = 0;
  std::string host;  ///< as URLs have it, "127.0.0.1" or "[::1]"
  bool loopback = false;
};

/// "127.0.0.1:8080", "[::1]:8080", "localhost:8080" or "8080", which is the first; port 0 takes any
/// that is free. Addresses are numbers: a name could be anybody's. Throws Error(usage).
[[nodiscard]] ServeAddress parse_serve_address(const std::string& text);

/// True where a Host header names this machine's loopback: what a browser sends for an address that
/// a foreign page made up to reach us does not.
[[nodiscard]] bool names_loopback(const std::string& host_header);

}  // namespace equalux
