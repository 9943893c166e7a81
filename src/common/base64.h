#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Base64 (RFC 4648, section 4), for bytes in JSON states.
namespace equalux {

[[nodiscard]] std::string base64_text(std::string_view bytes);
/// Decodes a text with its padding; nothing where it is no base64.
[[nodiscard]] std::optional<std::string> base64_bytes(std::string_view text);

}  // namespace equalux
