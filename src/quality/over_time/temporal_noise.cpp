#include "src/quality/over_time/temporal_noise.h"

namespace equalux::quality {
namespace {

constexpr double kCalmErrors = 3;
constexpr double kCalmLevels = 0.5;

}  // namespace

BlockMask calm_cells(const CellHistory& before, const BlockValues& now, const SteadyCells& steady) {
  const BlockMask moved = before.changed(now, steady.spread, kCalmErrors, kCalmLevels);
  BlockMask calm = steady.steady;
  for (std::size_t cell = 0; cell < calm.size(); ++cell) {
    if (moved[cell] != 0) calm[cell] = 0;
  }
  return calm;
}

CellSum temporal_noise(const Planes& last, const Planes& now, const BlockGrid& grid,
                       const BlockMask& cells) {
  CellSum result;
  for (std::size_t cell = 0; cell < grid.count(); ++cell) {
    if (cells[cell] == 0) continue;
    const BlockDifference difference = block_difference(last, now, grid, cell);
    result.sum += difference.variance(kCell * kCell) / 2;
    ++result.cells;
  }
  return result;
}

}  // namespace equalux::quality
