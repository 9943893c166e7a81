#include <array>
#include <atomic>
#include <cfenv>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <equalux/error.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "src/cpu/common/parallel.h"

namespace equalux {
namespace {

TEST(RowExecutor, VisitsEveryRowOnceWithSlotsOfItsOwn) {
  for (const int threads : {1, 2, 3, 8}) {
    RowExecutor executor(threads);
    for (const int rows : {0, 1, 2, 7, 100, 1081}) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(rows));
      std::vector<std::atomic<int>> inside(static_cast<std::size_t>(threads));
      std::atomic<bool> shared{false};
      executor.for_rows(rows, [&](int begin, int end, int slot) {
        if (inside[static_cast<std::size_t>(slot)].fetch_add(1) != 0) shared = true;
        for (int y = begin; y < end; ++y)
          ++visits[static_cast<std::size_t>(y)];
        --inside[static_cast<std::size_t>(slot)];
      });
      for (const auto& count : visits)
        EXPECT_EQ(count, 1);
      EXPECT_FALSE(shared);
    }
  }
}

/// Executors share arenas, one after another, and an arena remembers the rounding of a thread.
TEST(RowExecutor, BodiesRoundAsTheThreadThatCalls) {
  const int as_before = std::fegetround();
  for (const int threads : {1, 2, 3}) {
    for (int i = 0; i < 2; ++i) {
      RowExecutor executor(threads);
      for (const int rounding : std::array{FE_UPWARD, FE_TONEAREST, FE_DOWNWARD, FE_UPWARD}) {
        std::atomic<int> others{0};
        std::fesetround(rounding);
        executor.for_rows(1000,
                          [&](int, int, int) { others += std::fegetround() == rounding ? 0 : 1; });
        const int after = std::fegetround();
        std::fesetround(as_before);
        EXPECT_EQ(others, 0) << threads << " threads";
        EXPECT_EQ(after, rounding);
      }
    }
  }
}

TEST(RowExecutor, ExceptionsComeOut) {
  for (const int threads : {1, 2}) {
    RowExecutor executor(threads);
    EXPECT_THROW(executor.for_rows(100, [](int, int, int) { throw std::runtime_error("row"); }),
                 std::runtime_error);
  }
}

#if !defined(__SANITIZE_THREAD__)  // it has threads of its own, and memory for each
long resident_kib() {
  std::ifstream status("/proc/self/statm");
  long all = 0;
  long pages = 0;
  status >> all >> pages;
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

TEST(RowExecutor, TakesNoMemoryForEachThatIsMade) {
  const auto make = [] {
    for (int i = 0; i < 1000; ++i) {
      RowExecutor executor(2);
      executor.for_rows(4, [](int, int, int) {});
    }
  };
  make();
  const long before = resident_kib();
  make();
  EXPECT_LT(resident_kib() - before, 3000);
}
#endif

TEST(RowExecutor, MoreThreadsThanCoresSayNothing) {
  ::testing::internal::CaptureStderr();
  RowExecutor executor(available_cores() + 3);
  std::atomic<int> rows{0};
  executor.for_rows(100, [&](int begin, int end, int) { rows += end - begin; });
  EXPECT_EQ(rows, 100);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(RowExecutor, RefusesNumbersThatNoMachineHas) {
  EXPECT_NO_THROW(check_threads(1024));
  for (const int threads : {-1, 1025, 1000000}) {
    try {
      RowExecutor executor(threads);
      ADD_FAILURE() << threads;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_EQ(error.what(), "threads is " + std::to_string(threads) + ", must be 0 to 1024");
    }
  }
}

TEST(RowExecutor, ZeroMeansAllCores) {
  EXPECT_EQ(RowExecutor(0).threads(), available_cores());
}

}  // namespace
}  // namespace equalux
