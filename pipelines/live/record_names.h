#pragma once

#include <cstdint>
#include <string>

#include "pipelines/files/image_names.h"

/// Names of a recording's files.
namespace equalux {

/// "rec.mkv" stands for rec-00001.mkv, rec-00002.mkv and so on; a name with %Nd in it has its
/// number there. One thread at a time.
class RecordNames {
 public:
  /// Begins behind the highest number that is there, whole or partial: what was recorded before
  /// stays. Throws Error(cannot_create) where the folder is there and cannot be listed to its end.
  explicit RecordNames(const std::string& path);

  /// The name that is next; those that somebody else has taken meanwhile are passed over.
  [[nodiscard]] std::string next();
  /// Goes on to the next number: this one was taken.
  void advance() { ++number_; }

 private:
  NumberedName name_;
  std::uint64_t number_ = 1;
};

}  // namespace equalux
