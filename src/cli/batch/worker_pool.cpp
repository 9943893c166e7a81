#include "src/cli/batch/worker_pool.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/common/log.h"
#include "src/common/system_error.h"

namespace equalux::cli {
namespace {

constexpr int kTickMs = 250;
/// Exit code of a worker that ended by an exception.
constexpr int kThrown = 70;

std::string ending_of(int status) {
  if (WIFSIGNALED(status)) {
    return "was ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
           ::strsignal(WTERMSIG(status)) + ")";
  }
  return "ended with " + std::to_string(WEXITSTATUS(status));
}

nlohmann::json failure(ExitCode code, const std::string& why) {
  return {{"status", "failed"}, {"reason", why}, {"code", static_cast<int>(code)}};
}

nlohmann::json stopped(int signal) {
  return {{"status", "stopped"},
          {"reason", "stopped by a signal; the same command goes on with it"},
          {"code", 128 + signal}};
}

}  // namespace

WorkerPool::WorkerPool(std::vector<WorkerPlace> places, std::optional<WorkerPlace> fallback,
                       WorkerMain work, PoolEvents events)
    : fallback_(std::move(fallback)), work_(std::move(work)), events_(std::move(events)) {
  for (WorkerPlace& place : places) {
    workers_.push_back(std::make_unique<Worker>());
    workers_.back()->place = std::move(place);
  }
}

WorkerPool::~WorkerPool() {
  for (auto& worker : workers_)
    let_go(*worker);
}

void WorkerPool::run(const std::string& order, std::vector<std::size_t> jobs,
                     const StopToken& stop) {
  waiting_.assign(jobs.begin(), jobs.end());
  attempts_.assign(jobs.empty() ? 0 : *std::max_element(jobs.begin(), jobs.end()) + 1, 0);
  while (!waiting_.empty() || any_busy() || !for_fallback_.empty()) {
    if (const int signal = stop.signal; signal != 0) {
      stop_all(signal);
      return;
    }
    give_work(order);
    if (waiting_.empty() && !any_busy() && for_fallback_.empty()) break;
    const bool devices_are_done = waiting_.empty() && !any_busy();
    const bool none_left = std::all_of(workers_.begin(), workers_.end(),
                                       [](const auto& worker) { return worker->retired; });
    if ((none_left || devices_are_done) && may_fall_back()) {
      fall_back();
    } else if (none_left) {
      fail_rest();
    } else {
      wait_for_news();
    }
    if (events_.on_tick) events_.on_tick();
  }
}

bool WorkerPool::any_busy() const {
  return std::any_of(workers_.begin(), workers_.end(),
                     [](const auto& worker) { return worker->job.has_value(); });
}

void WorkerPool::give_work(const std::string& order) {
  std::size_t starting = 0;
  for (auto& worker : workers_) {
    if (worker->retired || worker->job) continue;
    if (worker->ready && !waiting_.empty()) {
      worker->job = waiting_.front();
      waiting_.pop_front();
      if (events_.on_start) events_.on_start(*worker->job, worker->place);
      worker->channel->send({{"do", order}, {"job", *worker->job}});
    } else if (!worker->ready) {
      // No more processes than files that wait.
      const bool wanted = worker->pid < 0 && starting < waiting_.size();
      if (wanted && Clock::now() >= worker->not_before) start(*worker);
      if (worker->pid >= 0) ++starting;
    }
  }
}

void WorkerPool::start(Worker& worker) {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    cannot_start(worker, errno);
    return;
  }
  Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ours.close();
    // Open copies of the others' sockets would keep them from seeing the parent's end.
    for (auto& other : workers_)
      other->channel.reset();
    int code = 1;
    try {
      Channel channel(std::move(theirs));
      code = work_(worker.place, channel);
    } catch (...) {
      // Unwinding would run the parent's destructors, whose pool ends the other workers.
      code = kThrown;
    }
    std::fflush(nullptr);
    ::_exit(code);
  }
  if (child < 0) {
    cannot_start(worker, errno);
    return;
  }
  worker.pid = child;
  worker.ready = false;
  worker.channel = std::make_unique<Channel>(std::move(ours));
}

/// Lets a place wait that the machine has no process for. It is done without while others work.
void WorkerPool::cannot_start(Worker& worker, int error_number) {
  refusal_ = "a worker process cannot be started: " + system_error_text(error_number);
  refusal_code_ = ExitCode::unavailable;
  const bool others_work = std::any_of(workers_.begin(), workers_.end(),
                                       [](const auto& other) { return other->pid >= 0; });
  worker.not_before = Clock::now() + kStartPause;
  worker.retired = ++worker.failures >= (others_work ? kFailures : kStarts);
  if (worker.retired && others_work) logger().warn("{}; one file fewer at a time", refusal_);
}

void WorkerPool::wait_for_news() {
  std::vector<pollfd> waits;
  std::vector<Worker*> owners;
  for (auto& worker : workers_) {
    if (!worker->channel) continue;
    waits.push_back({worker->channel->descriptor(), POLLIN, 0});
    owners.push_back(worker.get());
  }
  if (::poll(waits.data(), waits.size(), kTickMs) <= 0) return;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    if (waits[i].revents != 0) listen(*owners[i]);
  }
}

void WorkerPool::listen(Worker& worker) {
  const bool open = worker.channel->fill();
  while (worker.channel) {
    const std::optional<nlohmann::json> message = worker.channel->next();
    if (!message) break;
    obey(worker, *message);
  }
  if (!open && worker.channel) ended(worker);
}

void WorkerPool::obey(Worker& worker, const nlohmann::json& message) {
  const std::string say = message.value("say", "");
  if (say == "ready") {
    worker.ready = any_ready_ = true;
    tell_failures();
  } else if (say == "refused") {
    refusal_ = message.value("text", "");
    refusal_code_ = static_cast<ExitCode>(message.value("code", 69));
    worker.failures = kFailures;
    lost(worker, refusal_, worker.place.device >= 0);
  } else if (say == "result" && worker.job) {
    if (message.value("device_lost", false)) {
      lost(worker, message.value("reason", ""), true);
      return;
    }
    const std::size_t job = *std::exchange(worker.job, std::nullopt);
    worker.failures = 0;
    if (events_.on_result) events_.on_result(job, message);
  } else if (events_.on_news) {
    events_.on_news(message);
  }
}

/// Leaves the rest to the CPU.
void WorkerPool::fall_back() {
  tell_failures();
  logger().warn("{} takes over what is left", fallback_->name);
  for (auto& worker : workers_) {
    let_go(*worker);
    worker->retired = true;
  }
  waiting_.insert(waiting_.end(), for_fallback_.begin(), for_fallback_.end());
  for_fallback_.clear();
  workers_.push_back(std::make_unique<Worker>());
  workers_.back()->place = *std::exchange(fallback_, std::nullopt);
}

/// Gives up a file that failed in several places: left to the CPU where that is allowed, else
/// failed.
void WorkerPool::give_up(std::size_t job, const std::string& why) {
  if (fallback_) {
    for_fallback_.push_back(job);
  } else if (events_.on_result) {
    events_.on_result(job, failure(ExitCode::unavailable, why));
  }
}

/// Handles a failed place. The file may not be the cause: it goes to the end of the queue, so that
/// the files before it show whether the place still works.
void WorkerPool::lost(Worker& worker, const std::string& why, bool of_device) {
  refusal_ = why;
  device_lost_ = device_lost_ || of_device;
  if (worker.job && stopping_ == 0) {
    const std::size_t job = *std::exchange(worker.job, std::nullopt);
    if (++attempts_[job] < kAttempts) {
      waiting_.push_back(job);
    } else {
      give_up(job, why);
    }
  }
  let_go(worker);
  worker.retired = ++worker.failures >= kFailures;
  if (worker.retired && !any_ready_ && !may_fall_back()) {
    untold_.emplace_back(worker.place.name, why);
    return;
  }
  logger().warn("{} failed: {}{}", worker.place.name, why,
                worker.retired ? "; it gets no more work" : "; it is tried once more");
}

/// Logs the places that could not begin, but for those whose reason is thrown.
void WorkerPool::tell_failures(const std::string& thrown) {
  for (const auto& [place, why] : std::exchange(untold_, {})) {
    if (why != thrown) logger().warn("{} failed: {}; it gets no more work", place, why);
  }
}

/// Handles a worker that died; its file is tried once more.
void WorkerPool::ended(Worker& worker) {
  const std::string how = reap(worker);
  if (!worker.job) {
    refusal_ = "a worker process " + how;
    worker.retired = ++worker.failures >= kFailures;
    return;
  }
  const std::size_t job = *std::exchange(worker.job, std::nullopt);
  if (stopping_ != 0) {
    if (events_.on_result) events_.on_result(job, stopped(stopping_));
  } else if (++attempts_[job] < kAttempts) {
    logger().warn("a worker process {}; its file is tried once more", how);
    waiting_.push_front(job);
  } else if (events_.on_result) {
    events_.on_result(job, failure(ExitCode::unavailable, "its worker process " + how));
  }
}

/// Fails the remaining files where no worker is left.
void WorkerPool::fail_rest() {
  if (!any_ready_) {
    tell_failures(refusal_);
    throw Error(refusal_code_, refusal_);
  }
  for (const std::size_t job : std::exchange(waiting_, {})) {
    if (events_.on_result) events_.on_result(job, failure(refusal_code_, refusal_));
  }
}

void WorkerPool::stop_all(int signal) {
  stopping_ = signal;
  waiting_.clear();
  for (auto& worker : workers_) {
    if (worker->pid > 0) ::kill(worker->pid, signal);
  }
  const auto deadline = Clock::now() + grace_;
  while (any_busy() && Clock::now() < deadline)
    wait_for_news();
  for (auto& worker : workers_) {
    // A killed worker leaves its file to be resumed.
    if (worker->job && events_.on_result) {
      events_.on_result(*std::exchange(worker->job, std::nullopt), stopped(stopping_));
    }
    if (worker->pid > 0) ::kill(worker->pid, SIGKILL);
    let_go(*worker);
  }
}

std::string WorkerPool::reap(Worker& worker) {
  int status = 0;
  while (::waitpid(worker.pid, &status, 0) < 0 && errno == EINTR) {
  }
  worker.pid = -1;
  worker.ready = false;
  worker.channel.reset();
  return ending_of(status);
}

/// Ends the process; one that is at work is killed.
void WorkerPool::let_go(Worker& worker) {
  if (worker.pid < 0) return;
  const bool idle = worker.ready && !worker.job;
  worker.channel.reset();
  if (!idle) ::kill(worker.pid, SIGKILL);
  static_cast<void>(reap(worker));
}

}  // namespace equalux::cli
