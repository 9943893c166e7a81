#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Reading of whole files with distinct errors, which OpenCV's own file access hides.
namespace equalux {

/// Returns all bytes of a file. Throws Error(no_input) where it is missing, Error(bad_input) where
/// it is a folder, unreadable, empty or longer than 2^31 - 1 bytes.
[[nodiscard]] std::vector<std::uint8_t> read_whole_file(const std::string& path);

}  // namespace equalux
