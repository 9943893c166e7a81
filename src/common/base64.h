#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Bytes as text (RFC 4648, section 4), for states in JSON.
namespace equalux {

[[nodiscard]] std::string base64_text(std::string_view bytes);
/// The bytes of such a text, with its padding; nothing where it is none.
[[nodiscard]] std::optional<std::string> base64_bytes(std::string_view text);

}  // namespace equalux
