#include "src/cpu/common/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <equalux/error.h>
#include <sched.h>

#if !defined(EQUALUX_PLAIN_THREADS)
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#endif

namespace equalux {

void check_threads(int threads) {
  constexpr int kMost = 1024;
  if (threads >= 0 && threads <= kMost) return;
  throw Error(ExitCode::usage,
              "threads is " + std::to_string(threads) + ", must be 0 to " + std::to_string(kMost));
}

int available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

#if defined(EQUALUX_PLAIN_THREADS)

// Plain threads for ThreadSanitizer, which cannot see the synchronisation inside Debian's oneTBB.
struct RowExecutor::Impl {
  void for_rows(int rows, int threads, RowsBody body) {
    std::vector<std::thread> workers;
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(threads));
    for (int t = 0; t < threads; ++t) {
      workers.emplace_back([&, t] {
        const auto at = [&](int part) {
          return static_cast<int>(std::int64_t{rows} * part / threads);
        };
        try {
          if (at(t) < at(t + 1)) body(at(t), at(t + 1), t);
        } catch (...) {
          failures[static_cast<std::size_t>(t)] = std::current_exception();
        }
      });
    }
    for (std::thread& worker : workers)
      worker.join();
    for (const std::exception_ptr& failure : failures) {
      if (failure != nullptr) std::rethrow_exception(failure);
    }
  }
  explicit Impl(int) {}
};

#else

/// Pool of unused arenas. oneTBB keeps seven kilobytes of each arena that has worked, even after
/// its destruction, and programs may make a filter for each picture.
class SpareArenas {
 public:
  /// Never freed: executors may outlive static objects at exit.
  static SpareArenas& all() {
    static auto* const arenas = new SpareArenas;
    return *arenas;
  }

  std::unique_ptr<tbb::task_arena> take(int threads) {
    const std::lock_guard lock(mutex_);
    std::vector<std::unique_ptr<tbb::task_arena>>& spare = spare_[threads];
    if (spare.empty()) return std::make_unique<tbb::task_arena>(threads);
    std::unique_ptr<tbb::task_arena> arena = std::move(spare.back());
    spare.pop_back();
    return arena;
  }
  void give_back(std::unique_ptr<tbb::task_arena> arena, int threads) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      spare_[threads].push_back(std::move(arena));
    } catch (const std::bad_alloc&) {
      return;  // destroys the arena
    }
  }

 private:
  std::mutex mutex_;
  std::map<int, std::vector<std::unique_ptr<tbb::task_arena>>> spare_;
};

/// Scheduler: every thread has a share of the rows, the same in each loop of so many rows, which
/// keeps them in its cache. Shares are taken in pieces, and idle threads steal pieces of others, as
/// threads start late and cores differ in speed.
struct RowExecutor::Impl {
  explicit Impl(int count)
      : shares(static_cast<std::size_t>(count)),
        arena_threads(most_of(count)),
        arena(SpareArenas::all().take(arena_threads)) {}
  ~Impl() { SpareArenas::all().give_back(std::move(arena), arena_threads); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void for_rows(int rows, int threads, RowsBody body) {
    const int piece = std::max(1, rows / (threads * kPieces));
    for (Share& share : shares)
      share.taken = 0;
    const auto work_on = [&](int owner, int slot) {
      const auto at = [&](int share) {
        return static_cast<int>(std::int64_t{rows} * share / threads);
      };
      const int first = at(owner);
      const int last = at(owner + 1);
      std::atomic<int>& taken = shares[static_cast<std::size_t>(owner)].taken;
      for (;;) {
        const int done = taken.fetch_add(piece, std::memory_order_relaxed);
        if (done >= last - first) return;
        body(first + done, std::min(first + done + piece, last), slot);
      }
    };
    // The rounding of the calling thread: an arena has that of the thread where it first worked,
    // and sets it in execute().
    tbb::task_group_context context(
        tbb::task_group_context::isolated,
        tbb::task_group_context::default_traits | tbb::task_group_context::fp_settings);
    arena->execute([&] {
      tbb::parallel_for(
          tbb::blocked_range<int>(0, threads, 1),
          [&](const tbb::blocked_range<int>&) {
            const int slot = tbb::this_task_arena::current_thread_index();
            for (int i = 0; i < threads; ++i)
              work_on((slot + i) % threads, slot);
          },
          tbb::simple_partitioner(), context);
    });
  }

  /// Largest number of threads that oneTBB allows; it warns on stderr when asked for more.
  static int most_of(int threads) {
    using tbb::global_control;
    const std::size_t most = global_control::active_value(global_control::max_allowed_parallelism);
    return static_cast<int>(std::min(static_cast<std::size_t>(threads), most));
  }

  static constexpr int kPieces = 16;
  /// Rows of a share that are taken.
  struct alignas(64) Share {
    std::atomic<int> taken{0};
  };
  std::vector<Share> shares;
  int arena_threads;
  std::unique_ptr<tbb::task_arena> arena;
};

#endif

RowExecutor::RowExecutor(int threads) {
  check_threads(threads);
  threads_ = threads > 0 ? threads : available_cores();
  if (threads_ > 1) impl_ = std::make_unique<Impl>(threads_);
}

RowExecutor::~RowExecutor() = default;

void RowExecutor::for_rows(int rows, RowsBody body) {
  if (impl_ == nullptr || rows < 2) {
    if (rows > 0) body(0, rows, 0);
    return;
  }
  impl_->for_rows(rows, threads_, body);
}

}  // namespace equalux
