#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "fuzz/invariant.h"

/// Files for parsers that read from a path.
namespace equalux::fuzz {

/// A folder that is removed at the end of the process, in memory where the machine has a file
/// system there.
class Folder {
 public:
  Folder() {
    const bool memory = std::filesystem::is_directory("/dev/shm");
    std::string name =
        (memory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path()) /
        "equalux-fuzz-XXXXXX";
    require(::mkdtemp(name.data()) != nullptr, "a folder can be made", name);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  /// Writes a file with these bytes and returns its path.
  [[nodiscard]] std::string file(const std::string& name, std::string_view bytes) const {
    std::string path = path_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  [[nodiscard]] std::string path(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace equalux::fuzz
