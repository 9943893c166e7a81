#include "src/quality/over_time/ghosting.h"

#include <algorithm>
#include <cmath>

namespace equalux::quality {
namespace {

constexpr double kFreshErrors = 4;
constexpr double kFreshLevels = 2;

}  // namespace

BlockMask fresh_cells(const CellHistory& before, const BlockValues& now,
                      const SteadyCells& onward) {
  return before.changed(now, onward.spread, kFreshErrors, kFreshLevels);
}

void GhostSums::add(const GhostSums& more) {
  fresh += more.fresh;
  fresh_cells += more.fresh_cells;
  other += more.other;
  other_cells += more.other_cells;
}

std::optional<double> GhostSums::levels() const {
  if (fresh_cells == 0 || other_cells == 0) return std::nullopt;
  return std::sqrt(std::max(0.0, fresh / fresh_cells - other / other_cells));
}

GhostSums ghost_sums(const Planes& original, const Planes& result, const SteadyCells& onward,
                     const BlockMask& fresh) {
  constexpr int kPixels = kCell * kCell;
  GhostSums sums;
  for (std::size_t cell = 0; cell < onward.grid.count(); ++cell) {
    if (onward.steady[cell] == 0) continue;
    const BlockDifference error = block_difference(original, result, onward.grid, cell);
    const double square = error.mean * error.mean - error.variance(kPixels) / kPixels;
    (fresh[cell] != 0 ? sums.fresh : sums.other) += square;
    ++(fresh[cell] != 0 ? sums.fresh_cells : sums.other_cells);
  }
  return sums;
}

}  // namespace equalux::quality
