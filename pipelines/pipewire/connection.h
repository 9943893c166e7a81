#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <pipewire/pipewire.h>

/// Connection to the PipeWire daemon.
namespace equalux::pipewire {

/// A thread of libpipewire, in which its callbacks run. All of libpipewire is called there or with
/// the lock held.
class Loop {
 public:
  /// Starts the thread. `name` is for messages. Throws Error(unavailable).
  explicit Loop(const std::string& name);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Holds the loop's lock during its lifetime.
  class Lock {
   public:
    explicit Lock(const Loop& loop) : loop_(loop.loop_) { pw_thread_loop_lock(loop_); }
    ~Lock() { pw_thread_loop_unlock(loop_); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    pw_thread_loop* loop_;
  };

  /// Releases the lock until wake() or the deadline; returns false where that has passed.
  [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point deadline) const;
  /// Wakes waiting threads. To be called by any thread that holds the lock.
  void wake() const { pw_thread_loop_signal(loop_, false); }

  [[nodiscard]] pw_context* context() const { return context_; }
  [[nodiscard]] pw_loop* events() const { return pw_thread_loop_get_loop(loop_); }

 private:
  pw_thread_loop* loop_ = nullptr;
  pw_context* context_ = nullptr;
};

/// A connection to the daemon. Made, used and destroyed with the loop's lock held.
class Connection {
 public:
  /// `lost` is called once, in the loop's thread, when the daemon goes away; it must not destroy
  /// the connection. `name` is for messages. Throws Error(unavailable).
  Connection(const Loop& loop, const std::string& name, std::function<void()> lost);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Waits until the daemon has answered all requests so far. Returns false where it did not in
  /// time, or is gone.
  [[nodiscard]] bool round_trip(std::chrono::milliseconds limit);

  [[nodiscard]] pw_core* core() const { return core_; }
  [[nodiscard]] bool is_lost() const { return is_lost_; }
  /// Version of the daemon, "0.3.65"; known after a round_trip().
  [[nodiscard]] const std::string& daemon_version() const { return daemon_version_; }

 private:
  const Loop& loop_;
  std::function<void()> lost_;
  pw_core* core_ = nullptr;
  spa_hook listener_{};
  pw_core_events events_{};
  int asked_ = 0;
  int answered_ = 0;
  bool is_lost_ = false;
  std::string daemon_version_;
};

}  // namespace equalux::pipewire
