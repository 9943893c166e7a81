#pragma once

#include <optional>

#include "src/quality/over_time/stillness.h"

/// Ghosts: parts of earlier frames that still show in a result.
namespace equalux::quality {

/// Returns the cells of the original that differ from any of the kCellFrames frames before by more
/// than 4 standard errors + 2 levels of mean luma. Motion uncovers and covers such cells, and
/// ghosts appear in both.
[[nodiscard]] BlockMask fresh_cells(const CellHistory& before, const BlockValues& now,
                                    const SteadyCells& onward);

/// Sums of squared errors of a result, levels^2 of luma, in fresh steady cells and in other steady
/// cells.
struct GhostSums {
  double fresh = 0;
  double fresh_cells = 0;
  double other = 0;
  double other_cells = 0;

  void add(const GhostSums& more);
  /// Returns the root of the excess of the fresh cells' mean square error over that of the others;
  /// 0 for no excess, nothing where one kind has no cells.
  [[nodiscard]] std::optional<double> levels() const;
};

/// Returns the sums of a frame, over the cells that stay steady up to the next frame. A cell's
/// error is the mean of result - original over its 8x8 pixels: ghosts are larger than the grain of
/// noise. Its square is reduced by what noise alone contributes, the variance of the error within
/// the cell over 64, so that neither the original's noise nor the result's counts as a ghost.
[[nodiscard]] GhostSums ghost_sums(const Planes& original, const Planes& result,
                                   const SteadyCells& onward, const BlockMask& fresh);

}  // namespace equalux::quality
