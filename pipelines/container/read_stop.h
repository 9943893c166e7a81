#pragma once

#include <atomic>
#include <chrono>

namespace equalux {

/// Ends waits for a web server that has stopped sending, once the run is being stopped. Data that
/// arrives without much delay is still read.
class ReadStop {
 public:
  /// Ends the waits. Any thread may call it.
  void set() noexcept { is_set_ = true; }
  [[nodiscard]] bool is_set() const noexcept { return is_set_; }
  /// Marks the start of a read. Called by the reader's thread.
  void begin() noexcept { begun_ = std::chrono::steady_clock::now(); }
  /// Returns true where the read that began last should end.
  [[nodiscard]] bool is_over() const noexcept {
    constexpr std::chrono::milliseconds kUsual{300};
    return is_set_ && std::chrono::steady_clock::now() - begun_.load() > kUsual;
  }

 private:
  std::atomic<bool> is_set_{false};
  std::atomic<std::chrono::steady_clock::time_point> begun_{};
};

}  // namespace equalux
