#pragma once

#include <chrono>
#include <string_view>
#include <vector>

#include <equalux/filter.h>

/// Times of the stages of a frame on the CPU.
namespace equalux {

/// Clock of stages; without a receiver of times it never reads the time.
class StageClock {
 public:
  explicit StageClock(std::vector<StageTime>* times) : times_(times) {
    if (times_ != nullptr) last_ = Clock::now();
  }
  /// Ends a stage, which began where the one before it ended.
  void lap(std::string_view stage) {
    if (times_ == nullptr) return;
    const Clock::time_point now = Clock::now();
    times_->push_back({stage, std::chrono::duration<double, std::milli>(now - last_).count()});
    last_ = now;
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::vector<StageTime>* times_;
  Clock::time_point last_;
};

}  // namespace equalux
