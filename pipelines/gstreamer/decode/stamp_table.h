#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <set>

#include "pipelines/core/source.h"

/// Assigns decoded frames the exact timestamps of the packets that they came from.
namespace equalux::gst {

/// Times of one packet or frame, on the container's own timeline.
struct Stamp {
  std::int64_t pts_ns = 0;
  std::int64_t duration_ns = 0;  ///< 0 = unknown
  bool hidden = false;  ///< decoded only because others refer to it (before an edit's start)
};

/// Thread-safe: one thread feeds packets in decoding order, another takes frames in presentation
/// order. A decoder passes a packet's pts through, by which it is found here. Where packets have no
/// pts (avi), frames take the packets' decoding times in rising order, delayed by as many as the
/// codec reorders, which gives the times of FFmpeg. Where they have no times at all (elementary
/// streams), frames follow each other at a rate.
class StampTable {
 public:
  /// Assigns times by order, for a stream without pts. `delay` is the number of pictures that its
  /// codec reorders.
  void take_by_order(int delay);
  /// Assigns times by rate, for a stream without any: frames start at 0 and come at `rate`, which
  /// must be above 0.
  void take_by_rate(Rational rate);

  /// Sets the times of the first frames, whose packets will be fed without a time, in order.
  void take_first(std::deque<Stamp> stamps);

  /// Adds a packet that is about to be decoded. Without a pts, its decoding time says when it is
  /// due.
  void fed(std::optional<std::int64_t> pts_ns, std::optional<std::int64_t> dts_ns,
           std::int64_t duration_ns, bool hidden);

  /// Returns the times of a frame for which the decoder reports `pts_ns`.
  [[nodiscard]] Stamp take(std::optional<std::int64_t> pts_ns);

  /// Returns the number of packets skipped after the first frame, for which no frame came out. By
  /// rate: all packets without a frame so far; to be asked at the end.
  [[nodiscard]] std::uint64_t lost() const;
  /// The rest at the end: packets after the last frame that gave none, and how long they would have
  /// lasted. By rate, lost() counts them.
  struct Rest {
    std::uint64_t packets = 0;
    std::int64_t ns = 0;
  };
  [[nodiscard]] Rest rest() const;

 private:
  struct Later {
    bool operator()(const Stamp& a, const Stamp& b) const { return a.pts_ns < b.pts_ns; }
  };
  Stamp by_rate_locked();
  Stamp guess_locked(std::optional<std::int64_t> pts_ns) const;

  mutable std::mutex mutex_;
  std::multiset<Stamp, Later> waiting_;
  std::deque<Stamp> first_;
  bool by_order_ = false;
  std::optional<Rational> rate_;  // of a stream without times
  std::uint64_t fed_ = 0;         // used with rate_
  std::uint64_t taken_ = 0;       // used with rate_
  int skip_ = 0;  // decoding times before the first picture that are still to be skipped
  std::uint64_t lost_ = 0;
  std::optional<std::int64_t> asked_;  // the decoder's last time
  std::optional<Stamp> last_;
};

}  // namespace equalux::gst
