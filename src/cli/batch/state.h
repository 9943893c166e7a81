#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "pipelines/core/run.h"
#include "pipelines/files/descriptor_io.h"

/// State of a batch for each file, by which a later batch resumes: in the folder .equalux below the
/// folder of results, under the result's path.
namespace equalux::cli {

/// Name of the state folder.
inline constexpr const char* kStateFolder = ".equalux";

/// State files of one result.
struct StatePaths {
  std::string entry;    ///< description of the result, JSON
  std::string journal;  ///< packets, while the result is being written
  std::string hashes;   ///< hashes of frames, framemd5
  std::string still;    ///< one frame before and after, PPM
  std::string lock;     ///< lock of the process that works on it
};
[[nodiscard]] StatePaths state_paths(const std::string& out, const std::string& output);

/// Checkpoint as an entry stores it.
struct SavedCheckpoint {
  Checkpoint checkpoint;
  std::uint64_t hash_bytes = 0;  ///< size of the file of hashes; 0 = none was written
};
[[nodiscard]] nlohmann::json to_json(const SavedCheckpoint& saved);
/// Parses a checkpoint; nothing where the JSON has no valid one.
[[nodiscard]] std::optional<SavedCheckpoint> checkpoint_from(const nlohmann::json& json);

/// Reads an entry; null where there is no valid one.
[[nodiscard]] nlohmann::json read_entry(const std::string& path);
/// Returns an entry's text of that name; empty where it has none.
[[nodiscard]] std::string text_of(const nlohmann::json& entry, const char* name);
/// Replaces a text file atomically, so that a kill leaves the old or the new one. Throws
/// Error(cannot_create, write_failed).
void replace_file(const std::string& path, const std::string& text);

/// File lock, released when its process ends. The file stays: after a removal, two processes could
/// lock two files of the same name.
class FileLock {
 public:
  /// Tries to take the lock. Throws Error(cannot_create).
  explicit FileLock(const std::string& path);
  /// Tries again.
  void take();
  /// Returns false where another process holds the lock.
  [[nodiscard]] bool held() const { return held_; }

 private:
  Descriptor file_;
  bool held_ = false;
};

/// Returns the MD5 of a whole file, 32 lower-case hexadecimal digits; empty where the run is being
/// stopped. Throws Error(no_input) where the file cannot be read.
[[nodiscard]] std::string file_md5(const std::string& path, const StopToken& stop);

}  // namespace equalux::cli
