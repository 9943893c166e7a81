#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>

namespace equalux {

/// Random access to the bytes of a file. One thread at a time.
class FileBytes {
 public:
  explicit FileBytes(const std::string& path) : file_(path, std::ios::binary | std::ios::ate) {
    if (file_) size_ = static_cast<std::uint64_t>(std::max<std::streamoff>(0, file_.tellg()));
  }
  /// Size of the file; 0 for one that cannot be read.
  [[nodiscard]] std::uint64_t size() const { return size_; }

  /// Reads bytes from `position` on into `out`, as far as the file goes; returns their number.
  std::size_t read_some(std::uint64_t position, std::span<std::uint8_t> out) {
    if (position >= size_) return 0;
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(position));
    file_.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
    return static_cast<std::size_t>(file_.gcount());
  }
  /// Reads N bytes; returns false where the file ends too early.
  template <std::size_t N>
  bool read(std::uint64_t position, std::array<std::uint8_t, N>& out) {
    return read_some(position, out) == N;
  }

 private:
  std::ifstream file_;
  std::uint64_t size_ = 0;
};

/// Returns the number in some bytes, the most significant one first.
[[nodiscard]] inline std::uint64_t big_endian(std::span<const std::uint8_t> bytes) {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : bytes)
    value = value << 8 | byte;
  return value;
}

}  // namespace equalux
