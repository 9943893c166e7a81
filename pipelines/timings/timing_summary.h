#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "pipelines/core/run.h"

/// What a whole run cost.
namespace equalux {

/// Order statistics of one series, in milliseconds; nearest rank (the smallest value that at least
/// that share of the values does not exceed).
struct Percentiles {
  std::string name;  ///< "capture", "histogram", ...
  double median = 0;
  double p95 = 0;
  double p99 = 0;
};

/// Collects the timings of frames. One thread at a time. Keeps four bytes a frame and series, of
/// the newest 2^20 frames; placeholders do not count.
class TimingSummary {
 public:
  void add(const Frame& frame);

  /// Capture, queue, upload, the stages in their order, download, sink, latency; those measured.
  [[nodiscard]] std::vector<Percentiles> percentiles() const;

  /// A table for the terminal, in lines that end with a newline.
  [[nodiscard]] std::string table(const RunResult& result) const;

  /// {"frames_in","frames_out","dropped","in_flight","elapsed_s","media_s","fps","real_time_factor",
  /// "capture_ms":{"median","p95","p99"},...,"stages":{...},...}: the keys of the frames' lines.
  [[nodiscard]] nlohmann::ordered_json json(const RunResult& result) const;

 private:
  struct Series {
    std::string name;
    std::vector<float> ms;
    std::size_t next = 0;  // where the next value goes once the series is full
  };
  static void put(Series& series, double ms);
  static Percentiles percentiles_of(const Series& series);
  Series& stage(std::string_view name);

  Series capture_{"capture", {}, 0};
  Series queue_{"queue", {}, 0};
  Series upload_{"upload", {}, 0};
  std::vector<Series> stages_;
  Series download_{"download", {}, 0};
  Series sink_{"sink", {}, 0};
  Series latency_{"latency", {}, 0};
};

/// Frames through the sink a second; 0 where no time passed.
[[nodiscard]] double throughput_fps(const RunResult& result);
/// Seconds of video made in a second; 0 where no time passed or the video's is unknown.
[[nodiscard]] double real_time_factor(const RunResult& result);

}  // namespace equalux
