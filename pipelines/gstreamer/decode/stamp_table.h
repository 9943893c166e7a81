#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <set>

#include "pipelines/core/source.h"

/// Gives decoded frames the exact timestamps of the packets they came from.
namespace equalux::gst {

/// The times of one packet or frame, in the container's own timeline.
struct Stamp {
  std::int64_t pts_ns = 0;
  std::int64_t duration_ns = 0;  ///< 0 = unknown
  bool hidden = false;           ///< decoded only for the sake of others (before an edit's start)
};

/// Thread-safe: one thread feeds packets in decoding order, another takes frames in presentation
/// order. A decoder hands a packet's pts through, which finds it here. Where packets have no pts
/// (avi), frames take the packets' decoding times in rising order, as late as the codec reorders:
/// the times that FFmpeg gives them. Where they have no times at all (elementary streams), frames
/// follow each other at a rate.
class StampTable {
 public:
  /// Gives times by order, for a stream without pts. `delay` is how many pictures its codec
  /// reorders.
  void take_by_order(int delay);
  /// Gives times by rate, for a stream without any: frames start at 0 and come at `rate`, which
  /// must be above 0.
  void take_by_rate(Rational rate);

  /// The first frames, whose packets will be fed without a time, take these, in order.
  void take_first(std::deque<Stamp> stamps);

  /// A packet is about to be decoded. Without a pts, its decoding time says when it is due.
  void fed(std::optional<std::int64_t> pts_ns, std::optional<std::int64_t> dts_ns,
           std::int64_t duration_ns, bool hidden);

  /// The stamp of a frame whose decoder says `pts_ns`.
  [[nodiscard]] Stamp take(std::optional<std::int64_t> pts_ns);

  /// Packets that were passed over after the first frame: no frame came out for them. By rate:
  /// all packets that have given no frame yet, to be asked at the end.
  [[nodiscard]] std::uint64_t lost() const;
  /// What is left at the end: packets behind the last frame that gave none, and until when they
  /// would have lasted behind it. By rate, lost() counts them.
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
  std::uint64_t fed_ = 0;         // with rate_, as the next
  std::uint64_t taken_ = 0;
  int skip_ = 0;  // decoding times that are still before the first picture
  std::uint64_t lost_ = 0;
  std::optional<std::int64_t> asked_;  // what the decoder said last
  std::optional<Stamp> last_;
};

}  // namespace equalux::gst
