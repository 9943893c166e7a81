#pragma once

#include "src/quality/over_time/stillness.h"

/// What noise does from frame to frame.
namespace equalux::quality {

/// Of the original's steady cells, those whose mean luma has not moved against any of the
/// kCellFrames frames before, by over 3 standard errors + 0.5 levels: what creeps through the noise
/// shows there, and is not taken for noise. `before` ends with the frame before `now`.
[[nodiscard]] BlockMask calm_cells(const CellHistory& before, const BlockValues& now,
                                   const SteadyCells& steady);

/// Sum over some cells, for means over frames.
struct CellSum {
  double sum = 0;
  double cells = 0;
};

/// Variance of the noise that differs between two frames of a clip, levels^2 of luma, summed over
/// cells of 8x8 pixels: half the variance, within the cell, of the difference of the frames. Noise
/// of standard deviation s that is new in every frame gives s^2, noise that stands still gives 0.
/// The cell's mean is taken off: changes of light are no noise, and the means of blocks have a
/// figure of their own.
[[nodiscard]] CellSum temporal_noise(const Planes& last, const Planes& now, const BlockGrid& grid,
                                     const BlockMask& cells);

}  // namespace equalux::quality
