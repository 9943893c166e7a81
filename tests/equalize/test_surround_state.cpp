// The surround of a stream in what a filter saves: later frames are as if nothing had happened, and
// what it cannot be is refused.
#include <string>
#include <vector>

#include <equalux/error.h>
#include <equalux/filter.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "src/common/json_text.h"
#include "src/equalize/surround_state.h"
#include "tests/equalize/seen_surround.h"
#include "tests/support/media/test_images.h"

namespace equalux {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Bytes = std::vector<std::uint8_t>;

constexpr ImageDesc kDesc{PixelFormat::gray8, 640, 480};
constexpr int kFrames = 150;

EqualizeParams leaving_out(double temporal_ms) {
  EqualizeParams params;
  params.surround = Surround::ignore;
  params.temporal_ms = temporal_ms;
  return params;
}

std::unique_ptr<Filter> make(const EqualizeParams& params) {
  auto filter = make_cpu_filter(params, {1});
  filter->configure(kDesc);
  return filter;
}

/// Bars slide in, stay, and slide out: for a second each time what the blocks are depends on what
/// they were. The timestamps of some frames say nothing.
class SlidingBars {
 public:
  Bytes frame_through(Filter& filter, int number) {
    copy_image(picture_.view(), frame_.view());
    const int bar = std::clamp(number < 75 ? number : 115 - number, 0, 40);
    for (int y = 0; y < kDesc.height; ++y) {
      if (y < bar || y >= kDesc.height - bar)
        std::fill_n(frame_.view().row(0, y), row_bytes(kDesc, 0), std::uint8_t{3});
    }
    FrameContext context;
    context.pts_ns = number / 9 * 9 * test::kFrameNs;
    filter.submit(frame_.view(), frame_.view(), context);
    return test::tight_copy(frame_.view());
  }

 private:
  Image picture_ = test::picture(kDesc, 4);
  Image frame_ = Image(kDesc);
};

TEST(SurroundState, BehindAnyFrameTheStreamGoesOnAsBefore) {
  SlidingBars bars;
  for (const double temporal_ms : {0.0, 1000.0}) {
    SCOPED_TRACE(temporal_ms);
    const auto whole = make(leaving_out(temporal_ms));
    std::vector<Bytes> frames;
    std::vector<std::string> states;
    for (int i = 0; i < kFrames; ++i) {
      states.push_back(whole->save());
      frames.push_back(bars.frame_through(*whole, i));
    }
    int dependent = 0;
    for (int first = 0; first < kFrames; first += 13) {
      const auto rest = make(leaving_out(temporal_ms));
      const auto forgetful = make(leaving_out(temporal_ms));
      if (temporal_ms == 0 || first > 0) rest->load(states[static_cast<std::size_t>(first)]);
      bool differs = false;
      for (int i = first; i < kFrames; ++i) {
        const Bytes& expected = frames[static_cast<std::size_t>(i)];
        ASSERT_EQ(bars.frame_through(*rest, i), expected) << first << " to " << i;
        differs = differs || bars.frame_through(*forgetful, i) != expected;
      }
      EXPECT_EQ(rest->save(), whole->save()) << "from " << first;
      dependent += differs ? 1 : 0;
    }
    EXPECT_GE(dependent, 2) << "the state says nothing";
  }
}

/// A state with something of everything in it.
nlohmann::json some_state() {
  SlidingBars bars;
  const auto filter = make(leaving_out(0));
  for (int i = 0; i < 60; ++i)
    static_cast<void>(bars.frame_through(*filter, i));
  return parse_json(filter->save());
}

std::string refusal(Filter& filter, const nlohmann::json& state) {
  try {
    filter.load(json_text(state));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  ADD_FAILURE() << "taken: " << json_text(state).substr(0, 200);
  return {};
}

TEST(SurroundState, WhatItCannotBeIsRefusedAndChangesNothing) {
  const nlohmann::json sound = some_state();
  ASSERT_GT(sound["surround"]["blocks"].size(), 4U);
  const auto filter = make(leaving_out(0));
  filter->load(json_text(sound));
  const auto with = [&](const char* path, const nlohmann::json& value) {
    nlohmann::json state = sound;
    state[nlohmann::json::json_pointer(path)] = value;
    return state;
  };
  EXPECT_THAT(refusal(*filter, with("/surround/columns", 41)),
              HasSubstr("in 41x30 blocks, must be 40x30"));
  EXPECT_THAT(refusal(*filter, with("/surround/rows", 4000000000U)), HasSubstr("must be 40x30"));
  EXPECT_THAT(refusal(*filter, with("/surround", 7)), HasSubstr("cannot be read"));
  EXPECT_THAT(refusal(*filter, with("/surround/step", "often")), HasSubstr("out of range"));
  for (const auto& damaged :
       {with("/surround/blocks", 7), with("/surround/blocks", {1200}),
        with("/surround/blocks", {1199, 0}), with("/surround/blocks", {1201, 0}),
        with("/surround/blocks", {-1, 0, 1201, 0}), with("/surround/blocks", {0, 0, 1200, 0}),
        with("/surround/blocks", {1200, 40000}), with("/surround/blocks", {1200, -1}),
        with("/surround/blocks", {1200, 0.5}), with("/surround/step", -1),
        with("/surround/step", 10000), with("/surround/pts-ns", 9223372036854775807)}) {
    EXPECT_THAT(refusal(*filter, damaged), HasSubstr("the state is damaged"));
  }
  nlohmann::json incomplete = sound;
  incomplete["surround"].erase("step");
  EXPECT_THAT(refusal(*filter, incomplete), HasSubstr("cannot be read"));
  EXPECT_EQ(parse_json(filter->save()), sound);

  // The curve's part is taken with it, or not at all.
  const auto calm = make(leaving_out(1000));
  SlidingBars bars;
  for (int i = 0; i < 30; ++i)
    static_cast<void>(bars.frame_through(*calm, i));
  const std::string before = calm->save();
  nlohmann::json half = parse_json(make(leaving_out(500))->save());
  half["surround"] = with("/surround/step", -1)["surround"];
  EXPECT_THAT(refusal(*calm, half), HasSubstr("the state is damaged"));
  half = sound;
  half["version"] = 99;
  EXPECT_THAT(refusal(*calm, half), HasSubstr("version 99"));
  EXPECT_EQ(calm->save(), before);
}

TEST(SurroundState, IsThereOnlyWhereOneIsLookedFor) {
  SlidingBars bars;
  EXPECT_EQ(make(leaving_out(0))->save(), "{}") << "before the first frame";
  const std::string found = json_text(some_state());
  const auto keeping = make({});
  keeping->load(found);
  EXPECT_EQ(keeping->save(), "{}");
  // A state without one: nothing is known, as at a stream's beginning.
  const auto fresh = make(leaving_out(0));
  const auto told_nothing = make(leaving_out(0));
  told_nothing->load(found);
  told_nothing->load("{}");
  EXPECT_EQ(bars.frame_through(*told_nothing, 60), bars.frame_through(*fresh, 60));
  EXPECT_THAT(fresh->save(), HasSubstr("surround"));
  fresh->reset();
  EXPECT_THAT(fresh->save(), Not(HasSubstr("surround")));
}

}  // namespace
}  // namespace equalux
