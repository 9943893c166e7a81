#include "pipelines/timings/timing_summary.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <nlohmann/json.hpp>

#include "src/common/formatting.h"
#include "src/common/log.h"

namespace equalux {
namespace {

constexpr std::size_t kMostTimings = std::size_t{1} << 20;

/// Returns a percentile; `values` are sorted and not empty.
double nearest_rank(const std::vector<float>& values, double share) {
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  const auto index = static_cast<std::size_t>(std::max(1.0, rank)) - 1;
  return static_cast<double>(values[std::min(index, values.size() - 1)]);
}

std::vector<float> sorted_values(std::vector<float> values) {
  std::sort(values.begin(), values.end());
  return values;
}

Percentiles percentiles_of(const TimeSeries& series) {
  const std::vector<float> values = sorted_values(series.ms);
  return {series.name, nearest_rank(values, 0.5), nearest_rank(values, 0.95),
          nearest_rank(values, 0.99)};
}

nlohmann::ordered_json to_json(const Percentiles& values) {
  return {{"median", values.median}, {"p95", values.p95}, {"p99", values.p99}};
}

}  // namespace

double throughput_fps(const RunResult& result) {
  return result.elapsed_s > 0 ? static_cast<double>(result.frames_out) / result.elapsed_s : 0;
}

double real_time_factor(const RunResult& result) {
  return result.elapsed_s > 0 ? result.media_s / result.elapsed_s : 0;
}

void TimeSeries::put(double value) {
  if (ms.size() < kMostTimings) {
    ms.push_back(static_cast<float>(value));
    return;
  }
  ms[next] = static_cast<float>(value);
  next = (next + 1) % kMostTimings;
}

TimeSeries& TimingSummary::stage(std::string_view name) {
  for (TimeSeries& series : stages_) {
    if (series.name == name) return series;
  }
  return stages_.emplace_back(TimeSeries{std::string(name)});
}

void TimingSummary::add(const Frame& frame) {
  if (frame.placeholder) return;
  const FrameTimings& timings = frame.timings;
  const auto put_measured = [](TimeSeries& series, const std::optional<double>& ms) {
    if (ms) series.put(*ms);
  };
  put_measured(capture_, timings.capture_ms);
  put_measured(queue_, timings.queue_ms);
  put_measured(upload_, timings.upload_ms);
  const std::vector<StageTime>& stages = timings.stages;
  for (auto each = stages.begin(); each != stages.end(); ++each) {
    const auto same = [&](const StageTime& other) { return other.stage == each->stage; };
    if (std::any_of(stages.begin(), each, same)) continue;
    double sum = 0;  // over filters of one kind, as in the frames' lines
    for (const StageTime& other : stages)
      sum += same(other) ? other.ms : 0;
    stage(each->stage).put(sum);
  }
  put_measured(download_, timings.download_ms);
  put_measured(sink_, timings.sink_ms);
  put_measured(latency_, timings.latency_ms);
}

std::vector<Percentiles> TimingSummary::percentiles() const {
  std::vector<Percentiles> all;
  const auto add = [&all](const TimeSeries& series) {
    if (!series.ms.empty()) all.push_back(percentiles_of(series));
  };
  add(capture_);
  add(queue_);
  add(upload_);
  for (const TimeSeries& series : stages_)
    add(series);
  add(download_);
  add(sink_);
  add(latency_);
  return all;
}

std::string TimingSummary::table(const RunResult& result) const {
  const std::vector<Percentiles> rows = percentiles();
  std::size_t width = 8;
  for (const Percentiles& row : rows)
    width = std::max(width, row.name.size());
  std::string text;
  if (!rows.empty()) {
    text +=
        fmt::format("{:<{}} {:>10} {:>10} {:>10}\n", "ms/frame", width, "median", "95th", "99th");
  }
  for (const Percentiles& row : rows) {
    text += fmt::format("{:<{}} {:10.3f} {:10.3f} {:10.3f}\n", row.name, width, row.median, row.p95,
                        row.p99);
  }
  text += fmt::format("frames: {} in, {} out, {} dropped", result.frames_in, result.frames_out,
                      result.dropped);
  if (result.in_flight > 0) text += fmt::format(", {} in flight", result.in_flight);
  if (result.live) {
    text += fmt::format(", {} late; {} reconnected, {} placeholders", result.late,
                        result.reconnects, result.placeholders);
  }
  text += fmt::format("\n{:.2f} s, {:.1f} fps", result.elapsed_s, throughput_fps(result));
  if (result.media_s > 0) {
    text += fmt::format(", {:.2f} times real time", real_time_factor(result));
  }
  return text + "\n";
}

nlohmann::ordered_json TimingSummary::json(const RunResult& result) const {
  nlohmann::ordered_json out;
  out["frames_in"] = result.frames_in;
  out["frames_out"] = result.frames_out;
  out["dropped"] = result.dropped;
  out["in_flight"] = result.in_flight;
  if (result.live) {
    out["late"] = result.late;
    out["reconnects"] = result.reconnects;
    out["placeholders"] = result.placeholders;
  }
  out["elapsed_s"] = result.elapsed_s;
  out["media_s"] = result.media_s;
  out["fps"] = throughput_fps(result);
  out["real_time_factor"] = real_time_factor(result);
  const auto put = [&out](const TimeSeries& series) {
    if (!series.ms.empty()) out[series.name + "_ms"] = to_json(percentiles_of(series));
  };
  put(capture_);
  put(queue_);
  put(upload_);
  for (const TimeSeries& series : stages_)
    out["stages"][series.name] = to_json(percentiles_of(series));
  put(download_);
  put(sink_);
  put(latency_);
  return out;
}

void LatencyReport::add(const Frame& frame) {
  const FrameTimings& timings = frame.timings;
  if (frame.placeholder || !timings.latency_ms || !timings.queue_ms || !timings.sink_ms) return;
  waiting_.put(*timings.queue_ms);
  // Includes the waits for the device and for the output.
  filtering_.put(std::max(0.0, *timings.latency_ms - *timings.queue_ms - *timings.sink_ms));
  output_.put(*timings.sink_ms);
  whole_.put(*timings.latency_ms);
}

std::string LatencyReport::text(const RunResult& result) const {
  if (whole_.ms.empty()) return "latency: no frame was measured\n";
  std::string text = fmt::format("{:<18} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "latency, ms", "least",
                                 "median", "95th", "99th", "most");
  for (const TimeSeries* part : {&waiting_, &filtering_, &output_, &whole_}) {
    const std::vector<float> values = sorted_values(part->ms);
    text += fmt::format("{:<18} {:9.3f} {:9.3f} {:9.3f} {:9.3f} {:9.3f}\n", part->name,
                        values.front(), nearest_rank(values, 0.5), nearest_rank(values, 0.95),
                        nearest_rank(values, 0.99), values.back());
  }
  text += "of " + counted(whole_.ms.size(), "frame");
  if (result.live) text += fmt::format("; {} dropped, {} late", result.dropped, result.late);
  return text + "\n";
}

}  // namespace equalux
