#include "src/quality/over_time/cell_history.h"

#include <cmath>
#include <utility>

#include "src/quality/over_time/stillness.h"

namespace equalux::quality {

void CellHistory::add(BlockValues means) {
  seen_.push_back(std::move(means));
  if (seen_.size() > kCellFrames) seen_.pop_front();
}

BlockMask CellHistory::changed(const BlockValues& now, const BlockValues& spread, double errors,
                               double levels) const {
  BlockMask result(now.size(), 0);
  for (const BlockValues& before : seen_) {
    const double light = median_ratio(before, now);
    for (std::size_t cell = 0; cell < now.size(); ++cell) {
      const double most = errors * spread[cell] / kCell + levels;
      if (std::fabs(now[cell] - light * before[cell]) > most) result[cell] = 1;
    }
  }
  return result;
}

}  // namespace equalux::quality
