#pragma once

#include <filesystem>
#include <string>

/// A disk that is soon full.
namespace equalux::test {

/// A tmpfs of its own, which this process and those that it starts see, and nobody else. One a
/// process, made while it has one thread.
class SmallDisk {
 public:
  explicit SmallDisk(std::size_t kilobytes);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  /// Why there is none: the system does not allow it. Empty where there is one.
  [[nodiscard]] const std::string& missing() const { return missing_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Makes it larger, or smaller.
  void resize(std::size_t kilobytes) const;

 private:
  std::filesystem::path path_;
  std::string missing_;
};

}  // namespace equalux::test
