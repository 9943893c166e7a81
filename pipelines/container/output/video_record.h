#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "pipelines/container/av_handles.h"

namespace equalux {

/// What the final pass must know of the video to give it back its own times.
struct VideoRecord {
  std::uint64_t packets = 0;
  std::int64_t first_pts = 0;
  std::int64_t last_pts = std::numeric_limits<std::int64_t>::min();  ///< the latest of all
  std::int64_t latest_duration = 0;  ///< of the packet with that pts
  std::int64_t last_duration = 0;    ///< of the packet that came last
  struct Times {
    std::int64_t pts, dts, duration;
  };
  std::vector<Times> times;  ///< as they were written, where there is a final pass

  void add(const AVPacket& packet) {
    if (packets++ == 0) first_pts = packet.pts;
    first_pts = std::min(first_pts, packet.pts);
    last_duration = packet.duration;
    if (packet.pts > last_pts) {
      last_pts = packet.pts;
      latest_duration = packet.duration;
    }
  }
  [[nodiscard]] std::int64_t end() const { return last_pts + latest_duration; }
};

}  // namespace equalux
