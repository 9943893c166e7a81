#include "src/cli/stream/curve_file.h"

#include "src/cli/paths.h"
#include "src/common/log.h"

namespace equalux::cli {

CurveFile::CurveFile(const std::string& path) {
  if (path.empty()) return;
  const Descriptor pipe = wait_for_reader(path);
  file_.emplace(path);
}

void CurveFile::add(const std::optional<CurveSum>& clip) {
  if (clip) sum_.add(*clip);
}

void CurveFile::finish() {
  if (!file_) return;
  if (sum_.form.frames == 0) {
    logger().warn("curve {} is not written: there was no frame", file_->path());
    return;
  }
  const std::string text = curve_text(sum_.mean());
  file_->write(text.data(), text.size());
  file_->commit();
  logger().info("{} holds the mean curve of {} frames", file_->path(), sum_.form.frames);
}

}  // namespace equalux::cli
