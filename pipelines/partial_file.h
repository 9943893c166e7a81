#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

/// Output files that appear under their name only when they are whole.
namespace equalux {

/// NAME.partial.EXT for NAME.EXT, in the same folder.
[[nodiscard]] std::string partial_path(const std::string& final_path);

/// A file written as NAME.partial.EXT and renamed by commit(); without commit() nothing is left.
/// A path that exists and is no regular file (a device, a named pipe) is written in place.
/// One thread at a time.
class PartialFile {
 public:
  /// Throws Error(cannot_create).
  explicit PartialFile(std::string final_path);
  /// Goes on behind the first `bytes` of what an earlier one left under the partial name. Throws
  /// CannotResume where less is there.
  PartialFile(std::string final_path, std::uint64_t bytes);
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  /// Throws Error(write_failed).
  void write(const void* data, std::size_t size);
  /// Closes and renames. Throws Error(write_failed); nothing is left under the final name then.
  void commit();

  /// Closes, and leaves the file under its partial name.
  void keep() noexcept;

  /// The open file, until commit().
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] const std::string& path() const { return final_path_; }

 private:
  std::string final_path_;
  std::string written_path_;
  int descriptor_ = -1;
  bool in_place_ = false;
};

/// A system call's error as text, for the end of a message ("No space left on device").
[[nodiscard]] std::string system_error_text(int error_number);

}  // namespace equalux
