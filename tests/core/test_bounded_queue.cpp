#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "pipelines/core/bounded_queue.h"
#include "tests/support/pipeline_fakes.h"

namespace equalux::test {
namespace {

TEST(BoundedQueue, KeepsOrder) {
  BoundedQueue<int> queue(3);
  for (int i : {1, 2, 3})
    EXPECT_TRUE(queue.push(std::move(i)));
  EXPECT_EQ(queue.size(), 3U);
  for (const int i : {1, 2, 3})
    EXPECT_EQ(queue.pop(), i);
  EXPECT_EQ(queue.try_pop(), std::nullopt);
}

TEST(BoundedQueue, NewestPushesTheOldestOut) {
  BoundedQueue<int> queue(2);
  EXPECT_EQ(queue.push_newest(1), std::nullopt);
  EXPECT_EQ(queue.push_newest(2), std::nullopt);
  EXPECT_EQ(queue.push_newest(3), 1);
  EXPECT_EQ(queue.pop(), 2);
  EXPECT_EQ(queue.pop(), 3);
}

TEST(BoundedQueue, CloseRefusesAndDrains) {
  BoundedQueue<std::unique_ptr<int>> queue(2);
  EXPECT_TRUE(queue.push(std::make_unique<int>(7)));
  queue.close();
  EXPECT_FALSE(queue.finished());
  auto value = std::make_unique<int>(8);
  EXPECT_FALSE(queue.push(std::move(value)));
  EXPECT_NE(value, nullptr) << "a refused value stays the caller's";
  const auto back = queue.push_newest(std::make_unique<int>(9));
  ASSERT_TRUE(back && *back);
  EXPECT_EQ(**back, 9);
  EXPECT_EQ(**queue.pop(), 7);
  EXPECT_EQ(queue.pop(), std::nullopt);
  EXPECT_TRUE(queue.finished());
}

TEST(BoundedQueue, PopUntilGivesUp) {
  BoundedQueue<int> queue(1);
  EXPECT_EQ(queue.pop_until(Clock::now() + std::chrono::milliseconds(5)), std::nullopt);
  queue.push(4);
  EXPECT_EQ(queue.pop_until(Clock::now() + std::chrono::hours(1)), 4);
}

TEST(BoundedQueue, CloseWakesWhoeverWaits) {
  const Watchdog watchdog;
  BoundedQueue<int> empty(1);
  BoundedQueue<int> full(1);
  full.push(1);
  WaitingThread popping([&] { EXPECT_EQ(empty.pop(), std::nullopt); });
  WaitingThread pushing([&] { EXPECT_FALSE(full.push(2)); });
  popping.await_sleep();
  pushing.await_sleep();
  EXPECT_FALSE(popping.over());
  EXPECT_FALSE(pushing.over());
  empty.close();
  full.close();
  popping.join();
  pushing.join();
}

TEST(BoundedQueue, ManyValuesThroughASmallRing) {
  const Watchdog watchdog;
  BoundedQueue<int> queue(2);
  constexpr int kCount = 20'000;
  std::thread pushing([&] {
    for (int i = 0; i < kCount; ++i)
      queue.push(int{i});
    queue.close();
  });
  int expected = 0;
  while (const auto value = queue.pop())
    EXPECT_EQ(*value, expected++);
  EXPECT_EQ(expected, kCount);
  pushing.join();
}

}  // namespace
}  // namespace equalux::test
