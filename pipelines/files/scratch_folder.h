#pragma once

#include <filesystem>
#include <string>

namespace equalux {

/// A folder below $TMPDIR that goes with its contents.
class ScratchFolder {
 public:
  /// `purpose` is part of its name. Throws Error(cannot_create).
  explicit ScratchFolder(const std::string& purpose);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  /// Throws Error(write_failed).
  void write(const std::string& name, const std::string& bytes) const;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace equalux
