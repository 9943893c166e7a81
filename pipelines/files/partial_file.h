#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <equalux/error.h>

#include "pipelines/files/descriptor_io.h"

/// Output files that get their final name only when they are complete.
namespace equalux {

/// Returns NAME.partial.EXT for NAME.EXT, in the same folder.
[[nodiscard]] std::string partial_path(const std::string& final_path);

/// Second files that an output may need while it is written.
enum class Working : std::uint8_t {
  before,   ///< the partial file of an interrupted writer, while the next one copies from it
  closing,  ///< the finished file, while it is made from the partial one
};
/// Returns NAME.partial.before.EXT or NAME.partial.closing.EXT for NAME.EXT: names that no other
/// output's partial file has.
[[nodiscard]] std::string working_path(const std::string& final_path, Working file);

/// Throws Error(cannot_create) where the folder of an output allows no names as long as those of
/// its second files.
void require_room_beside(const std::string& output);

/// Returns true for a name of any of these forms: a file that is being written, or was not
/// finished.
[[nodiscard]] bool is_partial_path(const std::string& path);

/// Thrown where another process, or another part of this one, is writing the same output.
class OutputBusy : public Error {
 public:
  explicit OutputBusy(const std::string& path);
};

/// Reserves an output for its writer by a lock on a file of its own, or on the partial file that
/// the output grows in. The lock ends with its process and leaves nothing behind: a file that is
/// still empty is removed. On file systems without locks nothing is reserved.
class OutputLock {
 public:
  /// Creates `file` if it is absent. Throws OutputBusy, which names `output`, where it is locked
  /// already, and Error(cannot_create).
  OutputLock(const std::string& file, const std::string& output);
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

 private:
  std::string file_;
  Descriptor descriptor_;
};

/// Returns the hidden file beside `output` that is locked where the output has no partial file of
/// its own.
[[nodiscard]] std::string lock_path(const std::string& output);

/// Writes a file as NAME.partial.EXT and renames it in commit(); without commit() nothing is left.
/// An existing path that is no regular file (a device, a named pipe) is written in place. Two
/// writers of one name exclude each other. One thread at a time.
class PartialFile {
 public:
  /// Creates the partial file. Throws Error(cannot_create), and OutputBusy.
  explicit PartialFile(std::string final_path);
  /// Continues after the first `bytes` of an earlier partial file. Throws CannotResume where that
  /// is shorter.
  PartialFile(std::string final_path, std::uint64_t bytes);
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  /// Throws Error(write_failed).
  void write(const void* data, std::size_t size);
  /// Closes and renames. Throws Error(write_failed); then nothing is left under the final name. If
  /// the file is complete and only renaming fails, it stays under its partial name, and the message
  /// says so.
  void commit();

  /// Closes the file and leaves it under its partial name.
  void keep() noexcept;

  /// The open file, until commit().
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  [[nodiscard]] const std::string& path() const { return final_path_; }

 private:
  std::string final_path_;
  std::string written_path_;
  std::optional<OutputLock> lock_;
  Descriptor descriptor_;
  bool in_place_ = false;
};

}  // namespace equalux
