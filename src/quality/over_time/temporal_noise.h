#pragma once

#include "src/quality/over_time/stillness.h"

/// Noise that changes from frame to frame.
namespace equalux::quality {

/// Returns the steady cells whose mean luma is within 3 standard errors + 0.5 levels of that in
/// each of the kCellFrames frames before; this excludes slow motion below the noise of a single
/// pair of frames. `before` ends with the frame before `now`.
[[nodiscard]] BlockMask calm_cells(const CellHistory& before, const BlockValues& now,
                                   const SteadyCells& steady);

/// Sum over cells, for a mean over frames.
struct CellSum {
  double sum = 0;
  double cells = 0;
};

/// Returns the variance of the noise that differs between two frames of a clip, levels^2 of luma,
/// summed over cells of 8x8 pixels: half the variance, within the cell, of the difference of the
/// frames. Noise of standard deviation s that is new in each frame gives s^2, static noise 0. The
/// difference's mean is removed: a change of light is no noise, and steps of block means have a
/// figure of their own.
[[nodiscard]] CellSum temporal_noise(const Planes& last, const Planes& now, const BlockGrid& grid,
                                     const BlockMask& cells);

}  // namespace equalux::quality
