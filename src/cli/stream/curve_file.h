#pragma once

#include <optional>
#include <string>

#include <equalux/curve.h>

#include "pipelines/files/partial_file.h"

/// The file of --curve-to.
namespace equalux::cli {

/// Created at once, so that a folder that is missing is told before the first frame; there under
/// its name only once it is written. One thread at a time.
class CurveFile {
 public:
  /// Does nothing for an empty path. Throws Error(cannot_create).
  explicit CurveFile(const std::string& path);

  /// The curves of a clip; nothing where it has none.
  void add(const std::optional<CurveSum>& clip);
  /// Writes the mean of all. Where there was no frame there is none: says so, and leaves no file.
  /// Throws Error(write_failed).
  void finish();

 private:
  std::optional<PartialFile> file_;
  CurveSum sum_;
};

}  // namespace equalux::cli
