#include "pipelines/live/live_monitor.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "src/common/formatting.h"

namespace equalux {
namespace {

using namespace std::chrono_literals;

constexpr auto kWindow = 1s;
constexpr auto kInterest = 3s;  // time for which a request for pictures counts
constexpr auto kPicturePeriod = 1000ms / 15;

void append_metric(std::string& text, const char* name, const char* type, const char* help,
                   double value) {
  text += fmt::format("# HELP equalux_{0} {1}\n# TYPE equalux_{0} {2}\nequalux_{0} {3:.10g}\n",
                      name, help, type, value);
}

}  // namespace

void LiveMonitor::open(const StreamInfo& info) {
  const std::lock_guard lock(mutex_);
  info_ = info;
  started_ = window_.since = now_();
}

void LiveMonitor::add(const Frame& frame) {
  const Clock::time_point now = now_();
  keep(frame, now);
  const std::lock_guard lock(mutex_);
  const FrameTimings& timings = frame.timings;
  ++counts_.frames;
  counts_.dropped += timings.dropped_before;
  counts_.late += timings.late ? 1 : 0;
  counts_.placeholders += frame.placeholder ? 1 : 0;
  counts_.reconnects = timings.reconnects;
  if (!frame.placeholder) {
    ++window_.frames;
    window_.latency_ms += timings.latency_ms.value_or(0);
    for (const StageTime& stage : timings.stages) {
      const auto same = std::find_if(window_.stages.begin(), window_.stages.end(),
                                     [&](const auto& each) { return each.first == stage.stage; });
      if (same == window_.stages.end()) {
        window_.stages.emplace_back(std::string(stage.stage), stage.ms);
      } else {
        same->second += stage.ms;
      }
    }
  }
  if (now - window_.since >= kWindow) close_window(now);
}

void LiveMonitor::close_window(Clock::time_point now) {
  const double seconds = milliseconds(now - window_.since) / 1000;
  const auto frames = static_cast<double>(window_.frames);
  fps_ = frames / seconds;
  latency_ms_ = window_.frames > 0 ? window_.latency_ms / frames : 0;
  stages_.clear();
  for (const auto& [stage, ms] : window_.stages)
    if (window_.frames > 0) stages_.emplace_back(stage, ms / frames);
  window_ = {now, 0, 0, {}};
}

void LiveMonitor::keep(const Frame& frame, Clock::time_point now) {
  if (frame.unseen || frame.image.data[0] == nullptr) return;
  const bool looked_at = is_looked_at(now);
  const bool asked = asked_ <= now.time_since_epoch().count();
  if (!asked && (!looked_at || now - kept_at_ < kPicturePeriod)) return;
  // Requests from here on are for the next frame.
  if (asked) asked_ = kNobody;
  kept_at_ = now;
  auto pair = std::make_shared<PicturePair>();
  pair->serial = ++serial_;
  pair->kept_at = now;
  pair->field_order = turned(frame.field_order, frame.image.desc.height, info_.orientation);
  const Rational& aspect = info_.pixel_aspect;
  pair->pixel_aspect = swaps_sides(info_.orientation) ? Rational{aspect.den, aspect.num} : aspect;
  pair->after = Image(turned(frame.image.desc, info_.orientation));
  turn_image(frame.image, pair->after.view(), info_.orientation);
  const ConstImageView& before = frame.original ? frame.original->image : frame.image;
  pair->before = Image(turned(before.desc, info_.orientation));
  turn_image(before, pair->before.view(), info_.orientation);
  const std::lock_guard lock(mutex_);
  // The old pair is released outside the lock.
  const std::shared_ptr<const PicturePair> old = std::exchange(pictures_, std::move(pair));
  if (on_picture_) on_picture_();
}

bool LiveMonitor::is_looked_at(Clock::time_point now) const {
  const Clock::rep wanted = wanted_;
  return wanted != 0 && now - Clock::time_point(Clock::duration(wanted)) <= kInterest;
}

bool LiveMonitor::wants_pictures() const {
  return asked_ != kNobody || is_looked_at(now_());
}

void LiveMonitor::watch_pictures(std::function<void()> call) {
  const std::lock_guard lock(mutex_);
  on_picture_ = std::move(call);
}

void LiveMonitor::ask_for_picture(Clock::time_point from) {
  const Clock::rep due = from.time_since_epoch().count();
  Clock::rep asked = asked_;
  while (due < asked && !asked_.compare_exchange_weak(asked, due)) {
  }
}

std::shared_ptr<const PicturePair> LiveMonitor::newest() const {
  const std::lock_guard lock(mutex_);
  return pictures_;
}

void LiveMonitor::count_viewers(const std::function<void(ViewerCounts&)>& change) {
  const std::lock_guard lock(mutex_);
  change(viewers_);
}

ViewerCounts LiveMonitor::viewers() const {
  const std::lock_guard lock(mutex_);
  return viewers_;
}

void LiveMonitor::watch_recording(std::function<RecordCounts()> counts) {
  const std::lock_guard lock(mutex_);
  recording_ = std::move(counts);
}

std::shared_ptr<const PicturePair> LiveMonitor::pictures() {
  const Clock::time_point now = now_();
  const Clock::time_point before(Clock::duration(wanted_.exchange(now.time_since_epoch().count())));
  const std::lock_guard lock(mutex_);
  if (now - before > kInterest) pictures_ = nullptr;  // It is from the last time somebody looked.
  return pictures_;
}

nlohmann::ordered_json LiveMonitor::counters() const {
  const std::lock_guard lock(mutex_);
  nlohmann::ordered_json json{{"input", info_.name},
                              {"width", info_.desc.width},
                              {"height", info_.desc.height},
                              {"format", to_string(info_.desc.format)},
                              {"uptime_s", milliseconds(now_() - started_) / 1000},
                              {"frames", counts_.frames},
                              {"captured", counts_.frames - counts_.placeholders + counts_.dropped},
                              {"dropped", counts_.dropped},
                              {"late", counts_.late},
                              {"reconnects", counts_.reconnects},
                              {"placeholders", counts_.placeholders},
                              {"fps", fps_}};
  if (latency_ms_ > 0) json["latency_ms"] = latency_ms_;
  for (const auto& [stage, ms] : stages_)
    json["stages"][stage] = ms;
  if (recording_) {
    const RecordCounts counts = recording_();
    json["recording"] = {
        {"frames", counts.frames}, {"dropped", counts.dropped}, {"files", counts.files}};
    if (!counts.failure.empty()) json["recording"]["failure"] = counts.failure;
  }
  if (on_picture_) {
    json["viewers"] = {{"now", viewers_.now},
                       {"came", viewers_.came},
                       {"refused", viewers_.refused},
                       {"pictures", viewers_.pictures}};
  }
  return json;
}

std::string LiveMonitor::metrics() const {
  const nlohmann::ordered_json all = counters();
  std::string text;
  const auto counter = [&](const char* name, const char* key, const char* help) {
    append_metric(text, name, "counter", help, all[key].get<double>());
  };
  counter("frames_total", "frames", "Frames through the output, placeholders among them.");
  counter("captured_frames_total", "captured", "Frames that the input gave.");
  counter("dropped_frames_total", "dropped", "Frames that a newer one replaced.");
  counter("late_frames_total", "late", "Frames that took longer than a frame's time.");
  counter("reconnects_total", "reconnects", "Times that the input was opened again.");
  counter("placeholder_frames_total", "placeholders", "Frames shown while the input was away.");
  append_metric(text, "frames_per_second", "gauge", "Over the last second.",
                all["fps"].get<double>());
  append_metric(text, "uptime_seconds", "gauge", "Since the input was opened.",
                all["uptime_s"].get<double>());
  if (all.contains("latency_ms")) {
    append_metric(text, "latency_seconds", "gauge",
                  "Mean from captured to through the output, over the last second.",
                  all["latency_ms"].get<double>() / 1000);
  }
  if (all.contains("recording")) {
    const auto recorded = [&](const char* name, const char* key, const char* help) {
      append_metric(text, name, "counter", help, all["recording"][key].get<double>());
    };
    recorded("recorded_frames_total", "frames", "Frames given to a recording's file.");
    recorded("recording_dropped_frames_total", "dropped", "Frames that no recording has.");
    recorded("recording_files_total", "files", "Files of recordings, begun.");
    append_metric(text, "recording_failed", "gauge",
                  "1 once a recording has failed, up to when the next begins.",
                  all["recording"].contains("failure") ? 1 : 0);
  }
  if (all.contains("viewers")) {
    const nlohmann::ordered_json& viewers = all["viewers"];
    append_metric(text, "viewers", "gauge", "Viewers of /stream.mjpeg.",
                  viewers["now"].get<double>());
    append_metric(text, "viewers_total", "counter", "Viewers that came.",
                  viewers["came"].get<double>());
    append_metric(text, "refused_viewers_total", "counter", "Viewers beyond the limit.",
                  viewers["refused"].get<double>());
    append_metric(text, "viewer_pictures_total", "counter", "Pictures sent to viewers.",
                  viewers["pictures"].get<double>());
  }
  if (!all.contains("stages")) return text;
  text += "# HELP equalux_stage_seconds Mean time of a filter's stage, over the last second.\n";
  text += "# TYPE equalux_stage_seconds gauge\n";
  for (const auto& [stage, ms] : all["stages"].items()) {
    text += fmt::format("equalux_stage_seconds{{stage=\"{}\"}} {:.10g}\n", stage,
                        ms.get<double>() / 1000);
  }
  return text;
}

}  // namespace equalux
