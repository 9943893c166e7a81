#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Addresses of streams on the network, `rtsp://...` and the like, as outputs.
namespace equalux {

/// `rtsp://[USER:PASSWORD@]:PORT/NAME[?listen=ADDRESS]`: a stream that this program serves.
struct ServedStream {
  std::string user;        ///< who may watch; empty = everybody who reaches it
  std::string password;    ///< decoded
  std::string listen;      ///< numeric address of this machine: "127.0.0.1", "::"
  std::uint16_t port = 0;  ///< 0 = any free port
  std::string path;        ///< begins with a slash
};

enum class PushProtocol { rtsp, rtmp, srt };

/// A stream that this program sends:
/// `rtsp://[USER:PASSWORD@]HOST[:PORT]/NAME`, `rtmp://[USER:PASSWORD@]HOST[:PORT]/APP/KEY`, both
/// with an s behind the scheme for TLS, and
/// `srt://[HOST]:PORT[?mode=caller|listener&latency=MS&passphrase=TEXT&streamid=TEXT]`.
struct PushedStream {
  PushProtocol protocol = PushProtocol::rtsp;
  std::string url;  ///< for the sending element: without user, password and, for srt, query
  std::string user;
  std::string password;    ///< decoded
  std::string host;        ///< a name or an address, without brackets
  std::uint16_t port = 0;  ///< the protocol's default where the address has none
  // Fields for srt.
  bool listens = false;  ///< waits for callers at `host` instead of calling it
  std::optional<int> latency_ms;
  std::string passphrase;  ///< encrypts; empty = does not
  std::string stream_id;
};

/// Returns true for an address of one of the schemes above.
[[nodiscard]] bool is_stream_address(std::string_view text);
/// Returns true for `rtsp://...` without a host.
[[nodiscard]] bool is_served_stream(std::string_view text);

/// Parses an address. The default of `listen` is 127.0.0.1, which only this machine reaches, and
/// 0.0.0.0 if there is a password. Throws Error(usage), whose message shows no password.
[[nodiscard]] ServedStream parse_served_stream(const std::string& text);

/// Parses an address. An srt address without a host listens at 127.0.0.1, and at 0.0.0.0 if there
/// is a passphrase. Throws as parse_served_stream().
[[nodiscard]] PushedStream parse_pushed_stream(const std::string& text);

/// Returns an address with *** in place of secrets: "rtsp://user:***@host/x",
/// "rtmp://host/app/***", "srt://host:1?passphrase=***".
[[nodiscard]] std::string without_secrets(const std::string& url);

/// Makes the log and the program's messages show these parts of an address as ***, too.
void hide_secrets(const std::string& url);

}  // namespace equalux
