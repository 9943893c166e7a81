#pragma once

#include <cstdint>
#include <string>

#include "pipelines/files/image_names.h"

/// File names of a recording.
namespace equalux {

/// Numbers files: "rec.mkv" means rec-00001.mkv, rec-00002.mkv and so on; a name with %Nd has its
/// number there. One thread at a time.
class RecordNames {
 public:
  /// Begins after the highest existing number, of complete or partial files, so that earlier
  /// recordings stay. Throws Error(cannot_create) where the folder exists and cannot be listed
  /// completely.
  explicit RecordNames(const std::string& path);

  /// Returns the next name that does not exist; names that others have taken meanwhile are skipped.
  [[nodiscard]] std::string next();
  /// Moves on to the next number after this one was taken.
  void advance() { ++number_; }

 private:
  NumberedName name_;
  std::uint64_t number_ = 1;
};

/// Returns true for a file that a recording may be written to, whatever its number.
[[nodiscard]] bool is_part_of_recording(const std::string& path, const std::string& file);

}  // namespace equalux
