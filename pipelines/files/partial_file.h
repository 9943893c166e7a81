#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <equalux/error.h>

/// Output files that appear under their name only when they are whole.
namespace equalux {

/// NAME.partial.EXT for NAME.EXT, in the same folder.
[[nodiscard]] std::string partial_path(const std::string& final_path);

/// True for a name of that kind: a file that somebody writes, or has not written to its end.
[[nodiscard]] bool is_partial_path(const std::string& path);

/// Another process, or another part of this one, is writing the same output.
class OutputBusy : public Error {
 public:
  explicit OutputBusy(const std::string& path);
};

/// Holds an output for whoever writes it: a lock on a file of its own, or on the partial file that
/// the output grows as. It goes with the process that holds it, and leaves nothing behind: a file
/// that is still empty when it ends is removed. File systems without locks hold nobody up.
class OutputLock {
 public:
  /// Makes `file` where it is absent. Throws OutputBusy, which names `output`, where it is held
  /// already, and Error(cannot_create).
  OutputLock(const std::string& file, const std::string& output);
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

  /// The locked file, opened for writing.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  std::string file_;
  int descriptor_ = -1;
};

/// The hidden file beside `output` that stands for it where no partial file of its own does.
[[nodiscard]] std::string lock_path(const std::string& output);

/// A file written as NAME.partial.EXT and renamed by commit(); without commit() nothing is left.
/// A path that exists and is no regular file (a device, a named pipe) is written in place.
/// Two of one name cannot be at work at once. One thread at a time.
class PartialFile {
 public:
  /// Throws Error(cannot_create), and OutputBusy.
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
  /// Where it is whole and only its name cannot be had, it stays under its partial name, and the
  /// message says so.
  void commit();

  /// Closes, and leaves the file under its partial name.
  void keep() noexcept;

  /// The open file, until commit().
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] const std::string& path() const { return final_path_; }

 private:
  std::string final_path_;
  std::string written_path_;
  std::optional<OutputLock> lock_;
  int descriptor_ = -1;
  bool in_place_ = false;
};

/// A system call's error as text, for the end of a message ("No space left on device").
[[nodiscard]] std::string system_error_text(int error_number);

}  // namespace equalux
