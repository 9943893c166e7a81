#include "src/cli/stream/measurements.h"

#include "src/cli/paths.h"

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

}  // namespace equalux::cli
