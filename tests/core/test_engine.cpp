#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/engine_fixture.h"

namespace equalux::test {
namespace {

using std::chrono::milliseconds;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(EngineTest, DeliversEveryFrameInOrder) {
  FakeSource source(50);
  const RunResult result = go(source);
  EXPECT_EQ(result.code, ExitCode::done);
  EXPECT_EQ(result.frames_in, 50U);
  EXPECT_EQ(result.frames_out, 50U);
  EXPECT_EQ(result.dropped, 0U);
  EXPECT_NEAR(result.media_s, 0.5, 1e-9);
  EXPECT_GT(result.elapsed_s, 0);
  EXPECT_EQ(sink.indexes, first_numbers(50));
  EXPECT_EQ(sink.bytes[7], 255 - 7);
  EXPECT_THAT(sink.endings, ElementsAre(Ending::complete));
  EXPECT_THAT(sink.gaps, Each(false));
}

TEST_F(EngineTest, TenThousandTinyFrames) {
  FakeSource source(10'000);
  source.desc = small_desc(1, 1);
  EXPECT_EQ(go(source).frames_out, 10'000U);
  EXPECT_EQ(sink.indexes, first_numbers(10'000));
}

TEST_F(EngineTest, BorrowedBuffersAllGoBack) {
  FakeSource::released() = 0;
  FakeSource source(40);
  source.lends = true;
  sink.keep_original = true;
  go(source);
  EXPECT_EQ(FakeSource::released(), 40);
  ASSERT_EQ(sink.originals.size(), 40U);
  EXPECT_EQ(sink.originals[9], 9);
  EXPECT_EQ(sink.bytes[9], 255 - 9);
}

/// Takes frames of a device until it turns out, when it is configured, that it can't.
class DeviceProcessor final : public DelayedProcessor {
 public:
  explicit DeviceProcessor(int after) : DelayedProcessor(1), after_(after) {}
  int frame_device() const override { return device_; }
  ImageDesc configure(const ImageDesc& input) override {
    device_ = after_;
    return DelayedProcessor::configure(input);
  }

 private:
  int after_;
  int device_ = 2;
};

TEST_F(EngineTest, TheProcessorsDeviceIsOfferedToTheSource) {
  FakeSource source(3);
  DeviceProcessor processor(2);
  EXPECT_EQ(run(source, processor, sink, options, stop).frames_out, 3U);
  EXPECT_THAT(source.offers, ElementsAre(2));
  EXPECT_EQ(source.opens, 1);
}

TEST_F(EngineTest, ADeviceIsTakenBackWhereTheCpuTakesOver) {
  FakeSource source(3);
  DeviceProcessor processor(-1);
  EXPECT_EQ(run(source, processor, sink, options, stop).frames_out, 3U);
  EXPECT_THAT(source.offers, ElementsAre(2, -1));
  EXPECT_EQ(source.opens, 2);
}

TEST_F(EngineTest, WhereOriginalsAreShownNoDeviceIsOffered) {
  FakeSource source(3);
  sink.keep_original = true;
  DeviceProcessor processor(2);
  EXPECT_EQ(run(source, processor, sink, options, stop).frames_out, 3U);
  EXPECT_THAT(source.offers, IsEmpty());
}

TEST_F(EngineTest, DelayedProcessorIsDrained) {
  for (const std::uint64_t frames : {1U, 2U, 3U, 4U, 25U}) {
    for (const bool originals : {false, true}) {
      FakeSink own;
      own.keep_original = originals;
      FakeSource source(frames);
      DelayedProcessor processor(3);
      const RunResult result = run(source, processor, own, options, stop);
      EXPECT_EQ(result.frames_out, frames);
      EXPECT_EQ(own.indexes, first_numbers(frames));
    }
  }
}

TEST_F(EngineTest, DelayedProcessorDoesNotHoldFramesBack) {
  FakeSource source(5);
  source.stall_at = 2;  // Frames 0 and 1 must come out although no frame pushes them.
  DelayedProcessor processor(3);
  sink.on_write = [&](std::size_t count) {
    if (count == 2) stop.signal = SIGINT;
  };
  const RunResult result = run(source, processor, sink, options, stop);
  EXPECT_EQ(result.code, ExitCode::interrupted);
  EXPECT_EQ(result.frames_out, 2U);
}

TEST_F(EngineTest, MaxFramesIsShortenedOnPurpose) {
  FakeSource source(100);
  source.short_by = "never looked at";
  options.max_frames = 7;
  const RunResult result = go(source);
  EXPECT_EQ(result.code, ExitCode::done);
  EXPECT_EQ(result.frames_in, 7U);
  EXPECT_EQ(sink.indexes, first_numbers(7));
  EXPECT_THAT(sink.endings, ElementsAre(Ending::shortened));
}

TEST_F(EngineTest, MaxFramesOfALiveSourceCountsDeliveredFrames) {
  FakeSource source(1'000'000);
  source.live = true;
  source.pace = milliseconds(1);
  sink.pace = milliseconds(4);
  options.max_frames = 10;
  const RunResult result = go(source);
  EXPECT_EQ(result.code, ExitCode::done);
  EXPECT_EQ(result.frames_out, 10U);
}

TEST_F(EngineTest, SlowSinkLosesNoFrameOfAFile) {
  FakeSource source(30);
  sink.pace = milliseconds(2);
  EXPECT_EQ(go(source).dropped, 0U);
  EXPECT_EQ(sink.indexes, first_numbers(30));
}

TEST_F(EngineTest, LiveSourceDropsAndCounts) {
  FakeSource source(200);
  source.live = true;
  source.pace = milliseconds(1);
  sink.pace = milliseconds(6);
  const RunResult result = go(source);
  EXPECT_EQ(result.code, ExitCode::done);
  EXPECT_EQ(result.frames_in, 200U);
  EXPECT_GT(result.dropped, 0U);
  EXPECT_EQ(result.frames_out + result.dropped, 200U);
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < sink.indexes.size(); ++i) {
    EXPECT_EQ(sink.indexes[i], next + sink.dropped_before[i]);
    EXPECT_EQ(sink.gaps[i], sink.dropped_before[i] > 0);
    EXPECT_EQ(sink.bytes[i], static_cast<std::uint8_t>(255 - sink.indexes[i]));
    next = sink.indexes[i] + 1;
  }
  EXPECT_EQ(sink.indexes.back(), 199U) << "the newest frame is the one that stays";
}

TEST_F(EngineTest, DropsInsideTheSourceCountToo) {
  FakeSource source(5);
  source.drop_before = 3;
  const RunResult result = go(source);
  EXPECT_EQ(result.dropped, 2U);
  EXPECT_EQ(result.frames_in, 7U) << "those that the source dropped came in too";
  EXPECT_EQ(result.in_flight, 0U);
  EXPECT_THAT(sink.indexes, ElementsAre(0, 1, 2, 5, 6));
  EXPECT_THAT(sink.dropped_before, ElementsAre(0, 0, 0, 2, 0));
}

TEST_F(EngineTest, EveryFrameIsOutDroppedOrInFlight) {
  for (const bool closes : {false, true}) {
    FakeSink own;
    StopToken own_stop;
    FakeSource source(1'000'000);
    source.live = true;
    source.drop_before = 3;
    own.pace = std::chrono::milliseconds(1);
    if (closes) own.close_at = 30;
    own.on_write = [&](std::size_t count) {
      if (!closes && count == 30) own_stop.signal = SIGINT;
    };
    const RunResult result = run(source, *make_cpu_processor({}, 1), own, options, own_stop);
    EXPECT_EQ(result.frames_in, result.frames_out + result.dropped + result.in_flight);
    EXPECT_GE(result.dropped, 2U);
    if (!closes) {
      EXPECT_EQ(result.in_flight, 0U) << "a stop finishes what is under way";
    }
  }
}

TEST_F(EngineTest, StopEndsAStalledSourceSoon) {
  FakeSource source(100);
  source.stall_at = 3;
  sink.on_write = [&](std::size_t count) {
    if (count == 3) stop.signal = SIGINT;
  };
  const auto start = Clock::now();
  const RunResult result = go(source);
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(20)) << "on a busy machine, too";
  EXPECT_EQ(result.code, ExitCode::interrupted);
  EXPECT_EQ(sink.indexes, first_numbers(3));
  EXPECT_THAT(sink.endings, ElementsAre(Ending::partial));
}

TEST_F(EngineTest, StopKeepsFramesInFlight) {
  FakeSource source(1'000'000);
  sink.on_write = [&](std::size_t count) {
    if (count == 20) stop.signal = SIGTERM;
  };
  const RunResult result = go(source);
  EXPECT_EQ(result.code, ExitCode::terminated);
  EXPECT_EQ(result.frames_out, result.frames_in);
  EXPECT_EQ(sink.indexes, first_numbers(result.frames_in));
  EXPECT_THAT(sink.endings, ElementsAre(Ending::partial));
}

TEST_F(EngineTest, StopBeforeTheFirstFrameLeavesNothing) {
  FakeSource source(10);
  stop.signal = SIGINT;
  const RunResult result = go(source);
  EXPECT_EQ(result.code, ExitCode::interrupted);
  EXPECT_EQ(result.frames_out, 0U);
  EXPECT_THAT(sink.endings, ::testing::AnyOf(IsEmpty(), ElementsAre(Ending::failed)));
}

TEST_F(EngineTest, StopWhileTheSourceOpens) {
  FakeSource source(10);
  source.stall_open = true;
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(50));
    stop.signal = SIGINT;
  });
  EXPECT_EQ(go(source).code, ExitCode::interrupted);
  later.join();
  EXPECT_FALSE(sink.opened.has_value());
}

TEST_F(EngineTest, StopReachesAStalledSink) {
  FakeSource source(1'000'000);
  sink.stall_at = 2;
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(50));
    stop.signal = SIGINT;
  });
  EXPECT_EQ(error_of([&] { go(source); }).second, "fake sink: reader stalls");
  later.join();
  EXPECT_THAT(sink.endings, ElementsAre(Ending::failed));
}

TEST_F(EngineTest, AClosedSinkEndsTheRunAsDone) {
  for (const bool main_thread : {false, true}) {
    FakeSink own;
    own.main_thread = main_thread;
    own.close_at = 5;
    FakeSource source(1'000'000);
    source.short_by = "never looked at";
    DelayedProcessor processor(3);
    const RunResult result = run(source, processor, own, options, stop);
    EXPECT_EQ(result.code, ExitCode::done);
    EXPECT_EQ(result.frames_out, 5U);
    EXPECT_THAT(own.endings, ElementsAre(Ending::shortened));
  }
}

TEST_F(EngineTest, AClosedSinkEndsAStalledSource) {
  FakeSource source(100);
  source.stall_at = 1;
  sink.main_thread = true;
  sink.close_at = 1;
  EXPECT_EQ(go(source).code, ExitCode::done);
}

TEST_F(EngineTest, SinksStayOnOneThread) {
  FakeSource source(20);
  go(source);
  ASSERT_EQ(sink.threads.size(), 1U);
  EXPECT_NE(sink.threads.front(), std::this_thread::get_id());

  FakeSink window;
  window.main_thread = true;
  FakeSource slow(5);
  slow.pace = milliseconds(30);
  DelayedProcessor processor(1);
  run(slow, processor, window, options, stop);
  EXPECT_THAT(window.threads, ElementsAre(std::this_thread::get_id()));
  EXPECT_GT(window.idles, 0);
}

TEST_F(EngineTest, ProgressComesOnTheCallingThread) {
  for (const bool main_thread : {false, true}) {
    FakeSink own;
    own.main_thread = main_thread;
    FakeSource source(120);
    source.expected = true;
    source.pace = milliseconds(10);
    std::vector<RunProgress> reports;
    options.on_progress = [&, caller = std::this_thread::get_id()](const RunProgress& progress) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      reports.push_back(progress);
    };
    DelayedProcessor processor(1);
    run(source, processor, own, options, stop);
    ASSERT_GE(reports.size(), 2U);
    EXPECT_EQ(reports[0].expected, 120U);
    EXPECT_GT(reports[1].frames, reports[0].frames);
    EXPECT_GT(reports[1].fps, 0);
    ASSERT_TRUE(reports[1].fraction.has_value());
    EXPECT_NEAR(*reports[1].fraction, static_cast<double>(reports[1].frames) / 120, 1e-9);
  }
}

TEST_F(EngineTest, TimingsAreCompleteWhereAskedFor) {
  FakeSource source(10);
  int frames = 0;
  options.on_frame = [&](const Frame& frame) {
    ++frames;
    EXPECT_TRUE(frame.timings.capture_ms && frame.timings.queue_ms && frame.timings.sink_ms &&
                frame.timings.latency_ms);
    EXPECT_FALSE(frame.timings.upload_ms || frame.timings.download_ms);
    ASSERT_EQ(frame.timings.stages.size(), 1U);
    EXPECT_EQ(frame.timings.stages[0].stage, "invert");
    EXPECT_GE(*frame.timings.latency_ms, *frame.timings.sink_ms);
  };
  go(source);
  EXPECT_EQ(frames, 10);
}

TEST_F(EngineTest, NothingIsMeasuredWhereNobodyAsks) {
  FakeSource source(10);
  options.on_result = [&](const Frame& frame) {
    EXPECT_FALSE(frame.timings.capture_ms || frame.timings.queue_ms);
    EXPECT_TRUE(frame.timings.stages.empty());
    EXPECT_EQ(frame.captured, Clock::time_point{});
  };
  go(source);
}

TEST_F(EngineTest, TheSinkIsToldTheStream) {
  FakeSource source(1);
  std::optional<StreamInfo> told;
  options.on_open = [&](const StreamInfo& info) { told = info; };
  go(source);
  ASSERT_TRUE(told && sink.opened);
  EXPECT_EQ(told->desc, small_desc());
  EXPECT_EQ(sink.opened->frame_rate, (Rational{100, 1}));
  EXPECT_EQ(sink.opened->name, "fake");
}

}  // namespace
}  // namespace equalux::test
