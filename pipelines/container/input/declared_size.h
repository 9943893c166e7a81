#pragma once

#include <cstdint>
#include <optional>
#include <string>

/// The size that a file declares, read from its outermost structure.
namespace equalux {

/// Sizes of a file that is shorter than it declares.
struct MissingBytes {
  std::uint64_t present = 0;   ///< the file's size
  std::uint64_t declared = 0;  ///< bytes that were written at least
};

/// Walks RIFF chunks (avi), ISO boxes (mp4, mov), or the head of Matroska or ASF (wmv). Returns
/// nothing where the file is complete, declares no size, or is of another kind. Reads a few bytes
/// of each outermost element.
[[nodiscard]] std::optional<MissingBytes> missing_bytes(const std::string& path);

/// Formats as in "holds 1.2 of 3.4 MB".
[[nodiscard]] std::string describe(const MissingBytes& missing);

}  // namespace equalux
