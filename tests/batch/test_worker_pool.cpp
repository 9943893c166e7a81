#include <array>
#include <cerrno>
#include <csignal>
#include <map>
#include <set>
#include <thread>

#include <dlfcn.h>
#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include "src/cli/batch/worker_pool.h"
#include "tests/support/temp_folder.h"

/// The processes of a batch, with workers that do nothing but fail as they are asked to.
namespace equalux::cli {
namespace {

int forks = 0;
std::function<bool(int)> fork_fails;  ///< called with the number of the call, from 1

}  // namespace
}  // namespace equalux::cli

/// In place of the C library's, for the whole program.
extern "C" [[gnu::visibility("default")]] pid_t fork() noexcept {
  static const auto real = reinterpret_cast<pid_t (*)()>(::dlsym(RTLD_NEXT, "fork"));
  if (equalux::cli::fork_fails && equalux::cli::fork_fails(++equalux::cli::forks)) {
    errno = EAGAIN;
    return -1;
  }
  return real();
}

namespace equalux::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<WorkerPlace> devices(int count) {
  std::vector<WorkerPlace> places;
  for (int i = 0; i < count; ++i)
    places.push_back({"device " + std::to_string(i), i});
  return places;
}

const WorkerPlace kCpu{"the CPU", -1};

/// How a worker takes an order: what it answers, or it does not come back.
using Answer = std::function<nlohmann::json(const WorkerPlace&, std::size_t job)>;

int serve(const WorkerPlace& place, Channel& channel, const Answer& answer) {
  channel.send({{"say", "ready"}});
  while (channel.fill()) {
    while (const auto order = channel.next()) {
      const std::size_t job = order->at("job");
      nlohmann::json result = answer(place, job);
      result["say"] = "result";
      result["job"] = job;
      channel.send(result);
    }
  }
  return 0;
}

nlohmann::json done_by(const WorkerPlace& place) {
  return {{"status", "done"}, {"by", place.name}};
}

struct WorkerPoolTest : ::testing::Test {
  std::map<std::size_t, nlohmann::json> results;
  std::vector<std::pair<std::size_t, std::string>> starts;
  StopToken stop;
  std::size_t stop_at = 0;  ///< jobs begun before a stop; 0 = none
  test::TempFolder folder;

  void run(std::vector<WorkerPlace> places, std::optional<WorkerPlace> fallback, std::size_t count,
           const WorkerMain& main) {
    PoolEvents events;
    events.on_start = [this](std::size_t job, const WorkerPlace& place) {
      starts.emplace_back(job, place.name);
      if (starts.size() == stop_at) stop.signal = SIGTERM;
    };
    events.on_result = [this](std::size_t job, const nlohmann::json& message) {
      EXPECT_TRUE(results.emplace(job, message).second) << "job " << job << " ended twice";
    };
    std::vector<std::size_t> jobs(count);
    for (std::size_t i = 0; i < count; ++i)
      jobs[i] = i;
    WorkerPool pool(std::move(places), std::move(fallback), main, std::move(events));
    pool.set_grace(std::chrono::milliseconds(300));
    pool.run("job", jobs, stop);
  }
  void run(std::vector<WorkerPlace> places, std::optional<WorkerPlace> fallback, std::size_t count,
           const Answer& answer) {
    run(std::move(places), std::move(fallback), count,
        WorkerMain([answer](const WorkerPlace& place, Channel& channel) {
          return serve(place, channel, answer);
        }));
  }
  [[nodiscard]] std::vector<std::string> statuses() const {
    std::vector<std::string> all;
    for (const auto& [job, result] : results)
      all.push_back(result.at("status"));
    return all;
  }
  /// True the first time that it is asked for a name, in any process.
  [[nodiscard]] bool first_time(const std::string& name) const {
    const std::string path = folder / name;
    if (::access(path.c_str(), F_OK) == 0) return false;
    test::write_file(path, "");
    return true;
  }
};

TEST_F(WorkerPoolTest, EveryJobEndsOnce) {
  run(devices(3), std::nullopt, 40, [](const WorkerPlace& place, std::size_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // so that each gets some
    return done_by(place);
  });
  EXPECT_EQ(results.size(), 40U);
  std::set<std::string> places;
  for (const auto& [job, place] : starts)
    places.insert(place);
  EXPECT_THAT(places, SizeIs(3));
}

TEST_F(WorkerPoolTest, AJobThatKillsItsWorkerCostsTheOthersNothing) {
  run(devices(2), std::nullopt, 9, [](const WorkerPlace& place, std::size_t job) {
    if (job == 4) ::raise(SIGKILL);
    return done_by(place);
  });
  ASSERT_EQ(results.size(), 9U);
  for (const auto& [job, result] : results)
    EXPECT_EQ(result.at("status"), job == 4 ? "failed" : "done");
  EXPECT_THAT(results[4].at("reason").get<std::string>(), HasSubstr("signal 9"));
}

TEST_F(WorkerPoolTest, WhatAWorkerThrowsEndsThatWorkerAlone) {
  // Unwound, the child would run on in the test's own code, where a file tells of it.
  const std::string unwound = folder / "unwound";
  const pid_t parent = ::getpid();
  try {
    run(devices(2), std::nullopt, 4, Answer([](const WorkerPlace& place, std::size_t job) {
          if (job == 1) throw std::bad_alloc();
          return done_by(place);
        }));
  } catch (...) {
    if (::getpid() != parent) {
      test::write_file(unwound, "");
      ::_exit(0);
    }
    throw;
  }
  EXPECT_NE(::access(unwound.c_str(), F_OK), 0);
  EXPECT_THAT(statuses(), ElementsAre("done", "failed", "done", "done"));
}

TEST_F(WorkerPoolTest, AWorkerThatDiesOnceIsReplaced) {
  run(devices(1), std::nullopt, 3, [this](const WorkerPlace& place, std::size_t job) {
    if (job == 1 && first_time("died")) ::_exit(9);
    return done_by(place);
  });
  EXPECT_THAT(statuses(), ElementsAre("done", "done", "done"));
  EXPECT_THAT(starts, SizeIs(4));
}

TEST_F(WorkerPoolTest, ALostDevicesWorkGoesToAnother) {
  run(devices(2), kCpu, 12, [](const WorkerPlace& place, std::size_t) -> nlohmann::json {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (place.device == 0) {
      return {{"status", "failed"}, {"reason", "fell off the bus"}, {"device_lost", true}};
    }
    return done_by(place);
  });
  ASSERT_EQ(results.size(), 12U);
  for (const auto& [job, result] : results)
    EXPECT_EQ(result.at("by"), "device 1");
}

TEST_F(WorkerPoolTest, ADeviceThatComesBackGoesOn) {
  run(devices(1), kCpu, 5, [this](const WorkerPlace& place, std::size_t job) -> nlohmann::json {
    if (job == 2 && first_time("lost")) return {{"status", "failed"}, {"device_lost", true}};
    return done_by(place);
  });
  ASSERT_EQ(results.size(), 5U);
  for (const auto& [job, result] : results)
    EXPECT_EQ(result.at("by"), "device 0");
}

/// The file is the cause: the others are done on the devices as ever.
TEST_F(WorkerPoolTest, AJobThatDevicesAreLostOnCostsTheOthersNothing) {
  for (const bool may_fall_back : {true, false}) {
    for (const int count : {1, 2}) {
      results.clear();
      starts.clear();
      run(devices(count), may_fall_back ? std::optional(kCpu) : std::nullopt, 6,
          [](const WorkerPlace& place, std::size_t job) -> nlohmann::json {
            if (job == 1 && place.device >= 0) {
              return {{"status", "failed"}, {"reason", "fell off the bus"}, {"device_lost", true}};
            }
            return done_by(place);
          });
      ASSERT_EQ(results.size(), 6U);
      for (const auto& [job, result] : results) {
        if (job != 1) {
          EXPECT_THAT(result.at("by"), ::testing::StartsWith("device "));
        } else if (may_fall_back) {
          EXPECT_EQ(result.at("by"), "the CPU");
        } else {
          EXPECT_EQ(result.at("reason"), "fell off the bus");
        }
      }
    }
  }
}

TEST_F(WorkerPoolTest, WhereEveryDeviceIsLostTheCpuTakesOver) {
  run(devices(3), kCpu, 8, [](const WorkerPlace& place, std::size_t job) -> nlohmann::json {
    if (place.device >= 0 && job >= 2) return {{"status", "failed"}, {"device_lost", true}};
    return done_by(place);
  });
  ASSERT_EQ(results.size(), 8U);
  for (const auto& [job, result] : results) {
    if (job < 2) continue;
    EXPECT_EQ(result.at("by"), "the CPU") << job;
  }
}

TEST_F(WorkerPoolTest, WithoutAFallbackTheRestFailsAndSaysWhy) {
  run(devices(1), std::nullopt, 4, [](const WorkerPlace& place, std::size_t job) -> nlohmann::json {
    if (job >= 1) return {{"status", "failed"}, {"reason", "gone"}, {"device_lost", true}};
    return done_by(place);
  });
  EXPECT_THAT(statuses(), ElementsAre("done", "failed", "failed", "failed"));
  EXPECT_EQ(results[3].at("reason"), "gone");
}

WorkerMain refusing(int from_device) {
  return [from_device](const WorkerPlace& place, Channel& channel) {
    if (place.device >= from_device) {
      channel.send({{"say", "refused"}, {"code", 69}, {"text", "no such device"}});
      return 69;
    }
    return serve(place, channel, [](const WorkerPlace& at, std::size_t) { return done_by(at); });
  };
}

TEST_F(WorkerPoolTest, ADeviceThatIsNotThereIsDoneWithout) {
  run(devices(2), std::nullopt, 6, refusing(1));
  ASSERT_EQ(results.size(), 6U);
  for (const auto& [job, result] : results)
    EXPECT_EQ(result.at("by"), "device 0");
  results.clear();
  run(devices(2), kCpu, 6, refusing(0));
  ASSERT_EQ(results.size(), 6U);
  for (const auto& [job, result] : results)
    EXPECT_EQ(result.at("by"), "the CPU");
}

TEST_F(WorkerPoolTest, WhereNobodyCanBeginThatIsTheError) {
  ::testing::internal::CaptureStderr();
  try {
    run(devices(2), std::nullopt, 3, refusing(0));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::unavailable);
    EXPECT_STREQ(error.what(), "no such device");
  }
  // It is said once, by the error.
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_THROW(
      run(devices(2), std::nullopt, 3, WorkerMain([](const WorkerPlace&, Channel&) { return 1; })),
      Error);
}

/// A machine that is short of processes or memory.
struct ForksThatFail : WorkerPoolTest {
  ForksThatFail() { forks = 0; }
  ~ForksThatFail() override { fork_fails = nullptr; }
};

TEST_F(ForksThatFail, FewerWorkersDoAll) {
  fork_fails = [](int call) { return call != 2; };
  run(devices(3), std::nullopt, 6, [](const WorkerPlace& place, std::size_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return done_by(place);
  });
  ASSERT_EQ(results.size(), 6U);
  for (const auto& [job, result] : results)
    EXPECT_EQ(result.at("by"), "device 1");
}

TEST_F(ForksThatFail, TheOnlyWorkerIsWaitedFor) {
  fork_fails = [](int call) { return call <= 2; };
  run(devices(1), std::nullopt, 2,
      [](const WorkerPlace& place, std::size_t) { return done_by(place); });
  EXPECT_THAT(statuses(), ElementsAre("done", "done"));
  EXPECT_EQ(forks, 3);
}

TEST_F(ForksThatFail, WithoutAnyWorkerThatIsTheErrorSoon) {
  fork_fails = [](int) { return true; };
  const auto begin = Clock::now();
  try {
    run(devices(2), std::nullopt, 3,
        [](const WorkerPlace& place, std::size_t) { return done_by(place); });
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::unavailable);
    EXPECT_THAT(error.what(), HasSubstr("a worker process cannot be started: Resource temporar"));
  }
  EXPECT_LT(milliseconds(Clock::now() - begin), 5000);
}

TEST_F(ForksThatFail, WhenNoneCanBeReplacedTheRestFails) {
  fork_fails = [](int call) { return call > 1; };
  run(devices(1), std::nullopt, 3, [](const WorkerPlace& place, std::size_t job) {
    if (job == 1) ::_exit(9);
    return done_by(place);
  });
  EXPECT_THAT(statuses(), ElementsAre("done", "failed", "failed"));
  EXPECT_THAT(results[2].at("reason").get<std::string>(), HasSubstr("cannot be started"));
  EXPECT_EQ(results[2].at("code"), 69);
}

TEST_F(WorkerPoolTest, AStopEndsThoseAtWorkAndBeginsNoOther) {
  for (const bool obeys : {true, false}) {
    results.clear();
    starts.clear();
    stop.signal = 0;
    stop_at = 2;
    const auto begin = Clock::now();
    const auto before = std::signal(SIGTERM, obeys ? SIG_DFL : SIG_IGN);
    run(devices(2), std::nullopt, 9, [](const WorkerPlace& place, std::size_t) {
      for (;;)
        ::pause();
      return done_by(place);
    });
    std::signal(SIGTERM, before);
    EXPECT_LT(milliseconds(Clock::now() - begin), 2000);
    EXPECT_THAT(starts, SizeIs(2));
    EXPECT_THAT(statuses(), ElementsAre("stopped", "stopped"));
    for (const auto& [job, result] : results)
      EXPECT_EQ(result.at("code"), 128 + SIGTERM);
  }
}

TEST(Channel, KeepsMessagesApartAndLeavesOutWhatIsNone) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  Channel receiver{Descriptor(ends[1])};
  {
    Channel sender{Descriptor(ends[0])};
    sender.send({{"a", 1}});
    sender.send({{"name", "caf\xe9"}});  // Names of files may be no UTF-8.
    ASSERT_EQ(::write(ends[0], "[1]\nnonsense\n{\"b\":", 18), 18);
    EXPECT_TRUE(receiver.fill());
    EXPECT_EQ(receiver.next()->at("a"), 1);
    EXPECT_EQ(receiver.next()->at("name"), "caf\xef\xbf\xbd");
    EXPECT_FALSE(receiver.next());
    ASSERT_EQ(::write(ends[0], "2}\n", 3), 3);
    EXPECT_TRUE(receiver.fill());
    EXPECT_EQ(receiver.next()->at("b"), 2);
  }
  EXPECT_FALSE(receiver.fill());
}

}  // namespace
}  // namespace equalux::cli
