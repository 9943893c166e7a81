#include "pipelines/control/serve_address.h"

#include <cstdint>
#include <cstring>

#include <arpa/inet.h>
#include <equalux/error.h>
#include <netinet/in.h>

#include "src/options/option_values.h"

namespace equalux {
namespace {

[[noreturn]] void refuse_address(const std::string& text) {
  throw Error(
      ExitCode::usage,
      "--serve is '" + text + "', must be ADDRESS:PORT in numbers, as 127.0.0.1:8080, or PORT");
}

std::uint16_t read_port(const std::string& text, const std::string& port) {
  const auto number = number_from<std::uint16_t>(port);
  if (!number) refuse_address(text);
  return *number;
}

}  // namespace

ServeAddress parse_serve_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  std::string host = colon == std::string::npos ? "127.0.0.1" : text.substr(0, colon);
  const std::uint16_t port =
      read_port(text, colon == std::string::npos ? text : text.substr(colon + 1));
  if (host == "localhost") host = "127.0.0.1";

  ServeAddress address;
  address.host = host;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    auto& six = reinterpret_cast<sockaddr_in6&>(address.socket);
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    if (::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &six.sin6_addr) != 1) {
      refuse_address(text);
    }
    address.length = sizeof six;
    address.loopback = IN6_IS_ADDR_LOOPBACK(&six.sin6_addr) != 0;
    return address;
  }
  auto& four = reinterpret_cast<sockaddr_in&>(address.socket);
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  if (::inet_pton(AF_INET, host.c_str(), &four.sin_addr) != 1) refuse_address(text);
  address.length = sizeof four;
  address.loopback = (ntohl(four.sin_addr.s_addr) >> 24U) == 127;
  return address;
}

bool names_loopback(const std::string& host_header) {
  std::string host = host_header;
  const std::size_t colon = host.rfind(':');
  const std::size_t bracket = host.rfind(']');
  if (colon != std::string::npos && (bracket == std::string::npos || colon > bracket)) {
    host.resize(colon);
  }
  in_addr four{};
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24U) == 127;
  return host == "localhost" || host == "[::1]";
}

}  // namespace equalux
