#include <atomic>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

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

TEST(RowExecutor, ExceptionsComeOut) {
  for (const int threads : {1, 2}) {
    RowExecutor executor(threads);
    EXPECT_THROW(executor.for_rows(100, [](int, int, int) { throw std::runtime_error("row"); }),
                 std::runtime_error);
  }
}

TEST(RowExecutor, ZeroMeansAllCores) {
  EXPECT_EQ(RowExecutor(0).threads(), available_cores());
}

}  // namespace
}  // namespace equalux
