#pragma once

#include <filesystem>
#include <string>

namespace equalux {

/// A folder below $TMPDIR that is removed with its contents by the destructor.
class ScratchFolder {
 public:
  /// `purpose` becomes part of the name. Throws Error(cannot_create).
  explicit ScratchFolder(const std::string& purpose);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  /// Writes a file into the folder. Throws Error(write_failed).
  void write(const std::string& name, const std::string& bytes) const;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace equalux
