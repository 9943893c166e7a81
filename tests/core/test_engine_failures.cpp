#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/engine_fixture.h"

namespace equalux::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using EngineFailureTest = EngineTest;

TEST_F(EngineFailureTest, NoFrameIsBadInput) {
  FakeSource source(0);
  const auto [code, text] = error_of([&] { go(source); });
  EXPECT_EQ(code, ExitCode::bad_input);
  EXPECT_THAT(text, HasSubstr("fake: holds no frame"));
  EXPECT_THAT(sink.endings, ElementsAre(Ending::failed));
}

TEST_F(EngineFailureTest, NoFrameSaysWhatIsMissing) {
  FakeSource source(0);
  source.short_by = "ends in frame 0";
  EXPECT_EQ(error_of([&] { go(source); }).second, "fake: ends in frame 0");
}

TEST_F(EngineFailureTest, SourceThatFailsToOpen) {
  FakeSource source(5);
  source.fail_open = true;
  EXPECT_EQ(error_of([&] { go(source); }).first, ExitCode::no_input);
  EXPECT_FALSE(sink.opened.has_value());
  EXPECT_THAT(sink.endings, IsEmpty());
}

TEST_F(EngineFailureTest, SourceThatFailsAtItsFirstFrame) {
  FakeSource source(5);
  source.fail_at = 0;
  const auto [code, text] = error_of([&] { go(source); });
  EXPECT_EQ(code, ExitCode::bad_input);
  EXPECT_EQ(text, "fake: damaged");
  EXPECT_THAT(sink.endings, ElementsAre(Ending::failed));
}

TEST_F(EngineFailureTest, SourceThatFailsLaterLeavesAPartialOutput) {
  for (const std::uint64_t n : {1U, 2U, 7U, 30U}) {
    FakeSink own;
    FakeSource source(40);
    source.fail_at = n;
    DelayedProcessor processor(2);
    const RunResult result = run(source, processor, own, options, stop);
    EXPECT_EQ(result.code, ExitCode::partial);
    EXPECT_EQ(result.partial_reason, "fake: damaged");
    EXPECT_EQ(own.indexes, first_numbers(n));
    EXPECT_THAT(own.endings, ElementsAre(Ending::partial));
  }
}

TEST_F(EngineFailureTest, ShortInputIsPartial) {
  FakeSource source(6);
  source.short_by = "ends 2.0 s early";
  const RunResult result = go(source);
  EXPECT_EQ(result.code, ExitCode::partial);
  EXPECT_EQ(result.partial_reason, "ends 2.0 s early");
  EXPECT_THAT(sink.endings, ElementsAre(Ending::partial));
}

TEST_F(EngineFailureTest, ShortOutputIsPartial) {
  FakeSource source(6);
  sink.short_by = "the copied streams end early";
  const RunResult result = go(source);
  EXPECT_EQ(result.code, ExitCode::partial);
  EXPECT_EQ(result.partial_reason, "the copied streams end early");
  EXPECT_EQ(result.frames_out, 6U);
  EXPECT_THAT(sink.endings, ElementsAre(Ending::complete));
  // Of a source that ends early, too, the source's reason stays.
  FakeSource other(6);
  other.short_by = "ends 2.0 s early";
  EXPECT_EQ(go(other).partial_reason, "ends 2.0 s early");
}

TEST_F(EngineFailureTest, AChangedSizeEndsTheStream) {
  FakeSource source(9);
  source.resize_at = 4;
  const RunResult result = go(source);
  EXPECT_EQ(result.code, ExitCode::partial);
  EXPECT_THAT(result.partial_reason, HasSubstr("changes from 6x4 gray8 to 2x2 gray8"));
  EXPECT_EQ(result.frames_out, 4U);
}

TEST_F(EngineFailureTest, SinkThatFailsToOpenIsNotFinished) {
  FakeSource source(5);
  sink.fail_open = true;
  EXPECT_EQ(error_of([&] { go(source); }).first, ExitCode::cannot_create);
  EXPECT_THAT(sink.endings, IsEmpty());
}

TEST_F(EngineFailureTest, SinkThatFailsToWrite) {
  for (const bool main_thread : {false, true}) {
    for (const std::size_t n : {0U, 1U, 5U}) {
      FakeSink own;
      own.main_thread = main_thread;
      own.fail_write_at = n;
      FakeSource source(1'000'000);
      DelayedProcessor processor(3);
      const auto [code, text] = error_of([&] { run(source, processor, own, options, stop); });
      EXPECT_EQ(code, ExitCode::write_failed);
      EXPECT_EQ(text, "fake sink: disk full");
      EXPECT_THAT(own.endings, ElementsAre(Ending::failed));
    }
  }
}

TEST_F(EngineFailureTest, OddExceptionsOfASinkAreWriteErrors) {
  FakeSource source(5);
  sink.throw_odd_at = 2;
  const auto [code, text] = error_of([&] { go(source); });
  EXPECT_EQ(code, ExitCode::write_failed);
  EXPECT_EQ(text, "fake sink: odd");
}

TEST_F(EngineFailureTest, SinkThatFailsToFinish) {
  FakeSource source(5);
  sink.fail_finish = true;
  EXPECT_EQ(error_of([&] { go(source); }).first, ExitCode::write_failed);
}

TEST_F(EngineFailureTest, TheFirstFailureIsTheOneReported) {
  FakeSource source(5);
  sink.fail_write_at = 1;
  sink.fail_finish = true;
  EXPECT_EQ(error_of([&] { go(source); }).second, "fake sink: disk full");
}

TEST_F(EngineFailureTest, ProcessorThatFailsAtOnceLeavesNothing) {
  FakeSink own;
  own.keep_original = true;
  FakeSource source(1'000'000);
  DelayedProcessor processor(3);
  processor.fail_at = 0;
  EXPECT_THROW(run(source, processor, own, options, stop), std::runtime_error);
  EXPECT_THAT(own.endings, ElementsAre(Ending::failed));
}

/// A GPU that is lost half way: the output ends there and is said to be partial.
TEST_F(EngineFailureTest, ProcessorThatFailsLaterLeavesWhatWasDone) {
  FakeSink own;
  own.keep_original = true;
  FakeSource source(1'000'000);
  DelayedProcessor processor(3);
  processor.fail_at = 9;
  const RunResult result = run(source, processor, own, options, stop);
  EXPECT_EQ(result.code, ExitCode::partial);
  EXPECT_EQ(result.partial_reason, "device lost");
  EXPECT_THAT(own.endings, ElementsAre(Ending::partial));
  EXPECT_GE(result.frames_out, 9U - 3U);
  EXPECT_LE(result.frames_out, 9U);
  for (std::size_t i = 0; i < own.indexes.size(); ++i)
    EXPECT_EQ(own.indexes[i], i);
}

TEST_F(EngineFailureTest, CallbacksThatFailEndTheRun) {
  FakeSource source(1000);
  options.on_result = [](const Frame& frame) {
    if (frame.index == 3) throw Error(ExitCode::write_failed, "hashes: disk full");
  };
  EXPECT_EQ(error_of([&] { go(source); }).second, "hashes: disk full");
  EXPECT_THAT(sink.endings, ElementsAre(Ending::failed));
}
}  // namespace
}  // namespace equalux::test
