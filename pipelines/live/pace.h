#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "pipelines/core/frame.h"

/// When frames that are not live are shown to those who look on.
namespace equalux {

/// Frames in the order of their times. cancel() may come from any thread.
class Pace {
 public:
  /// Waits until a frame is due. One that comes late by more than a second is due at once, and the
  /// next ones by its time.
  void wait_for(const Frame& frame);
  /// Ends the wait, and those to come.
  void cancel() noexcept;

 private:
  bool started_ = false;
  Clock::time_point start_;
  std::int64_t first_ns_ = 0;
  std::mutex mutex_;
  std::condition_variable cancelled_now_;
  bool cancelled_ = false;
};

}  // namespace equalux
