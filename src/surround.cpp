#include "surround.h"

#include <algorithm>

namespace equalux::surround {

std::uint32_t Clock::next(std::int64_t pts_ns) {
  constexpr std::int64_t kUnitNs = 1'000'000'000 / kSecond;
  if (last_pts_ns_ && pts_ns > *last_pts_ns_) {
    const std::int64_t step = (pts_ns - *last_pts_ns_ + kUnitNs / 2) / kUnitNs;
    step_ = static_cast<std::uint32_t>(std::min<std::int64_t>(step, kSecond));
  }
  last_pts_ns_ = pts_ns;
  return step_;
}

}  // namespace equalux::surround
