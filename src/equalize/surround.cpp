#include "src/equalize/surround.h"

#include <utility>

namespace equalux::surround {

std::uint32_t Clock::next(std::int64_t pts_ns) {
  constexpr std::int64_t kUnitNs = 1'000'000'000 / kSecond;
  const std::optional<std::int64_t> last = std::exchange(last_pts_ns_, pts_ns);
  if (!last || pts_ns <= *last) return step_;
  const std::int64_t step = (pts_ns - *last + kUnitNs / 2) / kUnitNs;
  // A gap, or a clock that was set: counts once, but is no step for frames whose timestamps do not
  // rise.
  if (step >= kSecond) return kSecond;
  return step_ = static_cast<std::uint32_t>(step);
}

}  // namespace equalux::surround
