#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "pipelines/core/run.h"

/// What a batch remembers of each file, so that a later one can go on: in the folder .equalux below
/// the folder of the results, under the result's own path.
namespace equalux::cli {

/// The folder's name.
inline constexpr const char* kStateFolder = ".equalux";

/// The files that belong to one result.
struct StatePaths {
  std::string entry;    ///< what is known of it, JSON
  std::string journal;  ///< of its packets, while it is being written
  std::string hashes;   ///< of its frames, framemd5
  std::string still;    ///< one frame before and after, PPM
  std::string lock;     ///< held by the process at work on it
};
[[nodiscard]] StatePaths state_paths(const std::string& out, const std::string& output);

/// A checkpoint as it stands in an entry.
struct SavedCheckpoint {
  Checkpoint checkpoint;
  std::uint64_t hash_bytes = 0;  ///< of the file of hashes; 0 = none was written
};
[[nodiscard]] nlohmann::json to_json(const SavedCheckpoint& saved);
/// The checkpoint in the JSON; nothing where it holds none that can be read.
[[nodiscard]] std::optional<SavedCheckpoint> checkpoint_from(const nlohmann::json& json);

/// The entry, or null where there is none that can be read.
[[nodiscard]] nlohmann::json read_entry(const std::string& path);
/// Replaces a text file at once, so that a kill leaves the old one or the new one.
/// Throws Error(cannot_create, write_failed).
void replace_file(const std::string& path, const std::string& text);

/// A lock that goes with the process that holds it.
class FileLock {
 public:
  /// Throws Error(cannot_create).
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  /// False where another process holds it.
  [[nodiscard]] bool held() const { return held_; }

 private:
  int descriptor_ = -1;
  bool held_ = false;
};

/// MD5 of a whole file, 32 lower-case hexadecimal digits. Throws Error(no_input) where it cannot be
/// read. Empty where the run is being stopped.
[[nodiscard]] std::string file_md5(const std::string& path, const StopToken& stop);

}  // namespace equalux::cli
