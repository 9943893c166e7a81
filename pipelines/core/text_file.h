#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace equalux {

/// A text file that grows while a program runs: buffered, and written in place so that its lines
/// survive a kill; "-" for standard output. One thread at a time.
class TextFile {
 public:
  enum class Start : std::uint8_t { from_empty, at_end };

  /// Throws Error(cannot_create).
  explicit TextFile(std::string path, Start start = Start::from_empty);

  /// Appends text. Throws Error(write_failed), possibly because of an earlier call.
  void append(std::string_view text);
  /// Writes what is buffered, for lines that come rarely; returns the file's size then, 0 where
  /// that is unknown (a pipe). Throws Error(write_failed).
  std::uint64_t flush();
  /// Writes what is buffered and closes. Throws Error(write_failed).
  void finish();

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept;
  };
  [[noreturn]] void fail(int error_number) const;

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace equalux
