#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Reads and writes whole files with every error told apart, which OpenCV's own file access hides.
namespace equalux {

/// All bytes of a file. Throws Error(no_input) where it is missing, Error(bad_input) where it is
/// a folder, unreadable, empty or longer than 2^31 - 1 bytes.
[[nodiscard]] std::vector<std::uint8_t> read_whole_file(const std::string& path);

/// Writes NAME.partial.EXT and renames it to `path`: the final name holds all of `bytes` or what
/// it held before. Throws Error(cannot_create) where the file cannot be made, Error(write_failed)
/// where the disk refuses the bytes.
void write_whole_file(const std::string& path, std::span<const std::uint8_t> bytes);

}  // namespace equalux
