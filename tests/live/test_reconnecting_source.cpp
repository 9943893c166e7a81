#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <equalux/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/core/frame_pool.h"
#include "pipelines/live/reconnecting_source.h"
#include "pipelines/picture/convert_rgb.h"
#include "pipelines/picture/placeholder.h"
#include "tests/core/engine_fixture.h"

namespace equalux::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// Quick enough for a test, slow enough that a placeholder fits between two tries.
ReconnectOptions quick() {
  ReconnectOptions options;
  options.first_wait = 20ms;
  options.longest_wait = 40ms;
  options.placeholder_period = 5ms;
  return options;
}

/// A plan of sources: the n-th that is made is what the n-th entry says.
struct Plan {
  std::vector<std::function<std::unique_ptr<Source>()>> entries;
  std::atomic<std::size_t> made{0};

  SourceFactory factory() {
    return [this]() -> std::unique_ptr<Source> {
      const std::size_t at = made++;
      return entries[std::min(at, entries.size() - 1)]();
    };
  }
};

std::unique_ptr<Source> live_source(std::uint64_t frames, std::optional<std::uint64_t> fail_at = {},
                                    ImageDesc desc = small_desc()) {
  auto source = std::make_unique<FakeSource>(frames);
  source->live = true;
  source->fail_at = fail_at;
  source->desc = desc;
  source->pace = 1ms;
  return source;
}

std::unique_ptr<Source> missing() {
  throw Error(ExitCode::no_input, "fake: missing");
}

bool accepts_all(PixelFormat) {
  return true;
}

struct Seen {
  std::vector<Frame> frames;  // without their pixels
  std::vector<int> bytes;
  ExitCode code = ExitCode::done;
  std::string text;

  [[nodiscard]] std::size_t placeholders() const {
    std::size_t count = 0;
    for (const Frame& frame : frames)
      count += frame.placeholder ? 1 : 0;
    return count;
  }
};

/// Reads until the end, an error, or `real` frames of the source.
Seen read_all(Source& source, std::size_t real) {
  Seen seen;
  FramePool pool(small_desc(), 2);
  try {
    (void)source.open(accepts_all);
    while (seen.frames.size() - seen.placeholders() < real) {
      FramePtr frame = pool.acquire();
      if (!source.read(*frame)) break;
      Frame copy;
      copy.pts_ns = frame->pts_ns;
      copy.placeholder = frame->placeholder;
      copy.discontinuity = frame->discontinuity;
      copy.timings.reconnects = frame->timings.reconnects;
      seen.frames.push_back(std::move(copy));
      seen.bytes.push_back(frame->image.row(0, 1)[2]);
    }
  } catch (const Error& error) {
    seen.code = error.code();
    seen.text = error.what();
  }
  return seen;
}

TEST(ReconnectingSource, ComesBackAfterAFailureWithPlaceholdersBetween) {
  const Watchdog watchdog;
  Plan plan{
      {[] { return live_source(100, 3); }, missing, missing, [] { return live_source(100); }}};
  const auto source = make_reconnecting_source(plan.factory(), quick());
  const Seen seen = read_all(*source, 8);
  EXPECT_EQ(seen.code, ExitCode::done) << seen.text;
  EXPECT_EQ(plan.made, 4U);
  ASSERT_GE(seen.placeholders(), 2U);
  ASSERT_GT(seen.frames.size(), 8U);
  // Three frames, placeholders, and the source from its start again.
  for (std::size_t i = 0; i < seen.frames.size(); ++i) {
    const Frame& frame = seen.frames[i];
    const bool gap = i >= 3 && i < 3 + seen.placeholders();
    EXPECT_EQ(frame.placeholder, gap) << i;
    if (!gap) {
      EXPECT_EQ(seen.bytes[i], i < 3 ? i : i - 3 - seen.placeholders());
    }
    EXPECT_EQ(frame.discontinuity, i == 3 || i == 3 + seen.placeholders()) << i;
    EXPECT_EQ(frame.timings.reconnects, i < 3 + seen.placeholders() ? 0U : 1U) << i;
    if (i > 0) {
      EXPECT_GT(frame.pts_ns, seen.frames[i - 1].pts_ns) << i;
    }
  }
  // Time went on during the gap: two waits of 20 and 40 ms and a third.
  EXPECT_GT(seen.frames[3 + seen.placeholders()].pts_ns, 80'000'000);
}

TEST(ReconnectingSource, AnEndIsALossOnlyWhereThatIsSaid) {
  const Watchdog watchdog;
  Plan plan{{[] { return live_source(2); }}};
  const Seen lost = read_all(*make_reconnecting_source(plan.factory(), quick()), 5);
  EXPECT_GE(plan.made, 3U);
  EXPECT_EQ(lost.frames.back().timings.reconnects, 2U);
  plan.made = 0;
  ReconnectOptions options = quick();
  options.end_is_loss = false;
  const Seen ended = read_all(*make_reconnecting_source(plan.factory(), options), 5);
  EXPECT_EQ(ended.frames.size(), 2U);
  EXPECT_EQ(plan.made, 1U);
}

TEST(ReconnectingSource, WhatIsNotLiveFailsAsEver) {
  Plan plan{{[] {
    auto source = std::make_unique<FakeSource>(100);
    source->fail_at = 2;
    return source;
  }}};
  const Seen seen = read_all(*make_reconnecting_source(plan.factory(), quick()), 5);
  EXPECT_EQ(seen.code, ExitCode::bad_input);
  EXPECT_EQ(seen.text, "fake: damaged");
  EXPECT_EQ(seen.frames.size(), 2U);
}

TEST(ReconnectingSource, WhatWasNeverThereIsAnError) {
  Plan plan{{missing}};
  const Seen seen = read_all(*make_reconnecting_source(plan.factory(), quick()), 5);
  EXPECT_EQ(seen.code, ExitCode::no_input);
  EXPECT_EQ(plan.made, 1U);
}

TEST(ReconnectingSource, GivesUpInTime) {
  const Watchdog watchdog;
  Plan plan{{[] { return live_source(100, 1); }, missing}};
  ReconnectOptions options = quick();
  options.give_up = 100ms;
  const Seen seen = read_all(*make_reconnecting_source(plan.factory(), options), 5);
  EXPECT_EQ(seen.code, ExitCode::bad_input);
  EXPECT_EQ(seen.text, "fake: damaged; it did not come back within 0.1 s");
  EXPECT_GE(plan.made, 3U);
}

TEST(ReconnectingSource, AnotherSizeIsAnError) {
  const Watchdog watchdog;
  Plan plan{
      {[] { return live_source(100, 1); }, [] { return live_source(100, {}, small_desc(8, 8)); }}};
  const Seen seen = read_all(*make_reconnecting_source(plan.factory(), quick()), 5);
  EXPECT_EQ(seen.code, ExitCode::bad_input);
  EXPECT_THAT(seen.text, HasSubstr("came back with frames of 8x8 gray8 where they were 6x4 gray8"));
}

TEST(ReconnectingSource, CancelReachesWhatIsBeingOpened) {
  const Watchdog watchdog(10s);
  Plan plan{{[] { return live_source(100, 1); },
             [] {
               auto source = std::make_unique<FakeSource>(100);
               source->live = source->stall_open = true;
               return source;
             }}};
  const auto source = make_reconnecting_source(plan.factory(), quick());
  std::thread canceller([&] {
    while (plan.made < 2)
      std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(20ms);
    source->cancel();
  });
  const Seen seen = read_all(*source, 5);
  canceller.join();
  EXPECT_EQ(seen.code, ExitCode::done) << seen.text;
  EXPECT_GE(seen.placeholders(), 1U);
}

/// A live source whose own clock goes wrong at its 10th frame.
class WrongClockSource final : public Source {
 public:
  static constexpr std::uint64_t kFrames = 30;
  /// `pace` is as its timestamps say, or 0 for all frames at once.
  explicit WrongClockSource(std::function<std::int64_t(std::int64_t)> wrong,
                            std::chrono::milliseconds pace = 10ms)
      : inner_(kFrames), wrong_(std::move(wrong)) {
    inner_.live = true;
    inner_.pace = pace;
  }
  StreamInfo open(const FormatPredicate& accepts) override { return inner_.open(accepts); }
  bool read(Frame& frame) override {
    if (!inner_.read(frame)) return false;
    if (++frames_ >= 10) frame.pts_ns = wrong_(frame.pts_ns);
    return true;
  }
  void cancel() noexcept override { inner_.cancel(); }

 private:
  FakeSource inner_;
  std::function<std::int64_t(std::int64_t)> wrong_;
  int frames_ = 0;
};

TEST(ReconnectingSource, TimeGoesOnWhereASourcesClockGoesWrong) {
  const Watchdog watchdog;
  constexpr std::int64_t kHours = 3 * 3'600'000'000'000;
  const std::vector<std::function<std::int64_t(std::int64_t)>> wrongs{
      [](std::int64_t pts) { return pts + kHours; }, [](std::int64_t pts) { return pts - kHours; },
      [](std::int64_t) { return std::int64_t{-1}; },
      [](std::int64_t pts) { return pts % 20'000'000 == 0 ? pts + kHours : pts; }};
  for (const auto& wrong : wrongs) {
    Plan plan{{[&] { return std::make_unique<WrongClockSource>(wrong); }}};
    ReconnectOptions options = quick();
    options.end_is_loss = false;
    const Seen seen = read_all(*make_reconnecting_source(plan.factory(), options), 100);
    ASSERT_EQ(seen.frames.size(), WrongClockSource::kFrames) << seen.text;
    for (std::size_t i = 1; i < seen.frames.size(); ++i)
      EXPECT_GT(seen.frames[i].pts_ns, seen.frames[i - 1].pts_ns) << i;
    // As much time as passed: 10 ms a frame, or more on a busy machine.
    const std::int64_t took = seen.frames.back().pts_ns - seen.frames[8].pts_ns;
    EXPECT_GE(took, 190'000'000);
    EXPECT_LT(took, 20'000'000'000);
  }
}

/// Two of them would be one on the tick of a container.
TEST(ReconnectingSource, FramesThatComeAtOnceAreAMillisecondApart) {
  const Watchdog watchdog;
  const auto stands = [](std::int64_t) { return std::int64_t{-1}; };
  Plan plan{{[&] { return std::make_unique<WrongClockSource>(stands, 0ms); }}};
  ReconnectOptions options = quick();
  options.end_is_loss = false;
  const Seen seen = read_all(*make_reconnecting_source(plan.factory(), options), 100);
  ASSERT_EQ(seen.frames.size(), WrongClockSource::kFrames) << seen.text;
  for (std::size_t i = 1; i < seen.frames.size(); ++i)
    EXPECT_GE(seen.frames[i].pts_ns, seen.frames[i - 1].pts_ns + 1'000'000) << i;
}

/// Through a whole run: placeholders are not filtered, and everything is counted.
using ReconnectingRun = EngineTest;

TEST_F(ReconnectingRun, CountsWhatHappened) {
  Plan plan{{[] { return live_source(100, 2); }, [] { return live_source(3); }}};
  ReconnectOptions reconnect = quick();
  reconnect.give_up = 200ms;
  const auto source = make_reconnecting_source(plan.factory(), reconnect);
  std::size_t untouched = 0;
  std::size_t marked = 0;
  options.on_frame = [&](const Frame& frame) {
    marked += frame.timings.reconnects > 0 ? 1 : 0;
    untouched += frame.placeholder && frame.image.row(0, 1)[2] == 96 ? 1 : 0;
  };
  std::vector<std::unique_ptr<Filter>> filters;
  filters.push_back(std::make_unique<InvertFilter>());
  const auto processor = make_cpu_processor(std::move(filters), 1);
  sink.on_write = [&](std::size_t) {
    if (plan.made >= 4) stop.signal = SIGINT;
  };
  const RunResult result = run(*source, *processor, sink, options, stop);
  EXPECT_EQ(result.code, ExitCode::interrupted);
  EXPECT_TRUE(result.live);
  EXPECT_GE(result.reconnects, 2U);
  EXPECT_GT(result.placeholders, 0U);
  EXPECT_EQ(untouched, result.placeholders);
  EXPECT_GT(marked, 0U);
  EXPECT_EQ(result.frames_in, result.frames_out + result.dropped);
}

TEST(Placeholder, IsTheSamePictureInEveryFormat) {
  for (int i = 0; i < kPixelFormatCount; ++i) {
    const auto format = static_cast<PixelFormat>(i);
    if (traits(format).model == ColorModel::real) continue;
    for (const auto& [width, height] : {std::pair(41, 31), {1, 1}, {160, 90}}) {
      ImageDesc desc{.format = format, .width = width, .height = height};
      Image image(desc);
      draw_placeholder(image.view());
      Image rgb({.format = PixelFormat::bgr, .width = width, .height = height});
      convert_to_rgb(std::as_const(image).view(), rgb.view());
      const auto at = [&](int x, int y) { return rgb.view().row(0, y)[3 * x]; };
      EXPECT_NEAR(at(0, 0), 96, 1) << to_string(format);
      if (width < 41) continue;
      EXPECT_NEAR(at(width - 1, 0), 96, 1) << to_string(format);
      EXPECT_NEAR(at(width / 2, 0), 40, 1) << to_string(format);
      for (int c = 0; c < 3; ++c)
        EXPECT_EQ(rgb.view().row(0, 0)[c], at(0, 0)) << to_string(format);
    }
  }
}

}  // namespace
}  // namespace equalux::test
