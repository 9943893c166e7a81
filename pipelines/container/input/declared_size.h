#pragma once

#include <cstdint>
#include <optional>
#include <string>

/// How many bytes a file says that it has, read off its outermost structure.
namespace equalux {

/// A file that is shorter than it declares.
struct MissingBytes {
  std::uint64_t present = 0;   ///< the file's size
  std::uint64_t declared = 0;  ///< at least so many were written
};

/// Walks RIFF chunks (avi), ISO boxes (mp4, mov) or the Matroska head. Nothing where the file is
/// whole, declares nothing, or is of another kind. Reads a few bytes for each outermost element.
[[nodiscard]] std::optional<MissingBytes> missing_bytes(const std::string& path);

/// "holds 1.2 of 3.4 MB"
[[nodiscard]] std::string describe(const MissingBytes& missing);

}  // namespace equalux
