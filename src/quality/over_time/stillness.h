#pragma once

#include "src/quality/blocks.h"
#include "src/quality/over_time/cell_history.h"

/// Where the original stands still from one frame to the next, whatever its light does.
namespace equalux::quality {

struct Stillness {
  double light = 1;  ///< of this frame over the last one's: the median ratio of the blocks' means
  double sigma = 0;  ///< of this frame's noise, levels of luma; 0 where it has no flat blocks
  BlockMask still;
  std::size_t count = 0;  ///< of still blocks
  /// Correlation of the blocks' means in the two frames: near 1 for light, noise and slow motion;
  /// 0 for pictures that have nothing in common, and where a frame is flat.
  double likeness = 0;
};

/// A block stands still where, with the light undone, it differs from the last frame by no more
/// than noise does: RMS difference at most 2 sqrt(1 + light^2) sigma + 0.75 levels, sigma as
/// noise_sigma() finds it in `now`; 0.75 is two roundings.
[[nodiscard]] Stillness find_stillness(const Planes& last, const Planes& now,
                                       const BlockGrid& grid);

/// Light of a frame over another's: the median ratio of the means of their blocks, of those that
/// have 4 levels or more in `last`; 1 where none has.
[[nodiscard]] double median_ratio(const BlockValues& last, const BlockValues& now);

/// Cells of 8x8 pixels that show the same in two frames.
struct SteadyCells {
  BlockGrid grid;  ///< of cells
  BlockMask steady;
  /// Standard deviation, within each cell, of the difference between the frames: noise where the
  /// cell is steady.
  BlockValues spread;
};

/// A cell is steady where, with the light undone, it passes the test of find_stillness().
[[nodiscard]] SteadyCells find_steady_cells(const Planes& last, const Planes& now,
                                            const Stillness& stillness);

}  // namespace equalux::quality
