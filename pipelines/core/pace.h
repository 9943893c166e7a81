#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "pipelines/core/frame.h"

/// Pacing of frames that are not live for live viewers.
namespace equalux {

/// Waits until frames are due, in the order of their times. cancel() may come from any thread.
class Pace {
 public:
  /// Waits until a frame is due. One that is more than a second late is due at once, and sets the
  /// clock for the next ones.
  void wait_for(const Frame& frame);
  /// Ends this wait and all later ones.
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
