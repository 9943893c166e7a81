#pragma once

#include <optional>

#include "src/quality/over_time/stillness.h"

/// What has gone from the original and is still seen in its result.
namespace equalux::quality {

/// Cells of the original that were something else in any of the kCellFrames frames before: mean
/// luma differs by over 4 standard errors + 2 levels. That happens behind something that moves,
/// where the picture is uncovered, and in front of it; stale pictures show in both.
[[nodiscard]] BlockMask fresh_cells(const CellHistory& before, const BlockValues& now,
                                    const SteadyCells& onward);

/// Squares of the error of a result, levels^2 of luma, over two kinds of steady cells.
struct GhostSums {
  double fresh = 0;
  double fresh_cells = 0;
  double other = 0;
  double other_cells = 0;

  void add(const GhostSums& more);
  /// Root of the mean square of the fresh cells' error less that of the others; 0 where it is no
  /// larger, nothing where there are no cells of one kind.
  [[nodiscard]] std::optional<double> levels() const;
};

/// Sums of a frame whose cells are steady up to the frame behind it. The error of a cell is the
/// mean of result less original over its 8x8 pixels: ghosts are larger than noise is wide. Of its
/// square, what noise alone puts there (the variance of the error within the cell, over 64) is
/// taken off, so that neither the original's noise nor the result's is a ghost.
[[nodiscard]] GhostSums ghost_sums(const Planes& original, const Planes& result,
                                   const SteadyCells& onward, const BlockMask& fresh);

}  // namespace equalux::quality
