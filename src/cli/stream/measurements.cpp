#include "src/cli/stream/measurements.h"

#include "src/cli/paths.h"
#include "src/common/log.h"
#include "src/options/option_values.h"

namespace equalux::cli {

void Measurements::open(const StreamInfo& info) {
  if (!options_.timings.empty()) {
    const Descriptor pipe = wait_for_reader(options_.timings);
    timings_.emplace(options_.timings);
  }
  if (options_.verify) {
    const Descriptor pipe = wait_for_reader(*options_.verify);
    hashes_.emplace(*options_.verify, info, resumed_);
  }
}

void Measurements::add_frame(const Frame& frame) {
  summary_.add(frame);
  log_timings(frame);
  if (timings_) timings_->write(frame);
}

void Measurements::add_result(const Frame& frame) {
  if (hashes_) hashes_->write(frame);
}

std::uint64_t Measurements::hash_bytes() {
  return hashes_ ? hashes_->flush() : 0;
}

void Measurements::finish() {
  if (timings_) timings_->finish();
  if (hashes_) hashes_->finish();
}

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
  std::string note =
      file_->path() + " holds the mean curve of " + counted(sum_.form.frames, "frame");
  // The frames of --curve-from keep their own saturation.
  if (const std::string* factor = find_value(sum_.form.made_with, "saturation"))
    note += "; saturation " + *factor + " is no part of it";
  logger().info("{}", note);
}

}  // namespace equalux::cli
