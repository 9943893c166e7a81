#pragma once

#include <string>
#include <string_view>

/// Names of files: their extensions, and natural order.
namespace equalux {

/// Returns a file name's extension in lower case, without the dot; empty where there is none.
[[nodiscard]] std::string extension_of(const std::string& path);

/// Returns true where `a` sorts before `b` in natural order: runs of digits compare by value ("a2"
/// < "a10"), everything else by bytes. A strict weak order.
[[nodiscard]] bool natural_less(std::string_view a, std::string_view b);

}  // namespace equalux
