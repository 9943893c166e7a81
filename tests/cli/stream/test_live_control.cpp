#include <string>
#include <utility>

#include <equalux/error.h>
#include <gtest/gtest.h>

#include "src/cli/stream/live_control.h"
#include "tests/support/pipeline_fakes.h"

namespace equalux {
namespace {

TEST(LiveControl, KnowsTheFiltersThatTheRunLacks) {
  cli::CommonOptions common;
  common.filters = {{"shapes", {}}};
  cli::LiveControl live({}, common, Backend::cpu, nullptr);
  const auto message_of = [&live](char key) {
    return test::error_of([&] { live.steering().step_by_key(key); });
  };
  EXPECT_EQ(message_of('{'),
            (std::pair{ExitCode::usage, std::string("the key { changes strength of denoise, which "
                                                    "this run cannot change")}));
  EXPECT_EQ(message_of('-').second,
            "the key - changes clip-limit of equalize, which this run cannot change");
  EXPECT_FALSE(live.steering().step_by_key('#'));
}

TEST(LiveControl, SaysWhatAPresetHasAndTheRunLacks) {
  cli::CommonOptions common;
  common.preset = "stable";
  cli::LiveControl plain({}, common, Backend::cpu, nullptr);
  const auto note_of = [](cli::LiveControl& live, const char* preset) {
    live.steering().change({{"preset", preset}});
    return live.steering().note();
  };
  EXPECT_EQ(note_of(plain, "fog"), "");
  EXPECT_EQ(note_of(plain, "low-light"),
            "preset low-light also has denoise, which a run cannot take on while frames move; "
            "--preset low-light begins with it");
  EXPECT_EQ(plain.steering().last_change(), "preset low-light, in part");
  EXPECT_EQ(note_of(plain, "endoscopy").substr(0, 55),
            "preset endoscopy also has denoise and surround ignore, ");
  plain.steering().change({{"strength", 0.5}});
  EXPECT_NE(plain.steering().note(), "");  // the preset is still the same
  plain.steering().change({{"reset", true}});
  EXPECT_EQ(plain.steering().note(), "");

  common.filters = {{"equalize", {}}, {"denoise", {}}};
  cli::LiveControl with({}, common, Backend::cpu, nullptr);
  EXPECT_EQ(note_of(with, "low-light"), "");
}

TEST(LiveControl, TheFilterOfMasksStaysOn) {
  cli::LiveControl live({}, {}, Backend::cpu, nullptr);
  RunOptions run;
  live.attach(run);
  StreamInfo info;
  info.desc = {PixelFormat::nv12, 8, 4};
  run.on_source(info);
  run.on_open(info);
  live.steering().toggle_filter();
  live.steering().toggle_filter();
  info.desc.format = PixelFormat::gray8;
  run.on_open(info);
  EXPECT_EQ(test::error_of([&] { live.steering().toggle_filter(); }).second,
            "filter is false, must be true: the filters make gray8 pictures of nv12");
}

TEST(LiveControl, RecordsWhereTheRunCan) {
  cli::LiveControl without({}, {}, Backend::cpu, nullptr);
  EXPECT_EQ(test::error_of([&] { without.steering().toggle_recording(); }).first, ExitCode::usage);
  RecordSwitch recording;
  cli::LiveControl with({}, {}, Backend::cpu, &recording);
  with.steering().toggle_recording();
  EXPECT_TRUE(recording.on);
}

}  // namespace
}  // namespace equalux
