#include <atomic>
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

/// Nobody looks at every other frames of ten.
class SleepySink final : public Sink {
 public:
  void open(const StreamInfo& /*info*/) override {}
  void write(Frame& frame) override {
    unseen.push_back(frame.unseen);
    gaps.push_back(frame.discontinuity);
    bytes.push_back(frame.unseen ? 0 : frame.image.row(0, 0)[0]);
    indexes.push_back(frame.index);
  }
  void finish(Ending /*ending*/) override {}
  bool wants_frames() const override { return asked_++ / 10 % 2 == 1; }

  std::vector<bool> unseen, gaps;
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint64_t> indexes;

 private:
  mutable std::atomic<int> asked_{0};
};

TEST_F(LiveEngineTest, FramesThatNobodyWantsAreNotFiltered) {
  auto filter = std::make_unique<InvertFilter>();
  const InvertFilter& inverts = *filter;
  std::vector<std::unique_ptr<Filter>> filters;
  filters.push_back(std::move(filter));
  const auto processor = make_cpu_processor(std::move(filters), 1);
  FakeSource source(40);
  SleepySink sleepy;
  std::uint64_t seen = 0;
  options.on_frame = [&](const Frame& frame) { seen += frame.unseen ? 0 : 1; };
  const RunResult result = run(source, *processor, sleepy, options, stop);
  // All of them have their place, in order.
  EXPECT_EQ(result.frames_out, 40U);
  EXPECT_EQ(sleepy.indexes, first_numbers(40));
  EXPECT_EQ(inverts.contexts.size(), 20U);
  EXPECT_EQ(seen, 20U);
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(sleepy.unseen[i], i / 10 % 2 == 0) << i;
    EXPECT_EQ(sleepy.bytes[i], sleepy.unseen[i] ? 0 : 255 - i) << i;
    // What is filtered behind a pause is told that something is missing.
    EXPECT_EQ(sleepy.gaps[i], i == 10 || i == 30) << i;
  }
}

TEST_F(LiveEngineTest, FramesThatSomebodyElseWantsAreFiltered) {
  struct Asleep final : Sink {
    void open(const StreamInfo& /*info*/) override {}
    void write(Frame& frame) override { unseen += frame.unseen ? 1 : 0; }
    void finish(Ending /*ending*/) override {}
    bool wants_frames() const override { return false; }
    std::uint64_t unseen = 0;
  };
  const auto unseen_of = [&](const RunOptions& wishes) {
    FakeSource source(10);
    Asleep asleep;
    const auto processor = make_cpu_processor({}, 1);
    EXPECT_EQ(run(source, *processor, asleep, wishes, stop).frames_out, 10U);
    return asleep.unseen;
  };
  EXPECT_EQ(unseen_of({}), 10U);
  RunOptions wishes;
  wishes.on_result = [](const Frame&) {};
  EXPECT_EQ(unseen_of(wishes), 0U);
  int asked = 0;
  wishes.wants_frames = [&] { return asked++ % 2 == 0; };
  EXPECT_EQ(unseen_of(wishes), 5U);
}

}  // namespace
}  // namespace equalux::test
