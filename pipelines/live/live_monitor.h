#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <equalux/image.h>
#include <nlohmann/json_fwd.hpp>

#include "pipelines/core/run.h"
#include "pipelines/live/recorder.h"

/// The state of a run for outside observers: counters, and pictures on request.
namespace equalux {

/// A frame before and after the filters.
struct PicturePair {
  Image before;
  Image after;
  FieldOrder field_order = FieldOrder::progressive;
  Rational pixel_aspect{1, 1};
  std::uint64_t serial = 0;   ///< 1, 2, ...; differs for each pair of a run
  Clock::time_point kept_at;  ///< when it was copied
};

/// Frames of a pair that a picture shows.
enum class PictureView : std::uint8_t { before, after, both };

/// Form of a picture of a pair.
struct PictureForm {
  PictureView view = PictureView::after;
  int width = 960;   ///< largest width in pixels, 16 to 8192; of both views together
  int quality = 85;  ///< of JPEG, 1 to 100
  bool operator==(const PictureForm&) const = default;
};

/// Counts of viewers of a stream of pictures, since the start.
struct ViewerCounts {
  std::uint64_t now = 0;       ///< viewers at present
  std::uint64_t came = 0;      ///< including those that have left
  std::uint64_t refused = 0;   ///< beyond the limit
  std::uint64_t pictures = 0;  ///< started sending
};

/// Collects counters and pictures. Thread-safe; add() and open() are called by the run.
class LiveMonitor {
 public:
  /// `now` is the clock, which tests replace.
  explicit LiveMonitor(std::function<Clock::time_point()> now = Clock::now)
      : now_(std::move(now)) {}

  /// Called by RunOptions::on_open and on_frame. Pictures need RunOptions::keep_original.
  void open(const StreamInfo& info);
  void add(const Frame& frame);

  /// Adds the result of `counts` to the counters. It must outlive this object.
  void watch_recording(std::function<RecordCounts()> counts);

  /// Returns the newest pair, at most 15 new ones per second; null where there is none yet. Frames
  /// are copied only while somebody asks, so the first request, also after a pause, gets null and
  /// never an old picture; the next frame answers the following request.
  [[nodiscard]] std::shared_ptr<const PicturePair> pictures();

  /// Returns true where add() is to copy a frame, now or soon. Any thread may call it.
  [[nodiscard]] bool wants_pictures() const;

  /// Sets a function to be called, in the run's thread, after each pair that was copied, and adds
  /// viewers to the counters; null ends both. It must neither wait nor call this object.
  void watch_pictures(std::function<void()> call);
  /// Requests one copy of the first frame from time `from` on, whatever others request.
  void ask_for_picture(Clock::time_point from);
  /// Returns the newest pair, null where there is none; does not request one.
  [[nodiscard]] std::shared_ptr<const PicturePair> newest() const;
  /// Changes the counts of viewers.
  void count_viewers(const std::function<void(ViewerCounts&)>& change);
  [[nodiscard]] ViewerCounts viewers() const;

  /// {"input","width","height","format","uptime_s","frames","captured","dropped","late",
  /// "reconnects","placeholders","fps","latency_ms","stages":{...},"recording":{"frames","dropped",
  /// "files","failure"},"viewers":{"now","came","refused","pictures"}}: counts since the start,
  /// rates and times over the last second, and the message of a recording that has failed; what was
  /// not measured is absent.
  [[nodiscard]] nlohmann::ordered_json counters() const;
  /// Returns the counters in Prometheus's text format, with names equalux_*.
  [[nodiscard]] std::string metrics() const;

 private:
  static constexpr Clock::rep kNobody = std::numeric_limits<Clock::rep>::max();
  struct Counts {
    std::uint64_t frames = 0;
    std::uint64_t dropped = 0;
    std::uint64_t late = 0;
    std::uint64_t reconnects = 0;
    std::uint64_t placeholders = 0;
  };
  struct Window {  ///< sums of the current second, means of the previous one
    Clock::time_point since;
    std::uint64_t frames = 0;
    double latency_ms = 0;
    std::vector<std::pair<std::string, double>> stages;
  };
  void close_window(Clock::time_point now);
  void keep(const Frame& frame, Clock::time_point now);
  [[nodiscard]] bool is_looked_at(Clock::time_point now) const;

  const std::function<Clock::time_point()> now_;
  mutable std::mutex mutex_;  // guards all that is neither atomic nor used by add() only
  StreamInfo info_;
  Clock::time_point started_ = now_();
  Counts counts_;
  Window window_;
  double fps_ = 0;
  double latency_ms_ = 0;
  std::vector<std::pair<std::string, double>> stages_;
  std::function<RecordCounts()> recording_;
  std::shared_ptr<const PicturePair> pictures_;
  Clock::time_point kept_at_;  // used by add() only
  std::uint64_t serial_ = 0;   // used by add() only
  std::function<void()> on_picture_;
  ViewerCounts viewers_;
  std::atomic<Clock::rep> asked_{kNobody};  // when the requested pair is due
  std::atomic<Clock::rep> wanted_{0};       // when somebody last requested pictures, 0 = never
};

}  // namespace equalux
