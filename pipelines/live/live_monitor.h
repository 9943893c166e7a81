#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <equalux/image.h>
#include <nlohmann/json_fwd.hpp>

#include "pipelines/core/run.h"
#include "pipelines/live/recorder.h"

/// What a run is doing, for those who look on from outside: counters, and now and then a picture.
namespace equalux {

/// A frame before and after the filters.
struct PicturePair {
  Image before;
  Image after;
  FieldOrder field_order = FieldOrder::progressive;
};

/// Thread-safe; add() and open() belong to the run.
class LiveMonitor {
 public:
  /// `now` tells the time, for tests that make their own.
  explicit LiveMonitor(std::function<Clock::time_point()> now = Clock::now)
      : now_(std::move(now)) {}

  /// Called by RunOptions::on_open and on_frame. Pictures need RunOptions::keep_original.
  void open(const StreamInfo& info);
  void add(const Frame& frame);

  /// Has what `counts` gives among the counters. It must outlive this.
  void watch_recording(std::function<RecordCounts()> counts);

  /// The newest pair, at most 15 new ones a second; null where there is none yet. Frames are copied
  /// only while somebody asks, so whoever asks first, or first for a while, gets null, never an old
  /// picture, and finds one with the next frame.
  [[nodiscard]] std::shared_ptr<const PicturePair> pictures();

  /// {"input","width","height","format","uptime_s","frames","captured","dropped","late",
  /// "reconnects","placeholders","fps","latency_ms","stages":{...},"recording":{"frames","dropped",
  /// "files","failure"}}: counts since the start, rates and times over the last second, and the
  /// message of a recording that has failed; what was not measured is absent.
  [[nodiscard]] nlohmann::ordered_json counters() const;
  /// The counters in Prometheus's text format, names equalux_*.
  [[nodiscard]] std::string metrics() const;

 private:
  struct Counts {
    std::uint64_t frames = 0;
    std::uint64_t dropped = 0;
    std::uint64_t late = 0;
    std::uint64_t reconnects = 0;
    std::uint64_t placeholders = 0;
  };
  struct Window {  ///< sums of the second that runs, means of the one before
    Clock::time_point since;
    std::uint64_t frames = 0;
    double latency_ms = 0;
    std::vector<std::pair<std::string, double>> stages;
  };
  void close_window(Clock::time_point now);
  void keep(const Frame& frame, Clock::time_point now);

  const std::function<Clock::time_point()> now_;
  mutable std::mutex mutex_;  // guards everything but kept_at_, which is add()'s own, and wanted_
  StreamInfo info_;
  Clock::time_point started_ = now_();
  Counts counts_;
  Window window_;
  double fps_ = 0;
  double latency_ms_ = 0;
  std::vector<std::pair<std::string, double>> stages_;
  std::function<RecordCounts()> recording_;
  std::shared_ptr<const PicturePair> pictures_;
  Clock::time_point kept_at_;
  std::atomic<Clock::rep> wanted_{0};  // when somebody last asked for pictures, 0 = never
};

}  // namespace equalux
