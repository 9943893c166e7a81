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

/// Processes that work on jobs, one job each at a time. What kills one of them, a broken file or a
/// lost device, costs the others nothing.
namespace equalux::cli {

/// The place where a worker runs.
struct WorkerPlace {
  std::string name;        ///< for messages: "the CPU", "device 1"
  int device = -1;         ///< CUDA's number; -1 = no device of its own
  bool stands_in = false;  ///< on the CPU, for devices that are lost
};

/// What a worker process does with its life; returns its exit code. It runs in a child that was
/// forked off, so nothing of CUDA, GStreamer or OpenCV may have been started before.
using WorkerMain = std::function<int(const WorkerPlace&, Channel&)>;

struct PoolEvents {
  std::function<void(std::size_t job, const WorkerPlace&)> on_start;
  std::function<void(const nlohmann::json&)> on_news;  ///< progress, phase and log messages
  /// An order is through, with what the worker said of it, or why it could not be.
  std::function<void(std::size_t job, const nlohmann::json&)> on_result;
  std::function<void()> on_tick;  ///< about four times a second
};

/// One thread, that must be the only one of the process.
class WorkerPool {
 public:
  /// How often a job is tried whose worker died, or that devices were lost on.
  static constexpr int kAttempts = 2;
  /// How often a place may fail in a row before no more work is given to it.
  static constexpr int kFailures = 2;
  /// How long workers have to end once they are told to.
  static constexpr std::chrono::milliseconds kGrace{4000};

  /// `fallback` takes over where every other place is lost, a device at least among them, and jobs
  /// that devices were lost on again and again; nothing = then these fail.
  WorkerPool(std::vector<WorkerPlace> places, std::optional<WorkerPlace> fallback, WorkerMain work,
             PoolEvents events);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Sets another time than kGrace.
  void set_grace(std::chrono::milliseconds grace) { grace_ = grace; }

  /// Has every job done, in order as places get free; each ends in one on_result. `order` is what a
  /// worker is told to do with them. Ends early, with what is under way told to stop, once the
  /// token is set; jobs that were not begun then get no result. Throws Error where no worker could
  /// begin at all.
  void run(const std::string& order, std::vector<std::size_t> jobs, const StopToken& stop);

 private:
  struct Worker {
    WorkerPlace place;
    pid_t pid = -1;
    std::unique_ptr<Channel> channel;
    bool ready = false;
    bool retired = false;
    int failures = 0;
    std::optional<std::size_t> job;
  };

  void start(Worker& worker);
  void give_work(const std::string& order);
  void wait_for_news();
  void listen(Worker& worker);
  void obey(Worker& worker, const nlohmann::json& message);
  void lost(Worker& worker, const std::string& why, bool of_device);
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
  bool any_ready_ = false;                 // some worker has begun
  bool device_lost_ = false;
  bool stopping_ = false;
  std::chrono::milliseconds grace_ = kGrace;
  std::string refusal_;  // the last place's reason
  ExitCode refusal_code_ = ExitCode::unavailable;
};

}  // namespace equalux::cli
