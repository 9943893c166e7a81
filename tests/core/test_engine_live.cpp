#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "tests/core/engine_fixture.h"

/// What a run makes of a clock: frames that are late, and timestamps that jump.
namespace equalux::test {
namespace {

using std::chrono::milliseconds;

using LiveEngineTest = EngineTest;

TEST_F(LiveEngineTest, LateFramesAreCountedWhereTheyAreLive) {
  for (const bool live : {true, false}) {
    FakeSink own;
    own.pace = milliseconds(25);  // a frame's time is 10
    FakeSource source(8);
    source.live = live;
    const auto processor = make_cpu_processor({}, 1);
    const RunResult result = run(source, *processor, own, options, stop);
    EXPECT_EQ(result.late, live ? result.frames_out : 0);
    EXPECT_GT(result.frames_out, 0U);
  }
}

/// Forward by hours, back, standing still, and none.
TEST_F(LiveEngineTest, TimestampsThatJumpCostNoFrame) {
  constexpr std::int64_t kHours = 3 * 3'600'000'000'000;
  const std::vector<std::function<std::int64_t(std::uint64_t)>> stamps{
      [](std::uint64_t i) { return static_cast<std::int64_t>(i) * 10 + (i < 20 ? 0 : kHours); },
      [](std::uint64_t i) { return static_cast<std::int64_t>(i) * 10 - (i < 20 ? 0 : kHours); },
      [](std::uint64_t i) { return i % 2 == 0 ? kHours : -kHours; },
      [](std::uint64_t) { return std::int64_t{7}; },
      [](std::uint64_t) { return std::int64_t{-1}; }};
  for (const auto& stamp : stamps) {
    for (const bool live : {false, true}) {
      FakeSink own;
      FakeSource source(40);
      source.stamp = stamp;
      source.live = live;
      if (live) source.pace = milliseconds(1);
      std::vector<std::unique_ptr<Filter>> filters;
      EqualizeParams params;
      params.temporal_ms = 500;
      filters.push_back(make_cpu_filter(params, {1}));
      const auto processor = make_cpu_processor(std::move(filters), 1);
      const RunResult result = run(source, *processor, own, options, stop);
      EXPECT_EQ(result.code, ExitCode::done);
      EXPECT_EQ(result.frames_in, 40U);
      EXPECT_EQ(result.frames_out + result.dropped, 40U);
      if (!live) {
        EXPECT_EQ(own.indexes, first_numbers(40));
      }
      EXPECT_GE(result.media_s, 0);
    }
  }
}

}  // namespace
}  // namespace equalux::test
