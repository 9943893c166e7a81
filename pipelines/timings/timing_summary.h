#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "pipelines/core/run.h"

/// Times of a whole run.
namespace equalux {

/// Order statistics of one series, in milliseconds, by nearest rank: the smallest value that at
/// least that share of the values does not exceed.
struct Percentiles {
  std::string name;  ///< "capture", "histogram", ...
  double median = 0;
  double p95 = 0;
  double p99 = 0;
};

/// Milliseconds of the newest 2^20 frames, four bytes each.
struct TimeSeries {
  std::string name;
  std::vector<float> ms{};
  std::size_t next = 0;  ///< place of the next value once the series is full

  void put(double value);
};

/// Collects the timings of frames. One thread at a time. Placeholders do not count.
class TimingSummary {
 public:
  void add(const Frame& frame);

  /// Returns capture, queue, upload, the stages in order, download, sink, latency; those that were
  /// measured.
  [[nodiscard]] std::vector<Percentiles> percentiles() const;

  /// Returns a table for the terminal, in lines that end with a newline.
  [[nodiscard]] std::string table(const RunResult& result) const;

  /// {"frames_in","frames_out","dropped","in_flight","elapsed_s","media_s","fps","real_time_factor",
  /// "capture_ms":{"median","p95","p99"},...,"stages":{...},...}: the keys of the frames' lines.
  [[nodiscard]] nlohmann::ordered_json json(const RunResult& result) const;

 private:
  TimeSeries& stage(std::string_view name);

  TimeSeries capture_{"capture"};
  TimeSeries queue_{"queue"};
  TimeSeries upload_{"upload"};
  std::vector<TimeSeries> stages_;
  TimeSeries download_{"download"};
  TimeSeries sink_{"sink"};
  TimeSeries latency_{"latency"};
};

/// Collects how old pictures are when they are shown, for `--latency-report`. One thread at a time.
/// Placeholders do not count.
class LatencyReport {
 public:
  void add(const Frame& frame);

  /// Returns a table of the milliseconds from capture until the sink is done, and of their parts
  /// (least, median, 95th and 99th percentile by nearest rank, most), and a line of counts; each
  /// line ends with a newline.
  [[nodiscard]] std::string text(const RunResult& result) const;

 private:
  TimeSeries waiting_{"wait for filter"};
  TimeSeries filtering_{"filter"};
  TimeSeries output_{"output"};
  TimeSeries whole_{"capture to output"};
};

/// Returns frames per second through the sink; 0 where no time passed.
[[nodiscard]] double throughput_fps(const RunResult& result);
/// Returns seconds of video per second; 0 where no time passed or the video's duration is unknown.
[[nodiscard]] double real_time_factor(const RunResult& result);

}  // namespace equalux
