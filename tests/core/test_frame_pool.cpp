#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <gtest/gtest.h>

#include "pipelines/core/frame_pool.h"
#include "tests/support/pipeline_fakes.h"

namespace equalux::test {
namespace {

std::atomic<int> released{0};
void count_release(void* lease) {
  ++released;
  EXPECT_NE(lease, nullptr);
}

TEST(FramePool, GivesWhatItHoldsAndNoMore) {
  FramePool pool(small_desc(), 2);
  FramePtr a = pool.try_acquire();
  FramePtr b = pool.try_acquire();
  ASSERT_TRUE(a && b);
  EXPECT_EQ(pool.try_acquire(), nullptr);
  Frame* const first = a.get();
  a.reset();
  EXPECT_EQ(pool.try_acquire().get(), first) << "the warmest memory comes first";
}

#if defined(__linux__)
TEST(FramePool, WhatABurstHasTakenIsGivenBack) {
  // Large enough for mappings of their own, whose pages are not given to anybody else.
  const ImageDesc desc{PixelFormat::gray8, 1024, 1024};
  FramePool pool(desc, 3);
  std::vector<FramePtr> burst;
  for (int i = 0; i < 3; ++i) {
    burst.push_back(pool.try_acquire());
    for (int y = 0; y < desc.height; ++y)
      std::fill_n(burst.back()->pixels.view().row(0, y), desc.width, std::uint8_t{7});
  }
  const auto resident = [&](const Frame& frame) {
    constexpr std::uintptr_t kPage = 4096;
    // The second page from the start, which is whole.
    const auto at = reinterpret_cast<std::uintptr_t>(frame.pixels.view().data[0]) / kPage * kPage;
    unsigned char state = 0;
    EXPECT_EQ(::mincore(reinterpret_cast<void*>(at + kPage), kPage, &state), 0);
    return (state & 1) != 0;
  };
  std::vector<const Frame*> frames;
  for (const FramePtr& each : burst)
    frames.push_back(each.get());
  const FramePtr in_use = std::move(burst[1]);
  burst.clear();
  pool.forget_idle(1);
  int kept = 0;
  for (const Frame* each : frames)
    kept += resident(*each) ? 1 : 0;
  EXPECT_EQ(kept, 2) << "the one in use, and the one that comes next";
  EXPECT_TRUE(resident(*in_use));
  EXPECT_EQ(in_use->pixels.view().row(0, 900)[900], 7);
  const FramePtr next = pool.try_acquire();
  EXPECT_TRUE(resident(*next));
  const FramePtr forgotten = pool.try_acquire();
  EXPECT_FALSE(resident(*forgotten));
  std::fill_n(forgotten->pixels.view().row(0, 4), desc.width, std::uint8_t{9});
  EXPECT_TRUE(resident(*forgotten));
}
#endif

TEST(FramePool, FramesComeBackClear) {
  FramePool originals(small_desc(), 1);
  FramePool pool(small_desc(), 1);
  int buffer = 0;
  released = 0;
  FramePtr frame = pool.acquire();
  frame->index = 9;
  frame->pts_ns = 8;
  frame->duration_ns = 7;
  frame->discontinuity = true;
  frame->field_order = FieldOrder::top_first;
  frame->captured = Clock::now();
  frame->timings.stages.push_back({"invert", 1.0});
  frame->timings.capture_ms = 1.0;
  frame->timings.dropped_before = 3;
  frame->image = ConstImageView{};
  frame->lease = &buffer;
  frame->release = &count_release;
  frame->original = originals.acquire();
  const std::size_t capacity = frame->timings.stages.capacity();
  frame.reset();
  EXPECT_EQ(released, 1);
  EXPECT_NE(originals.try_acquire(), nullptr) << "the original went back to its own pool";

  frame = pool.acquire();
  EXPECT_EQ(frame->index, 0U);
  EXPECT_EQ(frame->pts_ns, 0);
  EXPECT_EQ(frame->duration_ns, 0);
  EXPECT_FALSE(frame->discontinuity);
  EXPECT_EQ(frame->field_order, FieldOrder::progressive);
  EXPECT_EQ(frame->captured, Clock::time_point{});
  EXPECT_TRUE(frame->timings.stages.empty());
  EXPECT_EQ(frame->timings.stages.capacity(), capacity);
  EXPECT_FALSE(frame->timings.capture_ms.has_value());
  EXPECT_EQ(frame->timings.dropped_before, 0U);
  EXPECT_EQ(frame->image.data[0], frame->pixels.view().data[0]);
  EXPECT_EQ(frame->release, nullptr);
  frame.reset();
  EXPECT_EQ(released, 1);
}

TEST(FramePool, BorrowingFramesHaveNoMemory) {
  FramePool pool(small_desc(), 1, true);
  const FramePtr frame = pool.acquire();
  EXPECT_TRUE(frame->pixels.empty());
  EXPECT_EQ(frame->image.data[0], nullptr);
}

TEST(FramePool, StopWakesWhoeverWaits) {
  const Watchdog watchdog;
  FramePool pool(small_desc(), 1);
  const FramePtr held = pool.acquire();
  WaitingThread waiting([&] { EXPECT_EQ(pool.acquire(), nullptr); });
  waiting.await_sleep();
  EXPECT_FALSE(waiting.over());
  pool.stop();
  waiting.join();
  EXPECT_EQ(pool.try_acquire(), nullptr);
}

TEST(FramePool, AFrameMayOutliveItsPool) {
  released = 0;
  int buffer = 0;
  FramePtr kept;
  {
    FramePool pool(small_desc(), 2);
    kept = pool.acquire();
    kept->lease = &buffer;
    kept->release = &count_release;
  }
  EXPECT_EQ(kept->image.desc, small_desc());
  kept.reset();
  EXPECT_EQ(released, 1);
}

TEST(FramePool, ThreadsShareIt) {
  const Watchdog watchdog;
  FramePool pool(small_desc(), 3);
  std::vector<std::thread> threads;
  for (std::uint8_t t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      for (int i = 0; i < 2000; ++i) {
        const FramePtr frame = pool.acquire();
        fill_bytes(frame->pixels.view(), t);
        EXPECT_EQ(frame->image.row(0, 0)[0], t);
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

}  // namespace
}  // namespace equalux::test
