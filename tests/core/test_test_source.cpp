#include <algorithm>
#include <csignal>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/core/frame_hash.h"
#include "pipelines/core/frame_time.h"
#include "pipelines/core/run.h"
#include "pipelines/core/test_source.h"
#include "tests/support/media/test_images.h"
#include "tests/support/pipeline_fakes.h"

namespace equalux::test {
namespace {

using ::testing::HasSubstr;

TEST(TestPattern, ReadsSizeAndRate) {
  const TestPattern plain = parse_test_pattern("640x480");
  EXPECT_EQ(plain.width, 640);
  EXPECT_EQ(plain.height, 480);
  EXPECT_EQ(plain.frame_rate, (Rational{30, 1}));
  EXPECT_EQ(parse_test_pattern("1x1@30000/1001").frame_rate, (Rational{30000, 1001}));
  EXPECT_EQ(parse_test_pattern("1x1@29.97").frame_rate, (Rational{2997, 100}));
}

TEST(TestPattern, RefusesTheRest) {
  for (const char* text : {"", "640", "640x", "x480", "640x480@", "640x480@0", "640x480@-1", "0x4",
                           "-6x4", "640x480x3", "6 x4", "99999x4", "65000x65000", "640x480@abc",
                           "640x480@1/0", "99999999999x1"}) {
    const auto [code, message] = error_of([&] { static_cast<void>(parse_test_pattern(text)); });
    EXPECT_EQ(code, ExitCode::usage) << text;
    EXPECT_THAT(message, HasSubstr("test:1280x720@30"));
  }
}

TEST(RateText, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_rate("25"), (Rational{25, 1}));
  EXPECT_EQ(parse_rate("50/2"), (Rational{25, 1}));
  EXPECT_EQ(parse_rate("12.5"), (Rational{25, 2}));
  EXPECT_EQ(parse_rate("0.5"), (Rational{1, 2}));
  EXPECT_EQ(parse_rate("23.976"), (Rational{2997, 125}));
  for (const char* text : {"", ".", "5.", ".5", "0", "0/1", "1/0", "a", "1e3", "-3", "3/-1",
                           "10001", "1.1234567", "1234567890", "1/2/3"}) {
    EXPECT_EQ(parse_rate(text), std::nullopt) << text;
  }
}

/// The first frames of a pattern in one format, as tight bytes.
std::vector<std::vector<std::uint8_t>> frames_of(PixelFormat format, int width, int height,
                                                 int count) {
  const auto source = make_test_source({width, height, {25, 1}});
  const StreamInfo info = source->open([&](PixelFormat f) { return f == format; });
  EXPECT_EQ(info.desc.format, format);
  EXPECT_EQ(info.desc.width, width);
  EXPECT_EQ(info.desc.height, height);
  std::vector<std::vector<std::uint8_t>> frames;
  for (int i = 0; i < count; ++i) {
    Frame frame;
    EXPECT_TRUE(source->read(frame));
    EXPECT_EQ(frame.image.desc, info.desc);
    EXPECT_EQ(frame.pts_ns, i * 40'000'000LL);
    frames.push_back(tight_copy(frame.image));
  }
  return frames;
}

TEST(TestSource, EveryFormatAndSize) {
  for (int i = 0; i < kPixelFormatCount; ++i) {
    const auto format = static_cast<PixelFormat>(i);
    if (!has_byte_samples(format)) continue;
    for (const auto& [width, height] : {std::pair{1, 1}, {5, 3}, {64, 48}}) {
      EXPECT_EQ(frames_of(format, width, height, 70), frames_of(format, width, height, 70))
          << to_string(format);
    }
  }
}

TEST(TestSource, MovesAndIsOfLowContrast) {
  const auto frames = frames_of(PixelFormat::gray8, 320, 240, 32);
  const std::set<std::vector<std::uint8_t>> different(frames.begin(), frames.end());
  EXPECT_EQ(different.size(), frames.size());
  const auto [least, most] = std::minmax_element(frames[0].begin(), frames[0].end());
  EXPECT_GE(*least, 80);
  EXPECT_LE(*most, 175);
  EXPECT_GE(*most - *least, 30);
}

TEST(TestSource, LumaIsTheSameInEveryLayout) {
  const auto i420 = frames_of(PixelFormat::i420, 16, 8, 40).back();
  const auto nv12 = frames_of(PixelFormat::nv12, 16, 8, 40).back();
  const auto yuy2 = frames_of(PixelFormat::yuy2, 16, 8, 40).back();
  EXPECT_TRUE(std::equal(i420.begin(), i420.begin() + 128, nv12.begin()));
  for (std::size_t i = 0; i < 128; ++i)
    ASSERT_EQ(i420[i], yuy2[2 * i]);
  for (std::size_t i = 0; i < 32; ++i) {
    ASSERT_EQ(i420[128 + i], nv12[128 + 2 * i]);
    ASSERT_EQ(i420[160 + i], nv12[129 + 2 * i]);
  }
}

TEST(TestSource, PrefersYuvAndSaysWhereNothingFits) {
  EXPECT_EQ(make_test_source({8, 8, {25, 1}})->open([](PixelFormat) { return true; }).desc.format,
            PixelFormat::i420);
  EXPECT_EQ(error_of([] {
              make_test_source({8, 8, {25, 1}})->open([](PixelFormat f) {
                return f == PixelFormat::grayf32;
              });
            }).first,
            ExitCode::usage);
}

TEST(TestSource, EndsByMaxFramesOrAStop) {
  const Watchdog watchdog;
  for (const std::uint64_t limit : {500ULL, 0ULL}) {
    const auto source = make_test_source({64, 48, {25, 1}});
    FakeSink sink;
    StopToken stop;
    RunOptions options;
    options.max_frames = limit;
    options.on_result = [&](const Frame& frame) {
      if (frame.index == 1000) stop.signal = SIGTERM;
    };
    const RunResult result = run(*source, *make_cpu_processor({}, 1), sink, options, stop);
    EXPECT_EQ(result.code, limit > 0 ? ExitCode::done : ExitCode::terminated);
    EXPECT_GE(result.frames_out, limit > 0 ? 500U : 1000U);
  }
}

}  // namespace
}  // namespace equalux::test
