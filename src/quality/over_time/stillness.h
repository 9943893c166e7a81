#pragma once

#include "src/quality/blocks.h"
#include "src/quality/over_time/cell_history.h"

/// Stillness of the original from frame to frame, independent of its light.
namespace equalux::quality {

struct Stillness {
  /// Light of this frame over that of the previous one: median ratio of block means.
  double light = 1;
  double sigma = 0;  ///< noise of this frame, levels of luma; 0 without flat blocks
  BlockMask still;
  std::size_t count = 0;  ///< number of still blocks
  /// Correlation of the block means of both frames: near 1 for changes of light, noise and slow
  /// motion; about 0 for unrelated pictures, 0 where a frame is flat.
  double likeness = 0;
};

/// Finds still blocks: corrected for the change of light, they differ from the previous frame by an
/// RMS of at most 2 sqrt(1 + light^2) sigma + 0.75 levels, with sigma from noise_sigma() of `now`;
/// 0.75 covers the rounding of both frames.
[[nodiscard]] Stillness find_stillness(const Planes& last, const Planes& now,
                                       const BlockGrid& grid);

/// Returns the median ratio of block means, over the blocks with a mean of 4 levels or more in
/// `last`; 1 where there is none.
[[nodiscard]] double median_ratio(const BlockValues& last, const BlockValues& now);

/// Cells of 8x8 pixels, and those that are unchanged between two frames.
struct SteadyCells {
  BlockGrid grid;  ///< grid of the cells
  BlockMask steady;
  /// Standard deviation, within each cell, of the difference of the frames: noise, where the cell
  /// is steady.
  BlockValues spread;
};

/// Finds steady cells, by the threshold of find_stillness().
[[nodiscard]] SteadyCells find_steady_cells(const Planes& last, const Planes& now,
                                            const Stillness& stillness);

}  // namespace equalux::quality
