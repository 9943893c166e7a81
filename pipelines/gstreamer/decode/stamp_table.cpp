#include "pipelines/gstreamer/decode/stamp_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <gst/gst.h>

namespace equalux::gst {

namespace {

/// Largest difference between a decoder's timestamp and the packet's, since decoders only round.
constexpr std::int64_t kNear = 1'000;  // ns

}  // namespace

void StampTable::take_by_order(int delay) {
  const std::lock_guard lock(mutex_);
  by_order_ = true;
  skip_ = delay;
}

void StampTable::take_by_rate(Rational rate) {
  const std::lock_guard lock(mutex_);
  rate_ = rate;
}

void StampTable::take_first(std::deque<Stamp> stamps) {
  const std::lock_guard lock(mutex_);
  first_ = std::move(stamps);
}

/// Returns times in steps that add up exactly, however long the stream is.
Stamp StampTable::by_rate_locked() {
  const auto at = [this](std::uint64_t frame) {
    return static_cast<std::int64_t>(
        gst_util_uint64_scale_round(frame, GST_SECOND * static_cast<std::uint64_t>(rate_->den),
                                    static_cast<std::uint64_t>(rate_->num)));
  };
  const std::int64_t start = at(taken_++);
  return {start, at(taken_) - start, false};
}

void StampTable::fed(std::optional<std::int64_t> pts_ns, std::optional<std::int64_t> dts_ns,
                     std::int64_t duration_ns, bool hidden) {
  const std::lock_guard lock(mutex_);
  if (rate_) {
    ++fed_;
    return;
  }
  const std::optional<std::int64_t> due = by_order_ ? dts_ns : pts_ns;
  if (due) waiting_.insert({*due, duration_ns, hidden});
}

Stamp StampTable::guess_locked(std::optional<std::int64_t> pts_ns) const {
  Stamp stamp;
  if (last_) stamp.duration_ns = last_->duration_ns;
  if (pts_ns && !by_order_) {
    stamp.pts_ns = *pts_ns;
  } else if (last_) {
    stamp.pts_ns = last_->pts_ns + last_->duration_ns;
  }
  return stamp;
}

Stamp StampTable::take(std::optional<std::int64_t> pts_ns) {
  const std::lock_guard lock(mutex_);
  if (rate_) return by_rate_locked();
  // Decoders that paint over one picture (GIF, Cinepak) give each the first one's time.
  const bool has_time = pts_ns.has_value();
  if (pts_ns && pts_ns == std::exchange(asked_, pts_ns)) pts_ns.reset();
  auto found = waiting_.begin();
  if (!has_time && !first_.empty()) {
    found = waiting_.end();
  } else if (by_order_) {
    for (; skip_ > 0 && found != waiting_.end(); --skip_)
      found = waiting_.erase(found);
  } else if (pts_ns) {
    found = waiting_.lower_bound(Stamp{*pts_ns - kNear, 0, false});
    if (found != waiting_.end() && found->pts_ns > *pts_ns + kNear) found = waiting_.end();
  }
  if (found == waiting_.end()) {
    last_ = first_.empty() ? guess_locked(pts_ns) : first_.front();
    if (!first_.empty()) first_.pop_front();
    return *last_;
  }
  first_.clear();
  // Before the first frame, a stream that was cut out of another has packets that refer to missing
  // pictures.
  if (last_) {
    lost_ += static_cast<std::uint64_t>(
        std::count_if(waiting_.begin(), found, [](const Stamp& passed) { return !passed.hidden; }));
  }
  last_ = *found;
  waiting_.erase(waiting_.begin(), std::next(found));
  return *last_;
}

std::uint64_t StampTable::lost() const {
  const std::lock_guard lock(mutex_);
  if (rate_) return fed_ > taken_ ? fed_ - taken_ : 0;
  return lost_;
}

StampTable::Rest StampTable::rest() const {
  const std::lock_guard lock(mutex_);
  Rest rest;
  const std::int64_t end = last_ ? last_->pts_ns + last_->duration_ns : 0;
  for (const Stamp& waiting : waiting_) {
    if (waiting.hidden) continue;
    ++rest.packets;
    rest.ns = std::max(rest.ns, waiting.pts_ns + waiting.duration_ns - end);
  }
  // Streams that pack two pictures into one packet have an empty packet at their end.
  if (by_order_ && rest.packets == 1) return {};
  return rest;
}

}  // namespace equalux::gst
