#include "pipelines/core/progress.h"

#include <algorithm>
#include <chrono>

namespace equalux {
namespace {

double seconds(Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

void ProgressMeter::start(const StreamInfo& info, std::uint64_t max_frames, std::uint64_t done) {
  expected_ = info.frames;
  if (max_frames > 0) expected_ = std::min(max_frames, expected_.value_or(max_frames));
  duration_ns_ = info.duration_ns;
  start_ = Clock::now();
  frames_ = done;
  last_.fill({start_, done});
}

std::optional<double> ProgressMeter::fraction(std::uint64_t frames) const {
  if (expected_ && *expected_ > 0) {
    return std::min(1.0, static_cast<double>(frames) / static_cast<double>(*expected_));
  }
  if (duration_ns_ && *duration_ns_ > 0) {
    const auto pts_ns = static_cast<double>(pts_ns_.load(std::memory_order_relaxed));
    return std::clamp(pts_ns / static_cast<double>(*duration_ns_), 0.0, 1.0);
  }
  return std::nullopt;
}

RunProgress ProgressMeter::report() {
  const Sample now{Clock::now(), frames_.load(std::memory_order_relaxed)};
  RunProgress progress;
  progress.frames = now.frames;
  progress.expected = expected_;
  progress.elapsed_s = seconds(now.time - start_);
  progress.fraction = fraction(now.frames);
  const double window_s = seconds(now.time - last_.front().time);
  if (window_s > 0) {
    progress.fps = static_cast<double>(now.frames - last_.front().frames) / window_s;
  }
  last_ = {last_.back(), now};
  return progress;
}

}  // namespace equalux
