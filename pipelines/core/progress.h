#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "pipelines/core/run.h"

/// Progress of a run. The threads that move frames only count; the reporting thread reads the
/// clock.
namespace equalux {

/// Counts frames and computes rates. One thread calls add(), one other thread everything else.
class ProgressMeter {
 public:
  /// Starts the clock. `max_frames` 0 = all; `done` frames were written by an earlier run.
  void start(const StreamInfo& info, std::uint64_t max_frames, std::uint64_t done = 0);

  /// Counts a frame that the sink is done with.
  void add(const Frame& frame) {
    pts_ns_.store(frame.pts_ns, std::memory_order_relaxed);
    frames_.fetch_add(1, std::memory_order_relaxed);
  }

  [[nodiscard]] RunProgress report();

 private:
  struct Sample {
    Clock::time_point time;
    std::uint64_t frames = 0;
  };
  [[nodiscard]] std::optional<double> fraction(std::uint64_t frames) const;

  std::atomic<std::uint64_t> frames_{0};
  std::atomic<std::int64_t> pts_ns_{0};
  std::optional<std::uint64_t> expected_;
  std::optional<std::int64_t> duration_ns_;
  Clock::time_point start_;
  std::array<Sample, 2> last_{};  // oldest first: two reports ago is about a second ago
};

}  // namespace equalux
