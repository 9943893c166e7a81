#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <equalux/error.h>
#include <sys/types.h>

#include "pipelines/core/run.h"
#include "src/cli/batch/channel.h"

/// Pool of worker processes, one job each at a time. Whatever kills one of them, a broken file or a
/// lost device, does not affect the others.
namespace equalux::cli {

/// Place where a worker runs.
struct WorkerPlace {
  std::string name;        ///< for messages: "the CPU", "device 1"
  int device = -1;         ///< CUDA's ordinal; -1 = no device of its own
  bool stands_in = false;  ///< on the CPU, as replacement of lost devices
  bool is_first = false;   ///< tells what holds for all workers
};

/// Body of a worker process; returns its exit code. It runs in a forked child, so that CUDA,
/// GStreamer and OpenCV must not have been started before.
using WorkerMain = std::function<int(const WorkerPlace&, Channel&)>;

struct PoolEvents {
  std::function<void(std::size_t job, const WorkerPlace&)> on_start;
  /// Called with progress, phase and log messages.
  std::function<void(const nlohmann::json&)> on_news;
  /// Called when an order is finished, with the worker's result or the reason why there is none.
  std::function<void(std::size_t job, const nlohmann::json&)> on_result;
  std::function<void()> on_tick;  ///< about four times a second
};

/// Pool. One thread, which must be the only one of the process.
class WorkerPool {
 public:
  /// Attempts at a job whose worker died or whose device was lost.
  static constexpr int kAttempts = 2;
  /// Failures in a row after which a place gets no more work.
  static constexpr int kFailures = 2;
  /// Attempts at starting a worker while no other one runs, and the time between them.
  static constexpr int kStarts = 4;
  static constexpr std::chrono::milliseconds kStartPause{1000};
  /// Time that workers have to end after they are told to.
  static constexpr std::chrono::milliseconds kGrace{4000};

  /// Makes a pool. `fallback` takes over where all places are lost, one of them a device, and takes
  /// jobs whose devices were lost repeatedly; without it these jobs fail.
  WorkerPool(std::vector<WorkerPlace> places, std::optional<WorkerPlace> fallback, WorkerMain work,
             PoolEvents events);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Sets another time than kGrace.
  void set_grace(std::chrono::milliseconds grace) { grace_ = grace; }

  /// Runs all jobs, in order as places become free; each ends in one on_result. `order` is sent to
  /// workers with each job. Ends early once the token is set: jobs in progress are told to stop,
  /// and jobs not begun get no result. Throws Error where no worker could start.
  void run(const std::string& order, std::vector<std::size_t> jobs, const StopToken& stop);

 private:
  struct Worker {
    WorkerPlace place;
    pid_t pid = -1;
    std::unique_ptr<Channel> channel;
    bool ready = false;
    bool retired = false;
    int failures = 0;
    Clock::time_point not_before{};  ///< of its next start
    std::optional<std::size_t> job;
  };

  void start(Worker& worker);
  void cannot_start(Worker& worker, int error_number);
  void give_work(const std::string& order);
  void wait_for_news();
  void listen(Worker& worker);
  void obey(Worker& worker, const nlohmann::json& message);
  void lost(Worker& worker, const std::string& why, bool of_device);
  void tell_failures(const std::string& thrown = "");
  void give_up(std::size_t job, const std::string& why);
  void fall_back();
  [[nodiscard]] bool may_fall_back() const { return fallback_ && device_lost_; }
  void ended(Worker& worker);
  void fail_rest();
  void stop_all(int signal);
  [[nodiscard]] std::string reap(Worker& worker);
  [[nodiscard]] bool any_busy() const;
  void let_go(Worker& worker);

  std::vector<std::unique_ptr<Worker>> workers_;
  std::optional<WorkerPlace> fallback_;
  WorkerMain work_;
  PoolEvents events_;
  std::deque<std::size_t> waiting_;
  std::vector<int> attempts_;              // by job
  std::vector<std::size_t> for_fallback_;  // jobs that no device gets again
  bool any_ready_ = false;                 // some worker was ready
  bool device_lost_ = false;
  int stopping_ = 0;  ///< the signal that ends the pool
  std::chrono::milliseconds grace_ = kGrace;
  std::string refusal_;  // reason of the last place that failed
  /// Places that failed before any could begin, and why; told once one can, since otherwise why is
  /// the error of them all.
  std::vector<std::pair<std::string, std::string>> untold_;
  ExitCode refusal_code_ = ExitCode::unavailable;
};

}  // namespace equalux::cli
