// Curves over time: what the history is told, what it forgets, and that it can be carried over.
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "src/equalize/tone/tone_history.h"
#include "tests/quality/stability_scenes.h"
#include "tests/support/filter_changes.h"
#include "tests/support/media/moving_frames.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

constexpr ImageDesc kGray{PixelFormat::gray8, 160, 120};

/// A frame of a ramp between two levels, times a gain.
Image ramp(double low, double high, double gain = 1) {
  Image image(kGray);
  for (int y = 0; y < kGray.height; ++y) {
    for (int x = 0; x < kGray.width; ++x) {
      const double v = low + (high - low) * (x + 0.5) / kGray.width;
      image.view().row(0, y)[x] =
          static_cast<std::uint8_t>(std::clamp(std::lround(v * gain), 0L, 255L));
    }
  }
  return image;
}

/// A filter with a clock of its own.
class Stream {
 public:
  explicit Stream(const EqualizeParams& params, double fps = 30)
      : filter_(make_cpu_filter(params, {1})), step_ns_(1e9 / fps), out_(kGray) {
    filter_->configure(kGray);
  }
  /// What becomes of a frame.
  ConstImageView pass(const Image& in) {
    return pass_at(in, static_cast<std::int64_t>(step_ns_ * number_++));
  }
  ConstImageView pass_at(const Image& in, std::int64_t pts_ns) {
    FrameContext context;
    context.pts_ns = pts_ns;
    filter_->submit(in.view(), out_.view(), context);
    return out_.view();
  }
  /// The level that a column of the frame becomes.
  int level(const Image& in, int column) { return pass(in).row(0, 0)[column]; }
  Filter& filter() { return *filter_; }

 private:
  std::unique_ptr<Filter> filter_;
  double step_ns_;
  int number_ = 0;
  Image out_;
};

EqualizeParams calm(double temporal_ms = 1000) {
  EqualizeParams params;
  params.clip_limit = 3;
  params.temporal_ms = temporal_ms;
  return params;
}

TEST(ToneHistory, FirstFrameIsItsOwn) {
  const Image frame = ramp(40, 90);
  Stream alone(calm(0));
  Stream over_time(calm());
  EXPECT_EQ(over_time.level(frame, 100), alone.level(frame, 100));
}

TEST(ToneHistory, StillFramesStayStill) {
  Stream stream(calm());
  const Image frame = ramp(40, 90);
  const int first = stream.level(frame, 100);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(stream.level(frame, 100), first) << i;
}

TEST(ToneHistory, FlickerIsUndone) {
  Stream stream(calm());
  const int steady = stream.level(ramp(40, 90), 80);
  for (int i = 0; i < 30; ++i) {
    const double gain = i % 2 == 0 ? 1.05 : 0.95;
    // The picture's level moves by 6, and rises by three levels a level in the curve.
    EXPECT_NEAR(stream.level(ramp(40, 90, gain), 80), steady, 4) << i;
  }
}

/// A lamp goes on or off: from the frame before to the one after, no frame is brighter or darker
/// than both.
TEST(ToneHistory, LightThatChangesAtOnceDoesNotFlash) {
  for (const double gain : {0.65, 0.75, 0.85, 1.2, 1.35, 1.5}) {
    Stream stream(calm());
    int before = 0;
    for (int i = 0; i < 30; ++i)
      before = stream.level(ramp(40, 90), 80);
    const int at_once = stream.level(ramp(40, 90, gain), 80);
    const int after = stream.level(ramp(40, 90, gain), 80);
    EXPECT_GE(at_once, std::min(before, after) - 4) << gain;
    EXPECT_LE(at_once, std::max(before, after) + 4) << gain;
  }
}

TEST(ToneHistory, StretchedPositionsRiseToWhite) {
  for (const std::uint32_t most : {255U, 219U}) {
    for (std::uint32_t inverse = tone::kLeastGain; inverse <= tone::kMostGain; inverse += 7) {
      std::uint32_t last = 0;
      for (std::uint32_t v = 0; v <= most; ++v) {
        const std::uint32_t position = tone::unflickered(v, inverse, most);
        ASSERT_GE(position, last) << v << " by " << inverse;
        last = position;
      }
      EXPECT_EQ(last, most * tone::kUnit) << inverse;
    }
  }
}

TEST(ToneHistory, CutsAreTakenAtOnce) {
  Stream stream(calm());
  for (int i = 0; i < 20; ++i)
    stream.pass(ramp(20, 60));
  const Image other = ramp(10, 240);
  Stream fresh(calm());
  EXPECT_EQ(stream.level(other, 80), fresh.level(other, 80));
}

/// Frames until a step to other content has gone to 63 % of its way.
double settling_frames(const EqualizeParams& params, double fps, const Image& from,
                       const Image& to) {
  EqualizeParams alone = params;
  alone.temporal_ms = alone.brighten_ms = alone.darken_ms = 0;
  const int end = Stream(alone, fps).level(to, 150);
  Stream stream(params, fps);
  for (int i = 0; i < 200; ++i)
    stream.pass(from);
  const int begin = Stream(alone, fps).level(from, 150);
  // The column's own level is the same in both pictures.
  for (int i = 0; i < 2000; ++i) {
    if (std::abs(stream.level(to, 150) - begin) >= 0.632 * std::abs(end - begin)) return i;
  }
  return 2000;
}

/// A ramp with something bright in it, which no change of light explains.
Image with_object(int columns) {
  Image image = ramp(40, 90);
  for (int y = 0; y < kGray.height; ++y) {
    for (int x = 0; x < columns; ++x) {
      image.view().row(0, y)[60 + x] = static_cast<std::uint8_t>(180 + x);
    }
  }
  return image;
}

TEST(ToneHistory, TimeConstantIsOneOfTimeAndNotOfFrames) {
  const Image from = ramp(40, 90);
  const Image to = with_object(12);
  EqualizeParams params = calm(1000);
  params.clip_limit = 0;
  const double at_25 = settling_frames(params, 25, from, to) / 25;
  const double at_100 = settling_frames(params, 100, from, to) / 100;
  EXPECT_NEAR(at_25, 1, 0.25);
  EXPECT_NEAR(at_100, 1, 0.25);
}

TEST(ToneHistory, BrightnessAndDarknessHaveTheirOwnTimes) {
  const Image dark = ramp(40, 90);
  const Image bright = with_object(12);
  EqualizeParams params = calm(1000);
  params.clip_limit = 0;
  params.brighten_ms = 200;
  EXPECT_LT(settling_frames(params, 30, dark, bright) / 30, 0.4);
  EXPECT_GT(settling_frames(params, 30, bright, dark) / 30, 0.7);
}

/// Timestamps of frame `i` of a stream whose clock goes wrong at frame 40.
struct WrongClock {
  const char* name;
  std::function<std::int64_t(int i)> pts_ns;
};
std::vector<WrongClock> wrong_clocks() {
  constexpr std::int64_t kFrame = 33'333'333;
  constexpr std::int64_t kHours = 3 * 3'600'000'000'000;
  const auto from_40 = [](std::int64_t jump) {
    return [jump](int i) { return i * kFrame + (i < 40 ? 0 : jump); };
  };
  return {{"forward", from_40(kHours)},
          {"backward", from_40(-kHours)},
          {"there and back", [](int i) { return i * kFrame + (i == 40 ? kHours : 0); }},
          {"repeated", [](int i) { return i / 3 * 3 * kFrame; }},
          {"missing", [](int) { return std::int64_t{-1}; }},
          {"standing still after a jump",
           [](int i) { return i < 40 ? i * kFrame : 40 * kFrame + kHours; }}};
}

/// Where it stands at the end of a change that takes a time constant, and how far a frame moves.
TEST(ToneHistory, AClockThatGoesWrongNeitherStopsNorForgets) {
  EqualizeParams params = calm(1000);
  params.clip_limit = 0;
  const Image from = ramp(40, 90);
  const Image to = with_object(30);
  Stream sound(params);
  std::vector<int> expected;
  for (int i = 0; i < 100; ++i)
    expected.push_back(sound.level(i < 45 ? from : to, 150));
  const int way = std::abs(expected[99] - expected[44]);
  ASSERT_GT(way, 20);
  for (const WrongClock& clock : wrong_clocks()) {
    SCOPED_TRACE(clock.name);
    Stream stream(params);
    int last = -1;
    for (int i = 0; i < 100; ++i) {
      const int level = stream.pass_at(i < 45 ? from : to, clock.pts_ns(i)).row(0, 0)[150];
      // At most a fifth of the way at once: the frames before still count.
      if (last < 0) last = level;
      EXPECT_LE(std::abs(level - last), way / 5) << i;
      last = level;
    }
    EXPECT_NEAR(last, expected[99], way / 4.0);
  }
}

TEST(ToneHistory, StateIsCarriedOver) {
  const ImageDesc desc{PixelFormat::i420, 97, 55};
  EqualizeParams params = calm();
  params.strength = 0.8;
  const auto one = make_cpu_filter(params, {1});
  auto other = make_cpu_filter(params, {1});
  one->configure(desc);
  other->configure(desc);
  Image in(desc), expected(desc), got(desc);
  for (int i = 0; i < 260; ++i) {
    if (i % 50 == 49) {
      const std::string state = other->save();
      other = make_cpu_filter(params, {1});
      other->configure(desc);
      other->load(state);
    }
    test::fill_moving(in.view(), i);
    FrameContext context;
    context.pts_ns = std::int64_t{i} * 40'000'000;
    one->submit(in.view(), expected.view(), context);
    other->submit(in.view(), got.view(), context);
    ASSERT_EQ(test::count_differences(expected.view(), got.view()), 0U) << i;
  }
}

TEST(ToneHistory, ResetForgets) {
  Stream stream(calm());
  const Image first = ramp(40, 90);
  for (int i = 0; i < 30; ++i)
    stream.pass(first);
  stream.filter().reset();
  const Image next = with_object(30);
  Stream fresh(calm());
  EXPECT_EQ(stream.level(next, 100), fresh.level(next, 100));
}

TEST(ToneHistory, ChangedParametersAreEasedAndKeepTheHistory) {
  Stream stream(calm());
  const Image frame = ramp(40, 90);
  for (int i = 0; i < 30; ++i)
    stream.pass(frame);
  EqualizeParams weaker = calm();
  weaker.strength = 0;
  const int before = stream.level(frame, 150);
  ASSERT_GT(before - frame.view().row(0, 0)[150], 60);
  EXPECT_TRUE(retune(stream.filter(), weaker));
  int last = before;
  for (int i = 0; i < 60; ++i) {
    const int now = stream.level(frame, 150);
    EXPECT_LE(now, last);
    EXPECT_LE(last - now, 20) << "at once";
    last = now;
  }
  EXPECT_EQ(last, frame.view().row(0, 0)[150]);
  // Without a time constant they hold at once.
  Stream plain(calm(0));
  plain.pass(frame);
  weaker.temporal_ms = 0;
  EXPECT_TRUE(retune(plain.filter(), weaker));
  EXPECT_EQ(plain.level(frame, 150), frame.view().row(0, 0)[150]);
}

TEST(ToneHistory, TheLeastGainIsEasedAndSaved) {
  Stream stream(calm());
  const Image frame = ramp(150, 200);
  const int own = frame.view().row(0, 0)[20];
  for (int i = 0; i < 30; ++i)
    stream.pass(frame);
  EqualizeParams held = calm();
  held.min_gain = 1;
  const int before = stream.level(frame, 20);
  ASSERT_LT(before, own - 50);
  EXPECT_TRUE(retune(stream.filter(), held));
  for (int i = 0; i < 3; ++i)
    stream.pass(frame);
  // Half way, it goes on from its state as it does without.
  Stream other(held);
  other.filter().load(stream.filter().save());
  int last = before;
  for (int i = 0; i < 60; ++i) {
    const int now = stream.level(frame, 20);
    EXPECT_EQ(other.level(frame, 20), now) << i;
    EXPECT_GE(now, last);
    if (i == 0) {
      EXPECT_LT(now, own) << "at once";
    }
    last = now;
  }
  EXPECT_EQ(last, own);
}

TEST(ToneHistory, AutoIsEasedAndSaved) {
  Stream stream(calm());
  const Image frame = ramp(20, 250);
  for (int i = 0; i < 30; ++i)
    stream.pass(frame);
  EqualizeParams follows = calm();
  follows.strength = kAutoStrength;
  follows.min_gain = kAutoMinGain;
  ASSERT_TRUE(retune(stream.filter(), follows));
  for (int i = 0; i < 3; ++i)
    stream.pass(frame);
  Stream other(follows);
  other.filter().load(stream.filter().save());
  Stream arrived(follows);
  const int there = arrived.level(frame, 150);
  int first = 0;
  int last = 0;
  for (int i = 0; i < 60; ++i) {
    const int now = stream.level(frame, 150);
    EXPECT_EQ(other.level(frame, 150), now) << i;
    if (i == 0) first = now;
    last = now;
  }
  EXPECT_NE(first, there) << "at once";
  EXPECT_NEAR(last, there, 1);
}

TEST(ToneHistory, StretchIsEasedAndSaved) {
  EqualizeParams params = calm();
  params.strength = 0;
  params.floor = 0.1;
  params.ceiling = 99.9;
  Stream stream(params);
  const Image frame = ramp(100, 160);
  for (int i = 0; i < 30; ++i)
    stream.pass(frame);
  const int before = stream.level(frame, 150);
  params.stretch = 3;
  ASSERT_TRUE(retune(stream.filter(), params));
  for (int i = 0; i < 3; ++i)
    stream.pass(frame);
  Stream other(params);
  other.filter().load(stream.filter().save());
  Stream arrived(params);
  const int there = arrived.level(frame, 150);
  ASSERT_GT(std::abs(there - before), 8);
  int first = 0;
  int last = 0;
  for (int i = 0; i < 60; ++i) {
    const int now = stream.level(frame, 150);
    EXPECT_EQ(other.level(frame, 150), now) << i;
    if (i == 0) first = now;
    last = now;
  }
  EXPECT_GT(std::abs(first - there), 2) << "at once";
  EXPECT_NEAR(last, there, 1);
}

/// What enters a corner and leaves again moves the line by little, though it moves the ends by
/// much; what fills a quarter of the picture is never cut off.
TEST(ToneHistory, TheEndsFollowSlowly) {
  EqualizeParams params = calm(300);
  params.strength = 0;
  params.floor = 0.1;
  params.ceiling = 99.9;
  params.stretch = 4;
  const Image frame = ramp(40, 120);
  const auto with_lamp = [](int size, std::uint8_t level) {
    Image lamp = ramp(40, 120);
    for (int y = 0; y < size; ++y)
      std::fill_n(lamp.view().row(0, y), size, level);
    return lamp;
  };
  Stream stream(params);
  for (int i = 0; i < 30; ++i)
    stream.pass(frame);
  const int before = stream.level(frame, 150);
  const Image small = with_lamp(12, 255);
  const int alone = Stream(params).level(small, 150);
  ASSERT_LT(alone, before - 100);
  int least = before;
  for (int i = 0; i < 15; ++i)
    least = std::min(least, stream.level(small, 150));
  EXPECT_LT(least, before);
  EXPECT_GE(least, before - 30);
  for (int i = 0; i < 1500; ++i)
    stream.pass(small);
  EXPECT_NEAR(stream.level(small, 150), alone, 4);
  // Without a cut: its levels stay apart as soon as the curve has followed.
  Stream other(params);
  for (int i = 0; i < 30; ++i)
    other.pass(frame);
  const Image large = with_lamp(70, 150);
  for (int i = 0; i < 60; ++i)
    other.pass(large);
  EXPECT_LT(other.level(large, 159), 225);
}

TEST(ToneHistory, StatesWithMoreThanTheWholeAreRefused) {
  Stream stream(calm());
  stream.pass(ramp(40, 90));
  for (const std::size_t place : {std::size_t{8}, std::size_t{9}}) {
    nlohmann::json state = nlohmann::json::parse(stream.filter().save());
    state["limits"][place == 8 ? 0 : 5] = 0.7;
    state["limits"][place] = 0.4;
    EXPECT_THROW(Stream(calm()).filter().load(state.dump()), Error) << place;
    state["limits"][place] = 0.3;
    EXPECT_NO_THROW(Stream(calm()).filter().load(state.dump())) << place;
  }
}

TEST(ToneHistory, StatesFromBeforeTheLeastGainAreTaken) {
  Stream stream(calm());
  const Image frame = ramp(40, 90);
  for (int i = 0; i < 30; ++i)
    stream.pass(frame);
  std::string state = stream.filter().save();
  const std::size_t begin = state.find("\"limits\":[");
  ASSERT_NE(begin, std::string::npos);
  const std::size_t end = state.find(']', begin);
  state.erase(state.rfind(',', end), end - state.rfind(',', end));
  Stream other(calm());
  other.filter().load(state);
  EXPECT_EQ(other.level(frame, 150), stream.level(frame, 150));
}

std::string error_of_state(const std::string& state) {
  Stream stream(calm());
  try {
    stream.filter().load(state);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "";
}

TEST(ToneHistory, DamagedStatesAreRefused) {
  using testing::HasSubstr;
  Stream stream(calm());
  stream.pass(ramp(40, 90));
  const std::string state = stream.filter().save();
  EXPECT_EQ(error_of_state(state), "");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string damaged = state;
    const std::size_t at = damaged.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return damaged.replace(at, from.size(), to);
  };
  EXPECT_THAT(error_of_state("{"), HasSubstr("the state cannot be read"));
  EXPECT_EQ(error_of_state("{}"),
            "the state cannot be read: key 'version' not found; must be of a filter with the same "
            "options");
  EXPECT_THAT(error_of_state(with("\"version\":1", "\"version\":9")),
              HasSubstr("version 9, must be 1"));
  EXPECT_THAT(error_of_state(with("\"max-value\":255", "\"max-value\":219")),
              HasSubstr("220 levels, must be 256"));
  EXPECT_THAT(error_of_state(with("\"gain\":16384", "\"gain\":1")), HasSubstr("damaged"));
  EXPECT_THAT(error_of_state(with("\"frame\":[", "\"frame\":[7,")), HasSubstr("damaged"));
}

}  // namespace
}  // namespace equalux
