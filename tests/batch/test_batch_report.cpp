#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/core/run.h"
#include "pipelines/files/pnm.h"
#include "src/cli/batch/contact_sheet.h"
#include "src/cli/batch/progress.h"
#include "src/cli/batch/report.h"
#include "src/common/json_text.h"
#include "tests/support/pipeline_fakes.h"
#include "tests/support/temp_folder.h"

/// What a batch tells of itself.
namespace equalux::cli {
namespace {

using ::testing::HasSubstr;

Outcome outcome(const std::string& status, int code, std::uint64_t frames = 0) {
  FileResult result;
  result.status = status;
  result.code = code;
  result.frames_out = frames;
  result.elapsed_s = 2;
  if (status != "done") result.reason = "because";
  return {{"in.mp4", "out/in.mp4"}, result, "device 1"};
}

TEST(BatchExitCode, SaysWhetherToTryAgain) {
  const Outcome done = outcome("done", 0);
  const Outcome skipped = outcome("skipped", 0);
  const Outcome broken = outcome("failed", 65);
  const Outcome full = outcome("failed", 74);
  const Outcome partial = outcome("partial", 3);
  const Outcome locked = outcome("skipped", 3);
  EXPECT_EQ(batch_exit_code({}, 0), ExitCode::done);
  EXPECT_EQ(batch_exit_code({done, skipped}, 0), ExitCode::done);
  EXPECT_EQ(batch_exit_code({broken, broken}, 0), ExitCode::bad_input);
  EXPECT_EQ(batch_exit_code({full}, 0), ExitCode::write_failed);
  EXPECT_EQ(batch_exit_code({full, broken}, 0), ExitCode::partial);
  EXPECT_EQ(batch_exit_code({done, broken}, 0), ExitCode::partial);
  EXPECT_EQ(batch_exit_code({partial}, 0), ExitCode::partial);
  EXPECT_EQ(batch_exit_code({locked}, 0), ExitCode::partial);
  EXPECT_EQ(batch_exit_code({done}, 15), ExitCode::terminated);
}

TEST(BatchReport, CountsOnlyTheFramesOfThisRunForSpeed) {
  Outcome resumed = outcome("done", 0, 300);
  resumed.result->resumed_at = 100;
  BatchOptions options;
  const auto report = parse_json(batch_report({resumed}, options, 3));
  EXPECT_DOUBLE_EQ(report.at("files").at(0).at("fps"), 100);
  EXPECT_FALSE(report.at("files").at(0).contains("place"));
  options.devices = {0, 1};
  EXPECT_EQ(parse_json(batch_report({resumed}, options, 3)).at("files").at(0).at("place"),
            "device 1");
}

TEST(BatchReport, NamesFilesThatWereNotBegun) {
  const std::string table =
      batch_table({outcome("done", 0, 5), {{"late.mp4", "out/late.mp4"}, {}, ""}});
  EXPECT_THAT(table, HasSubstr("late.mp4  stopped"));
  EXPECT_THAT(table, HasSubstr("was not begun"));
  EXPECT_THAT(table, HasSubstr("1 done, 1 stopped"));
}

TEST(BatchReport, ColumnsStandBelowEachOtherBehindNamesOfAnyLetters) {
  Outcome cyrillic = outcome("done", 0, 5);
  cyrillic.job.input = "\xd0\xb4\xd1\x8b\xd1\x80\xd0\xb0.mp4";  // four letters, and .mp4
  Outcome plain = outcome("done", 0, 5);
  plain.job.input = "hole.mp4";
  const std::string table = batch_table({cyrillic, plain});
  EXPECT_THAT(table, HasSubstr("\nhole.mp4  done "));
  EXPECT_THAT(table, HasSubstr("\n" + cyrillic.job.input + "  done "));
}

TEST(BatchReport, ALongNameMovesNoOtherRow) {
  Outcome plain = outcome("done", 0, 5);
  plain.job.input = "hole.mp4";
  Outcome odd = plain;
  odd.job.input = std::string(200, 'l') + ".mp4";
  const std::string table = batch_table({odd, plain});
  EXPECT_THAT(table, HasSubstr("\nhole.mp4" + std::string(56 - 8, ' ') + "  done "));
  EXPECT_THAT(table, HasSubstr("\n" + odd.job.input + "  done "));
}

TEST(BatchReport, OfMoreThanAHundredFilesTheTableHasThoseWithAFault) {
  std::vector<Outcome> outcomes(100, outcome("done", 0, 5));
  outcomes.push_back(outcome("failed", 65));
  outcomes.back().job.input = "broken.mp4";
  const std::string table = batch_table(outcomes);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3) << table;
  EXPECT_THAT(table, HasSubstr("broken.mp4  failed"));
  EXPECT_THAT(table, HasSubstr("\n100 done, 1 failed\n"));
  outcomes.back() = outcome("skipped", 0);
  EXPECT_EQ(batch_table(outcomes), "100 done, 1 skipped\n");
  outcomes.pop_back();
  const std::string all = batch_table(outcomes);
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 102);
}

TEST(BatchReport, IsUtf8WhateverFilesAreCalled) {
  Outcome odd = outcome("failed", 65);
  odd.job.input = "caf\xe9.mp4";
  EXPECT_THAT(batch_report({odd}, {}, 1), HasSubstr("caf\xef\xbf\xbd.mp4"));
}

TEST(BatchProgress, WeighsFilesByTheirSize) {
  CommonOptions quiet;
  quiet.quiet = true;
  BatchProgress progress({0, 1, 2}, {10, 30, 60}, quiet);
  progress.start(0, "a.mp4");
  progress.start(2, "c.mp4");
  progress.news({{"say", "progress"}, {"job", 2}, {"fraction", 0.5}, {"fps", 40.0}});
  progress.news({{"say", "phase"}, {"job", 0}, {"text", "checking"}});
  EXPECT_EQ(progress.text(30),
            "0 of 3 files, 30 %, 40.0 fps, 1:10 left; a.mp4 checking, c.mp4 50 %");
  progress.end(0);
  progress.start(2, "c.mp4");  // Its worker died: once more.
  EXPECT_EQ(progress.text(30), "1 of 3 files, 10 %, 0.0 fps, 4:30 left; c.mp4 0 %");
}

TEST(ShardName, IsTheShardsOwn) {
  EXPECT_EQ(shard_name("report", ".json", {0, 1}), "report.json");
  EXPECT_EQ(shard_name("report", ".json", {3, 16}), "report-3-of-16.json");
}

/// The gray level of the frame that is shown, which is its number.
int shown_frame(std::uint64_t frames, bool expected, std::uint64_t first = 0) {
  const test::TempFolder folder;
  auto source = std::make_unique<test::FakeSource>(frames);
  source->expected = expected;
  StillTap tap(0, first);
  const std::unique_ptr<Source> tapped = tap.wrap(std::move(source));
  test::FakeSink sink;
  RunOptions options;
  options.on_result = [&](const Frame& frame) {
    if (frame.index >= first) tap.add_result(frame);
  };
  const StopToken stop;
  EXPECT_EQ(run(*tapped, *make_cpu_processor({}, 1), sink, options, stop).frames_out, frames);
  tap.write(folder / "still.ppm", nullptr);
  return read_pnm(folder / "still.ppm").view().row(0, 0)[0];
}

TEST(StillTap, TakesTheMiddle) {
  EXPECT_EQ(shown_frame(41, true), 20);
}

TEST(StillTap, BehindTheMiddleItTakesTheFirstResult) {
  EXPECT_EQ(shown_frame(41, true, 7), 20);
  EXPECT_EQ(shown_frame(41, true, 33), 33);
  EXPECT_EQ(shown_frame(41, false, 33), 33);
}

TEST(StillTap, AStreamShorterThanItsHeaderSaysHasAStillToo) {
  EXPECT_EQ(shown_frame(7, false), 4);
  EXPECT_EQ(shown_frame(1, false), 0);
}

}  // namespace
}  // namespace equalux::cli
