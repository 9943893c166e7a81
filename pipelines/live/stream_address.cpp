#include "pipelines/live/stream_address.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <equalux/error.h>

#include "src/common/log.h"
#include "src/options/option_values.h"

namespace equalux {
namespace {

constexpr std::array<std::string_view, 5> kSchemes{"rtsp", "rtsps", "rtmp", "rtmps", "srt"};
constexpr const char* kServedForm = ", must be rtsp://:PORT/NAME, as rtsp://:8554/camera";
/// Shortest secret that is hidden; a shorter one would be found within other words of the log.
constexpr std::size_t kLeastHidden = 4;
constexpr std::size_t kLeastHiddenName = 8;
/// Shortest passphrase that SRT accepts.
constexpr std::size_t kLeastPassphrase = 10;
constexpr std::size_t kMostPassphrase = 79;
constexpr std::size_t kMostStreamId = 512;
constexpr int kMostLatencyMs = 10'000;

/// Parts of SCHEME://USER:PASSWORD@HOST:PORT/PATH?QUERY, as they are written.
struct Parts {
  std::string_view scheme;
  std::string_view user_info;  // without the @
  std::string_view host_and_port;
  std::string_view path;   // with its slash
  std::string_view query;  // without the question mark
};

Parts parts_of(std::string_view url) {
  Parts parts;
  const std::size_t colon = url.find("://");
  if (colon != std::string_view::npos) parts.scheme = url.substr(0, colon);
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

/// Decodes %XX escapes; nothing where one is invalid.
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

[[noreturn]] void refuse_address(const std::string& text, const std::string& what) {
  throw_usage("output '" + without_secrets(text) + "' " + what);
}

/// Returns the numeric address "::1" of "[::1]" or "::1".
std::string address_in_numbers(const std::string& text, std::string_view value) {
  std::string address(value);
  if (address.size() > 2 && address.front() == '[' && address.back() == ']') {
    address = address.substr(1, address.size() - 2);
  }
  std::array<unsigned char, sizeof(in6_addr)> ignored{};
  if (::inet_pton(AF_INET, address.c_str(), ignored.data()) != 1 &&
      ::inet_pton(AF_INET6, address.c_str(), ignored.data()) != 1) {
    refuse_address(text,
                   "has listen=" + std::string(value) +
                       ", must be an address of this machine in numbers, as 127.0.0.1 or [::]");
  }
  return address;
}

bool is_path_letter(char c) {
  constexpr std::string_view kOthers = "-._~/";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kOthers.find(c) != std::string_view::npos;
}

/// Sets user and password, for addresses that have them.
template <typename Stream>
void read_user(const std::string& text, std::string_view user_info, Stream& stream) {
  if (user_info.data() == nullptr) return;
  const std::size_t colon = user_info.find(':');
  const auto user = unescaped(user_info.substr(0, colon));
  const auto password =
      colon == std::string_view::npos ? std::string() : unescaped(user_info.substr(colon + 1));
  if (!user || !password) {
    refuse_address(text,
                   "has a % that is no %XX in its name or password, must be %25 for a % itself");
  }
  if (user->empty() || password->empty()) {
    refuse_address(text, "has a name or a password alone, must have USER:PASSWORD@");
  }
  stream.user = *user;
  stream.password = *password;
}

/// Calls `take` with each KEY=VALUE of a query, with the value decoded.
template <typename Take>
void read_query(const std::string& text, std::string_view query, Take take) {
  if (query.empty()) return;
  for (const std::string_view pair : split(query, '&')) {
    const std::string_view key = pair.substr(0, pair.find('='));
    const auto value = unescaped(pair.substr(std::min(key.size() + 1, pair.size())));
    if (!value) refuse_address(text, "has a % that is no %XX, must be %25 for a % itself");
    take(key, *value);
  }
}

void read_srt_key(const std::string& text, PushedStream& stream, std::string_view key,
                  const std::string& value) {
  if (key == "mode") {
    if (value != "caller" && value != "listener") {
      refuse_address(text, "has mode=" + value + ", must be caller or listener");
    }
    stream.listens = value == "listener";
  } else if (key == "latency") {
    const auto number = number_from<int>(value);
    if (!number || *number < 0 || *number > kMostLatencyMs) {
      refuse_address(text, "has latency=" + value + ", must be 0 to 10000 milliseconds");
    }
    stream.latency_ms = *number;
  } else if (key == "passphrase") {
    if (value.size() < kLeastPassphrase || value.size() > kMostPassphrase) {
      refuse_address(text, "has a passphrase of " + std::to_string(value.size()) +
                               " characters, must be 10 to 79");
    }
    stream.passphrase = value;
  } else if (key == "streamid") {
    if (value.empty() || value.size() > kMostStreamId) {
      refuse_address(text, "has a streamid of " + std::to_string(value.size()) +
                               " characters, must be 1 to 512");
    }
    stream.stream_id = value;
  } else {
    refuse_address(text, "has the key '" + std::string(key) +
                             "', must be mode, latency, passphrase or streamid");
  }
}

PushedStream parse_srt(const std::string& text, const Parts& parts, PushedStream stream) {
  if (parts.user_info.data() != nullptr) {
    refuse_address(text, "has a name, must have ?passphrase=TEXT or streamid=TEXT");
  }
  if (!parts.path.empty() && parts.path != "/") {
    refuse_address(text, "has a path, must be srt://HOST:PORT with ?streamid=NAME");
  }
  if (stream.port == 0)
    refuse_address(text, "has no port from 1 to 65535, must be srt://HOST:PORT");
  stream.listens = stream.host.empty();
  bool has_mode = false;
  read_query(text, parts.query, [&](std::string_view key, const std::string& value) {
    has_mode = has_mode || key == "mode";
    read_srt_key(text, stream, key, value);
  });
  if (stream.host.empty() && !stream.listens) {
    refuse_address(text, "has no host to call, must be srt://HOST:PORT");
  }
  if (stream.host.empty()) stream.host = stream.passphrase.empty() ? "127.0.0.1" : "0.0.0.0";
  const bool six = stream.host.find(':') != std::string::npos;
  stream.url =
      "srt://" + (six ? "[" + stream.host + "]" : stream.host) + ":" + std::to_string(stream.port);
  return stream;
}

/// Returns the parts of an address that may be hidden; views into it.
std::vector<std::string_view> secrets_of(const Parts& parts) {
  std::vector<std::string_view> secrets;
  const std::string_view password = password_of(parts);
  if (!password.empty()) secrets.push_back(password);
  if (parts.scheme.starts_with("rtmp")) {
    // After the application comes the stream key, which is all that authorises its owner.
    const std::size_t slash = parts.path.find('/', std::min<std::size_t>(1, parts.path.size()));
    if (slash != std::string_view::npos && slash + 1 < parts.path.size()) {
      const std::size_t size =
          parts.path.size() - slash - 1 + (parts.query.empty() ? 0 : parts.query.size() + 1);
      secrets.emplace_back(parts.path.data() + slash + 1, size);
    }
  }
  if (parts.scheme == "srt" && !parts.query.empty()) {
    for (const std::string_view pair : split(parts.query, '&')) {
      for (const std::string_view key : {"passphrase=", "streamid="}) {
        if (pair.starts_with(key) && pair.size() > key.size()) {
          secrets.push_back(pair.substr(key.size()));
        }
      }
    }
  }
  return secrets;
}

}  // namespace

bool is_stream_address(std::string_view text) {
  return std::any_of(kSchemes.begin(), kSchemes.end(), [&](std::string_view scheme) {
    return text.starts_with(scheme) && text.substr(scheme.size()).starts_with("://");
  });
}

bool is_served_stream(std::string_view text) {
  const Parts parts = parts_of(text);
  return parts.scheme == "rtsp" &&
         (parts.host_and_port.empty() || parts.host_and_port.starts_with(':'));
}

ServedStream parse_served_stream(const std::string& text) {
  const Parts parts = parts_of(text);
  ServedStream stream;
  const auto port = number_from<std::uint16_t>(
      parts.host_and_port.substr(std::min<std::size_t>(1, parts.host_and_port.size())));
  if (!port) refuse_address(text, "has no port from 0 to 65535" + std::string(kServedForm));
  stream.port = *port;
  stream.path = std::string(parts.path);
  if (stream.path.size() < 2 || stream.path.back() == '/') {
    refuse_address(text, "has no name of its stream" + std::string(kServedForm));
  }
  if (!std::all_of(stream.path.begin(), stream.path.end(), is_path_letter)) {
    refuse_address(text,
                   "has a name that addresses cannot have, must be letters, digits, - . _ ~ and /");
  }
  read_user(text, parts.user_info, stream);
  stream.listen = stream.user.empty() ? "127.0.0.1" : "0.0.0.0";
  read_query(text, parts.query, [&](std::string_view key, const std::string& value) {
    if (key != "listen") {
      refuse_address(text, "has the key '" + std::string(key) + "', must be listen=ADDRESS");
    }
    stream.listen = address_in_numbers(text, value);
  });
  return stream;
}

PushedStream parse_pushed_stream(const std::string& text) {
  const Parts parts = parts_of(text);
  PushedStream stream;
  std::string_view host = parts.host_and_port;
  std::string_view port;
  const std::size_t bracket = host.rfind(']');
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    port = host.substr(colon + 1);
    host = host.substr(0, colon);
    const auto number = number_from<std::uint16_t>(port);
    if (!number || *number == 0) refuse_address(text, "has no port from 1 to 65535");
    stream.port = *number;
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  stream.host = std::string(host);
  if (parts.scheme == "srt") {
    stream.protocol = PushProtocol::srt;
    return parse_srt(text, parts, std::move(stream));
  }
  const bool rtmp = parts.scheme.starts_with("rtmp");
  const bool tls = parts.scheme.ends_with('s');
  stream.protocol = rtmp ? PushProtocol::rtmp : PushProtocol::rtsp;
  const std::string form = std::string(parts.scheme) + (rtmp ? "://HOST/APP/KEY" : "://HOST/NAME");
  if (stream.host.empty()) refuse_address(text, "names no host, must be " + form);
  const std::size_t slash = parts.path.find('/', std::min<std::size_t>(1, parts.path.size()));
  const bool whole = rtmp ? slash != std::string_view::npos && slash + 1 < parts.path.size()
                          : parts.path.size() > 1;
  if (!whole) refuse_address(text, "has no name of its stream, must be " + form);
  if (stream.port == 0 && rtmp) stream.port = tls ? 443 : 1935;
  if (stream.port == 0) stream.port = tls ? 322 : 554;
  read_user(text, parts.user_info, stream);
  stream.url = std::string(parts.scheme) + "://" + std::string(parts.host_and_port) +
               std::string(parts.path);
  if (!parts.query.empty()) stream.url += "?" + std::string(parts.query);
  return stream;
}

std::string without_secrets(const std::string& url) {
  std::string shown = url;
  const std::vector<std::string_view> secrets = secrets_of(parts_of(url));
  // From the end, so that earlier positions stay valid.
  for (auto secret = secrets.rbegin(); secret != secrets.rend(); ++secret) {
    shown.replace(static_cast<std::size_t>(secret->data() - url.data()), secret->size(), "***");
  }
  return shown;
}

void hide_secrets(const std::string& url) {
  const Parts parts = parts_of(url);
  const std::string_view password = password_of(parts);
  for (const std::string_view each : secrets_of(parts)) {
    const std::string written(each);
    const std::string plain = unescaped(written).value_or(written);
    // With the text before it, a short secret cannot be taken for anything else.
    const auto at = static_cast<std::size_t>(each.data() - url.data());
    std::size_t before = url.find_last_of("/&?", at - 1) + 1;
    if (before == at) before = url.rfind('/', at - 2) + 1;
    logger().hide(url.substr(before, at - before) + written,
                  url.substr(before, at - before) + "***");
    const bool name = each.data() != password.data();
    for (const std::string& secret : {written, plain}) {
      if (secret.size() >= (name ? kLeastHiddenName : kLeastHidden)) logger().hide(secret, "***");
    }
  }
}

}  // namespace equalux
