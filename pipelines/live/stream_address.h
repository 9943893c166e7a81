#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Addresses of streams on the network, `rtsp://...` and the like, as outputs.
namespace equalux {

/// `rtsp://[USER:PASSWORD@]:PORT/NAME[?listen=ADDRESS]`: a stream that this program serves.
struct ServedStream {
  std::string user;        ///< whom it is served to; empty = everybody who reaches it
  std::string password;    ///< as it is, without percent signs
  std::string listen;      ///< address of this machine, in numbers: "127.0.0.1", "::"
  std::uint16_t port = 0;  ///< 0 = any that is free
  std::string path;        ///< begins with a slash
};

/// True for `rtsp://...`.
[[nodiscard]] bool is_stream_address(std::string_view text);

/// Without `listen` it is 127.0.0.1, which nobody else reaches, and 0.0.0.0 where there is a
/// password. Throws Error(usage), whose message shows no password.
[[nodiscard]] ServedStream parse_served_stream(const std::string& text);

/// "rtsp://user:***@host/" for "rtsp://user:secret@host/".
[[nodiscard]] std::string without_password(const std::string& url);

/// Has the log and the program's messages show the password of an address, where it has one, as
/// ***.
void hide_password(const std::string& url);

}  // namespace equalux
