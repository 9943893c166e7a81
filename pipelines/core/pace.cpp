#include "pipelines/core/pace.h"

#include <chrono>

namespace equalux {
namespace {

constexpr auto kMostLate = std::chrono::seconds(1);

}  // namespace

void Pace::wait_for(const Frame& frame) {
  const auto now = Clock::now();
  const auto due = start_ + std::chrono::nanoseconds(frame.pts_ns - first_ns_);
  if (!started_ || now - due > kMostLate) {
    started_ = true;
    start_ = now;
    first_ns_ = frame.pts_ns;
    return;
  }
  std::unique_lock lock(mutex_);
  cancelled_now_.wait_until(lock, due, [this] { return cancelled_; });
}

void Pace::cancel() noexcept {
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
  }
  cancelled_now_.notify_all();
}

}  // namespace equalux
