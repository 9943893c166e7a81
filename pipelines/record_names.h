#pragma once

#include <cstdint>
#include <string>

#include "image_names.h"

/// Names of a recording's files.
namespace equalux {

/// "rec.mkv" stands for rec-00001.mkv, rec-00002.mkv and so on; a name with %Nd in it has its
/// number there. One thread at a time.
class RecordNames {
 public:
  /// Begins behind the highest number that is there, whole or partial: what was recorded before
  /// stays.
  explicit RecordNames(const std::string& path);

  /// The name that is next.
  [[nodiscard]] std::string next() const { return name_.at(number_); }
  /// It was taken.
  void advance() { ++number_; }

 private:
  NumberedName name_;
  std::uint64_t number_ = 1;
};

}  // namespace equalux
