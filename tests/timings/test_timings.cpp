#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "pipelines/timings/timing_summary.h"
#include "pipelines/timings/timings.h"
#include "src/common/json_text.h"
#include "tests/support/pipeline_fakes.h"
#include "tests/support/temp_folder.h"

namespace equalux::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void fill_all(Frame& frame) {
  frame.index = 12;
  frame.pts_ns = 400'000'000;
  frame.timings.capture_ms = 1.25;
  frame.timings.queue_ms = 0.0;
  frame.timings.upload_ms = 0.5;
  frame.timings.stages = {{"histogram", 2.0}, {"cdf_scan", 0.125}};
  frame.timings.download_ms = 0.75;
  frame.timings.sink_ms = 3.0;
  frame.timings.latency_ms = 7.0625;
  frame.timings.dropped_before = 2;
}

TEST(Timings, LineHoldsEverythingInOrder) {
  Frame frame;
  fill_all(frame);
  std::string line;
  append_timings_json(line, frame);
  EXPECT_EQ(line,
            R"({"index":12,"pts_ns":400000000,"capture_ms":1.2500,"queue_ms":0.0000,)"
            R"("upload_ms":0.5000,"stages":{"histogram":2.0000,"cdf_scan":0.1250},)"
            R"("download_ms":0.7500,"sink_ms":3.0000,"latency_ms":7.0625,"dropped_before":2})");
  EXPECT_TRUE(nlohmann::json::accept(line));
}

TEST(Timings, WhatWasNotMeasuredIsAbsent) {
  Frame frame;
  std::string line;
  append_timings_json(line, frame);
  EXPECT_EQ(line, R"({"index":0,"pts_ns":0,"dropped_before":0})");
}

TEST(Timings, StagesOfOneNameAreSummed) {
  Frame frame;
  frame.timings.stages = {{"a", 1}, {"b", 2}, {"a", 4}};
  std::string line;
  append_timings_json(line, frame);
  EXPECT_THAT(line, HasSubstr(R"("stages":{"a":5.0000,"b":2.0000})"));
}

TEST(Timings, WriterWritesALineAFrame) {
  const TempFolder folder;
  Frame frame;
  fill_all(frame);
  TimingsWriter writer(folder / "t.jsonl");
  writer.write(frame);
  frame.index = 13;
  writer.write(frame);
  writer.finish();
  std::istringstream lines(read_file(folder / "t.jsonl"));
  std::string line;
  for (const int index : {12, 13}) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_EQ(parse_json(line).at("index"), index);
  }
  EXPECT_FALSE(std::getline(lines, line));
}

TEST(Timings, WriterSaysWhatFails) {
  const auto [code, text] = error_of([] { TimingsWriter("/no/such/folder/t.jsonl"); });
  EXPECT_EQ(code, ExitCode::cannot_create);
  EXPECT_THAT(text, HasSubstr("/no/such/folder/t.jsonl"));
}

TEST(Timings, AFullDiskIsAWriteError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  TimingsWriter writer("/dev/full");
  writer.write(Frame{});
  EXPECT_EQ(error_of([&] { writer.finish(); }).first, ExitCode::write_failed);
}

RunResult some_result() {
  RunResult result;
  result.frames_in = 102;
  result.frames_out = 100;
  result.dropped = 2;
  result.elapsed_s = 2;
  result.media_s = 4;
  return result;
}

TimingSummary hundred_frames() {
  TimingSummary summary;
  Frame frame;
  for (int i = 100; i >= 1; --i) {
    frame.timings.clear();
    frame.timings.capture_ms = i;
    frame.timings.stages = {{"histogram", 2.0 * i}, {"equalize", 1.0}, {"equalize", 1.5}};
    frame.timings.latency_ms = 10;
    summary.add(frame);
  }
  return summary;
}

TEST(TimingSummary, PercentilesAreNearestRank) {
  const std::vector<Percentiles> rows = hundred_frames().percentiles();
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].name, "capture");
  EXPECT_EQ(rows[0].median, 50);
  EXPECT_EQ(rows[0].p95, 95);
  EXPECT_EQ(rows[0].p99, 99);
  EXPECT_EQ(rows[1].name, "histogram");
  EXPECT_EQ(rows[1].p99, 198);
  EXPECT_EQ(rows[2].name, "equalize");
  EXPECT_EQ(rows[2].median, 2.5);
  EXPECT_EQ(rows[3].name, "latency");
}

TEST(TimingSummary, OneFrameIsEveryPercentile) {
  TimingSummary summary;
  Frame frame;
  frame.timings.sink_ms = 3;
  summary.add(frame);
  const Percentiles row = summary.percentiles().at(0);
  EXPECT_EQ(row.median, 3);
  EXPECT_EQ(row.p99, 3);
}

TEST(TimingSummary, TableReadsWell) {
  const std::string table = hundred_frames().table(some_result());
  EXPECT_EQ(table,
            "ms/frame      median       95th       99th\n"
            "capture       50.000     95.000     99.000\n"
            "histogram    100.000    190.000    198.000\n"
            "equalize       2.500      2.500      2.500\n"
            "latency       10.000     10.000     10.000\n"
            "frames: 102 in, 100 out, 2 dropped\n"
            "2.00 s, 50.0 fps, 2.00 times real time\n");
}

TEST(TimingSummary, FramesInFlightAreSaid) {
  RunResult result = some_result();
  result.frames_in = 105;
  result.in_flight = 3;
  EXPECT_THAT(hundred_frames().table(result),
              HasSubstr("frames: 105 in, 100 out, 2 dropped, 3 in flight\n"));
}

TEST(TimingSummary, JsonHasTheFramesKeys) {
  const auto json = hundred_frames().json(some_result());
  EXPECT_EQ(json.at("frames_in"), 102);
  EXPECT_EQ(json.at("fps"), 50.0);
  EXPECT_EQ(json.at("real_time_factor"), 2.0);
  EXPECT_EQ(json.at("capture_ms").at("median"), 50);
  EXPECT_EQ(json.at("stages").at("histogram").at("p95"), 190);
  EXPECT_FALSE(json.contains("upload_ms"));
}

TEST(TimingSummary, NothingMeasuredAndNoTimeIsNoCrash) {
  const TimingSummary summary;
  const std::string table = summary.table(RunResult{});
  EXPECT_THAT(table, HasSubstr("0.0 fps"));
  EXPECT_THAT(table, Not(HasSubstr("real time")));
  EXPECT_EQ(summary.json(RunResult{}).at("fps"), 0.0);
}

TEST(Timings, WhatALiveSourceDidIsSaid) {
  Frame frame;
  frame.timings.reconnects = 2;
  frame.timings.late = true;
  frame.placeholder = true;
  std::string line;
  append_timings_json(line, frame);
  EXPECT_EQ(line, R"({"index":0,"pts_ns":0,"dropped_before":0,"reconnects":2,"late":true,)"
                  R"("placeholder":true})");
  RunResult result = some_result();
  EXPECT_THAT(TimingSummary().table(result), Not(HasSubstr("late")));
  result.live = true;
  result.late = 3;
  result.reconnects = 1;
  result.placeholders = 9;
  EXPECT_THAT(TimingSummary().table(result),
              HasSubstr("2 dropped, 3 late; 1 reconnected, 9 placeholders\n"));
  EXPECT_EQ(TimingSummary().json(result)["late"], 3);
}

TEST(LatencyReport, SplitsTheTimeFromCaptureToOutput) {
  LatencyReport report;
  EXPECT_EQ(report.text({}), "latency: no frame was measured\n");
  Frame frame;
  for (int i = 1; i <= 200; ++i) {
    frame.timings.queue_ms = i;
    frame.timings.sink_ms = 2;
    frame.timings.latency_ms = i + 2.5;
    frame.placeholder = i > 100;  // These do not count.
    report.add(frame);
  }
  EXPECT_EQ(report.text({}),
            "latency, ms            least    median      95th      99th      most\n"
            "wait for filter        1.000    50.000    95.000    99.000   100.000\n"
            "filter                 0.500     0.500     0.500     0.500     0.500\n"
            "output                 2.000     2.000     2.000     2.000     2.000\n"
            "capture to output      3.500    52.500    97.500   101.500   102.500\n"
            "of 100 frames\n");
}

}  // namespace
}  // namespace equalux::test
