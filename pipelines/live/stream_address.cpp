#include "pipelines/live/stream_address.h"

#include <algorithm>
#include <array>
#include <optional>

#include <arpa/inet.h>
#include <equalux/error.h>

#include "src/common/log.h"
#include "src/common/option_values.h"

namespace equalux {
namespace {

constexpr std::string_view kRtsp = "rtsp://";
constexpr const char* kServedForm = ", must be rtsp://:PORT/NAME, as rtsp://:8554/camera";
/// A shorter password would be found within other words of the log.
constexpr std::size_t kLeastHidden = 4;

/// The parts of SCHEME://USER:PASSWORD@HOST:PORT/PATH?QUERY, as they are written.
struct Parts {
  std::string_view user_info;  // without the @
  std::string_view host_and_port;
  std::string_view path;   // with its slash
  std::string_view query;  // without the question mark
};

Parts parts_of(std::string_view url) {
  Parts parts;
  const std::size_t colon = url.find("://");
  url.remove_prefix(colon == std::string_view::npos ? url.size() : colon + 3);
  const std::size_t end = std::min(url.find_first_of("/?"), url.size());
  std::string_view authority = url.substr(0, end);
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    parts.user_info = authority.substr(0, at);
    authority.remove_prefix(at + 1);
  }
  parts.host_and_port = authority;
  parts.path = url.substr(end);
  if (const std::size_t mark = parts.path.find('?'); mark != std::string_view::npos) {
    parts.query = parts.path.substr(mark + 1);
    parts.path = parts.path.substr(0, mark);
  }
  return parts;
}

std::string_view password_of(const Parts& parts) {
  const std::size_t colon = parts.user_info.find(':');
  return colon == std::string_view::npos ? std::string_view() : parts.user_info.substr(colon + 1);
}

/// The text that %XX stand for; nothing where that is wrong.
std::optional<std::string> unescaped(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      plain += text[at];
      continue;
    }
    if (at + 2 >= text.size()) return std::nullopt;
    const std::string pair = lower_case(std::string(text.substr(at + 1, 2)));
    const std::size_t high = kDigits.find(pair[0]);
    const std::size_t low = kDigits.find(pair[1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    plain += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return plain;
}

[[noreturn]] void refuse(const std::string& text, const std::string& what) {
  throw_usage("output '" + without_password(text) + "' " + what);
}

/// "::1" of "[::1]" or "::1".
std::string address_in_numbers(const std::string& text, std::string_view value) {
  std::string address(value);
  if (address.size() > 2 && address.front() == '[' && address.back() == ']') {
    address = address.substr(1, address.size() - 2);
  }
  std::array<unsigned char, sizeof(in6_addr)> ignored{};
  if (::inet_pton(AF_INET, address.c_str(), ignored.data()) != 1 &&
      ::inet_pton(AF_INET6, address.c_str(), ignored.data()) != 1) {
    refuse(text, "has listen=" + std::string(value) +
                     ", must be an address of this machine in numbers, as 127.0.0.1 or [::]");
  }
  return address;
}

void read_user(const std::string& text, std::string_view user_info, ServedStream& stream) {
  const std::size_t colon = user_info.find(':');
  const auto user = unescaped(user_info.substr(0, colon));
  const auto password =
      colon == std::string_view::npos ? std::string() : unescaped(user_info.substr(colon + 1));
  if (!user || !password) {
    refuse(text, "has a % that is no %XX in its name or password, must be %25 for a % itself");
  }
  if (user->empty() || password->empty()) {
    refuse(text, "has a name or a password alone, must be rtsp://USER:PASSWORD@:PORT/NAME");
  }
  stream.user = *user;
  stream.password = *password;
}

bool is_path_letter(char c) {
  constexpr std::string_view kOthers = "-._~/";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kOthers.find(c) != std::string_view::npos;
}

}  // namespace

bool is_stream_address(std::string_view text) {
  return text.starts_with(kRtsp);
}

ServedStream parse_served_stream(const std::string& text) {
  const Parts parts = parts_of(text);
  if (!parts.host_and_port.starts_with(':')) {
    refuse(text, "names another host, which cannot be fed yet" + std::string(kServedForm));
  }
  ServedStream stream;
  const auto port = number_from<std::uint16_t>(parts.host_and_port.substr(1));
  if (!port) refuse(text, "has no port from 0 to 65535" + std::string(kServedForm));
  stream.port = *port;
  stream.path = std::string(parts.path);
  if (stream.path.size() < 2 || stream.path.back() == '/') {
    refuse(text, "has no name of its stream" + std::string(kServedForm));
  }
  if (!std::all_of(stream.path.begin(), stream.path.end(), is_path_letter)) {
    refuse(text, "has a name that addresses cannot have, must be letters, digits, - . _ ~ and /");
  }
  const bool has_user = parts.host_and_port.data() != text.data() + kRtsp.size();
  if (has_user) read_user(text, parts.user_info, stream);
  stream.listen = has_user ? "0.0.0.0" : "127.0.0.1";
  if (parts.query.empty()) return stream;
  for (const std::string_view pair : split(parts.query, '&')) {
    const std::string_view key = pair.substr(0, pair.find('='));
    if (key != "listen") {
      refuse(text, "has the key '" + std::string(key) + "', must be listen=ADDRESS");
    }
    stream.listen = address_in_numbers(text, pair.substr(std::min(key.size() + 1, pair.size())));
  }
  return stream;
}

std::string without_password(const std::string& url) {
  const std::string_view password = password_of(parts_of(url));
  if (password.data() == nullptr) return url;
  std::string shown = url;
  shown.replace(static_cast<std::size_t>(password.data() - url.data()), password.size(), "***");
  return shown;
}

void hide_password(const std::string& url) {
  const Parts parts = parts_of(url);
  const std::string written(password_of(parts));
  if (written.empty()) return;
  const std::string user(parts.user_info.substr(0, parts.user_info.find(':') + 1));
  logger().hide(user + written + "@", user + "***@");
  const std::string plain = unescaped(written).value_or(written);
  if (written.size() >= kLeastHidden) logger().hide(written, "***");
  if (plain.size() >= kLeastHidden) logger().hide(plain, "***");
}

}  // namespace equalux
