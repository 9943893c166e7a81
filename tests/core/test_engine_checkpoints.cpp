#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/core/frame_hash.h"
#include "tests/core/engine_fixture.h"

/// Checkpoints of a run, and runs that go on from one.
namespace equalux::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A sink that can always go on.
class ResumableSink final : public Sink {
 public:
  void open(const StreamInfo& info) override { inner.open(info); }
  void write(Frame& frame) override {
    inner.write(frame);
    hashes.push_back(frame_md5(frame.image));
  }
  std::string checkpoint() override { return "after " + std::to_string(inner.indexes.size()); }
  void finish(Ending ending) override { inner.finish(ending); }
  FakeSink inner;
  std::vector<std::string> hashes;
};

/// A source of a pattern that gets brighter, with a cut: a curve over time has much to remember.
class BrighteningSource final : public Source {
 public:
  explicit BrighteningSource(std::uint64_t frames) : frames_(frames) {}
  StreamInfo open(const FormatPredicate& /*accepts*/) override {
    StreamInfo info;
    info.desc = small_desc(32, 24);
    info.frame_rate = {25, 1};
    info.name = "brightening";
    return info;
  }
  bool read(Frame& frame) override {
    if (next_ == frames_) return false;
    const ImageView view = frame.pixels.view();
    for (int y = 0; y < view.desc.height; ++y) {
      for (int x = 0; x < view.desc.width; ++x) {
        const auto base = static_cast<std::uint64_t>(next_ < 23 ? x : 3 * y);
        view.row(0, y)[x] = static_cast<std::uint8_t>(20 + base + 2 * next_);
      }
    }
    frame.pts_ns = static_cast<std::int64_t>(next_++) * 40'000'000;
    frame.duration_ns = 40'000'000;
    return true;
  }

 private:
  std::uint64_t frames_;
  std::uint64_t next_ = 0;
};

struct CheckpointTest : EngineTest {
  std::unique_ptr<ResumableSink> own = std::make_unique<ResumableSink>();
  std::vector<Checkpoint> checkpoints;

  CheckpointTest() {
    options.checkpoint_every = 7;
    options.on_checkpoint = [this](const Checkpoint& made) { checkpoints.push_back(made); };
  }
  void renew() { own = std::make_unique<ResumableSink>(); }
  RunResult go(Source& source, Processor& processor) {
    return run(source, processor, *own, options, stop);
  }
  static std::unique_ptr<Processor> temporal() {
    EqualizeParams params;
    params.temporal_ms = 500;
    params.strength = 0.8;
    std::vector<std::unique_ptr<Filter>> filters;
    filters.push_back(make_cpu_filter(params, {1}));
    return make_cpu_processor(std::move(filters), 1);
  }
};

TEST_F(CheckpointTest, ComeEverySoManyFrames) {
  FakeSource source(30);
  DelayedProcessor processor(3);
  EXPECT_EQ(go(source, processor).code, ExitCode::done);
  EXPECT_EQ(own->inner.indexes, first_numbers(30));
  ASSERT_EQ(checkpoints.size(), 4U);
  for (std::size_t i = 0; i < checkpoints.size(); ++i) {
    EXPECT_EQ(checkpoints[i].frames, 7 * (i + 1));
    EXPECT_EQ(checkpoints[i].sink, "after " + std::to_string(7 * (i + 1)));
    EXPECT_EQ(checkpoints[i].media_end_ns, static_cast<std::int64_t>(70'000'000 * (i + 1)));
  }
  EXPECT_THAT(own->inner.endings, ElementsAre(Ending::complete));
}

TEST_F(CheckpointTest, SinksThatMakeNoneHaveNone) {
  FakeSource source(30);
  DelayedProcessor processor(2);
  FakeSink plain;
  EXPECT_EQ(run(source, processor, plain, options, stop).code, ExitCode::done);
  EXPECT_THAT(checkpoints, IsEmpty());
}

TEST_F(CheckpointTest, FramesFromAnyOfThemOnAreThoseOfTheWholeRun) {
  BrighteningSource source(45);
  EXPECT_EQ(go(source, *temporal()).frames_out, 45U);
  const std::vector<std::string> whole = own->hashes;
  const std::vector<Checkpoint> places = checkpoints;
  ASSERT_EQ(places.size(), 6U);
  for (const Checkpoint& place : places) {
    own->hashes.clear();
    options.resume_from = place;
    BrighteningSource again(45);
    const RunResult result = go(again, *temporal());
    EXPECT_EQ(result.code, ExitCode::done);
    EXPECT_EQ(result.frames_in, 45U);
    EXPECT_EQ(result.frames_out, 45U);
    EXPECT_DOUBLE_EQ(result.media_s, 1.8);
    EXPECT_EQ(own->hashes, std::vector<std::string>(whole.begin() + static_cast<long>(place.frames),
                                                    whole.end()))
        << "from frame " << place.frames;
  }
  // Without its state the filter does not make these frames: what is tested matters.
  own->hashes.clear();
  const auto fresh = temporal();
  options.resume_from->frames = places[1].frames;
  options.resume_from->filters = "[" + [] {
    EqualizeParams params;
    params.temporal_ms = 500;
    const auto filter = make_cpu_filter(params, {1});
    (void)filter->configure(small_desc(32, 24));
    return filter->save();
  }() + "]";
  BrighteningSource forgetful(45);
  go(forgetful, *fresh);
  EXPECT_NE(own->hashes.front(), whole[places[1].frames]);
}

TEST_F(CheckpointTest, GoesOnUpToALimitAndAtTheVeryEnd) {
  options.resume_from = Checkpoint{21, 0, 210'000'000, "[]", "x"};
  DelayedProcessor processor(2);
  for (const std::uint64_t limit : {std::uint64_t{25}, std::uint64_t{21}}) {
    renew();
    options.max_frames = limit;
    FakeSource source(30);
    EXPECT_EQ(go(source, processor).frames_out, limit);
    EXPECT_EQ(own->inner.indexes.size(), limit - 21);
  }
  options.max_frames = 0;
  renew();
  FakeSource source(21);
  EXPECT_EQ(go(source, processor).code, ExitCode::done);
  EXPECT_THAT(own->inner.indexes, IsEmpty());
  EXPECT_THAT(own->inner.endings, ElementsAre(Ending::complete));
}

TEST_F(CheckpointTest, AShorterInputCannotBeContinued) {
  options.resume_from = Checkpoint{21, 0, 210'000'000, "[]", "x"};
  FakeSource source(20);
  DelayedProcessor processor(2);
  EXPECT_THROW(go(source, processor), CannotResume);
  EXPECT_THAT(own->inner.endings, ElementsAre(Ending::suspended));
}

TEST_F(CheckpointTest, AnInputThatFailsBeforeThatPlaceLosesNothing) {
  options.resume_from = Checkpoint{21, 0, 210'000'000, "[]", "x"};
  FakeSource source(40);
  source.fail_at = 12;
  DelayedProcessor processor(2);
  EXPECT_EQ(error_of([&] { go(source, processor); }).second, "fake: damaged");
  EXPECT_THAT(own->inner.endings, ElementsAre(Ending::suspended));
}

TEST_F(CheckpointTest, AnotherChainCannotBeContinued) {
  options.resume_from = Checkpoint{7, 0, 70'000'000, "[{},{}]", "x"};
  FakeSource source(20);
  EXPECT_THROW(go(source, *temporal()), CannotResume);
  EXPECT_THAT(own->inner.endings, IsEmpty());
}

/// Its output is not started again: another device can go on with it.
TEST_F(CheckpointTest, ADeviceThatFailsAtOnceIsNoReasonToBeginAnew) {
  struct LostDevice final : DelayedProcessor {
    LostDevice() : DelayedProcessor(2) {}
    void load(std::string_view /*state*/) override {
      throw Error(ExitCode::unavailable, "cuda: lost");
    }
  };
  FakeSource source(20);
  LostDevice processor;
  options.resume_from = Checkpoint{7, 0, 70'000'000, "[]", "after 7"};
  EXPECT_THROW(go(source, processor), ProcessorFailed);
  EXPECT_THAT(own->inner.endings, IsEmpty());
}

TEST_F(CheckpointTest, AStopSuspends) {
  FakeSource source(100'000);
  DelayedProcessor processor(2);
  own->inner.on_write = [&](std::size_t count) {
    if (count == 40) stop.signal = SIGTERM;
  };
  own->inner.pace = std::chrono::milliseconds(1);
  const RunResult result = go(source, processor);
  EXPECT_EQ(result.code, ExitCode::terminated);
  EXPECT_TRUE(result.suspended);
  EXPECT_THAT(own->inner.endings, ElementsAre(Ending::suspended));
}

TEST_F(CheckpointTest, ALostDeviceSuspends) {
  FakeSource source(100);
  DelayedProcessor processor(3);
  processor.fail_at = 40;
  const RunResult result = go(source, processor);
  EXPECT_TRUE(result.suspended);
  EXPECT_TRUE(result.processor_failed);
  EXPECT_EQ(result.partial_reason, "device lost");
  EXPECT_THAT(own->inner.endings, ElementsAre(Ending::suspended));
}

TEST_F(CheckpointTest, AFailingSinkKeepsWhatIsSafe) {
  for (const std::size_t at : {std::size_t{3}, std::size_t{20}}) {
    renew();
    own->inner.fail_write_at = at;
    FakeSource source(100);
    DelayedProcessor processor(1);
    EXPECT_THAT(error_of([&] { go(source, processor); }).second, HasSubstr("disk full"));
    EXPECT_THAT(own->inner.endings, ElementsAre(at < 7 ? Ending::failed : Ending::suspended));
  }
}

}  // namespace
}  // namespace equalux::test
