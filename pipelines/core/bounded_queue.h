#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

/// The queue between two threads of a pipeline: bounded, closable, and either blocking or dropping
/// the oldest value.
namespace equalux {

/// A ring of at most `capacity` values. Thread-safe. After close() pushes are refused, and pops
/// drain what is left.
template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : ring_(capacity) {}

  /// Waits for room. Returns false where the queue is closed, and `value` is then untouched.
  bool push(T&& value) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return count_ < ring_.size() || closed_; });
    if (closed_) return false;
    put(std::move(value));
    filled_.notify_one();
    return true;
  }

  /// Never waits: a full queue drops its oldest value, which is returned (for live sources). On a
  /// closed queue `value` itself is returned.
  std::optional<T> push_newest(T&& value) {
    std::unique_lock lock(mutex_);
    if (closed_) return std::optional<T>(std::move(value));
    std::optional<T> dropped;
    if (count_ == ring_.size()) dropped = take();
    put(std::move(value));
    filled_.notify_one();
    return dropped;
  }

  /// Waits for a value; empty once the queue is closed and drained.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return count_ > 0 || closed_; });
    return take();
  }

  /// Returns a value if one is there now.
  std::optional<T> try_pop() {
    std::unique_lock lock(mutex_);
    return take();
  }

  /// Pops as pop() does, but waits until `deadline` at most.
  template <typename TimePoint>
  std::optional<T> pop_until(TimePoint deadline) {
    std::unique_lock lock(mutex_);
    filled_.wait_until(lock, deadline, [&] { return count_ > 0 || closed_; });
    return take();
  }

  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    room_.notify_all();
    filled_.notify_all();
  }

  /// Returns true once no value will come out again.
  [[nodiscard]] bool finished() const {
    const std::lock_guard lock(mutex_);
    return closed_ && count_ == 0;
  }

  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  void put(T&& value) {
    ring_[(head_ + count_) % ring_.size()] = std::move(value);
    ++count_;
  }
  /// Returns the oldest value; empty where there is none.
  std::optional<T> take() {
    if (count_ == 0) return std::nullopt;
    std::optional<T> value(std::move(ring_[head_]));
    ring_[head_] = T{};
    head_ = (head_ + 1) % ring_.size();
    --count_;
    room_.notify_one();
    return value;
  }

  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable filled_;
  std::vector<T> ring_;
  std::size_t head_ = 0;
  std::size_t count_ = 0;
  bool closed_ = false;
};

}  // namespace equalux
