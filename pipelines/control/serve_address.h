#pragma once

#include <string>

#include <sys/socket.h>

/// The address at which the page is served.
namespace equalux {

struct ServeAddress {
  sockaddr_storage socket{};
  socklen_t length = 0;
  std::string host;  ///< in the form that URLs use, "127.0.0.1" or "[::1]"
  bool loopback = false;
};

/// Parses "127.0.0.1:8080", "[::1]:8080", "localhost:8080" or "8080", which means the first; port 0
/// takes any free port. Addresses must be numbers, since a name could resolve to anything. Throws
/// Error(usage).
[[nodiscard]] ServeAddress parse_serve_address(const std::string& text);

/// Returns true where a Host header names this machine's loopback address. A request that a foreign
/// page sends by way of a host name of its own does not.
[[nodiscard]] bool names_loopback(const std::string& host_header);

}  // namespace equalux
