#pragma once

#include <cstddef>
#include <deque>

#include "src/quality/blocks.h"

/// History of a clip's 8x8 cells.
namespace equalux::quality {

/// Side of the cells that are tested for motion one by one, pixels.
inline constexpr int kCell = 8;

/// Length of the history, frames: a motion of half a pixel per frame amounts to half a cell.
inline constexpr std::size_t kCellFrames = 8;

/// Mean luma of the cells in the last kCellFrames frames.
class CellHistory {
 public:
  /// Adds a frame's means.
  void add(BlockValues means);
  /// Empties the history, at the start of a shot.
  void clear() { seen_.clear(); }
  [[nodiscard]] std::size_t frames() const { return seen_.size(); }
  /// Returns the cells whose mean, corrected for the change of light, differs from that in any
  /// frame of the history by more than `errors` standard errors + `levels`. `spread` is the
  /// standard deviation, within the cell, of the difference of two frames; the standard error of a
  /// mean of 64 pixels is spread / 8.
  [[nodiscard]] BlockMask changed(const BlockValues& now, const BlockValues& spread, double errors,
                                  double levels) const;

 private:
  std::deque<BlockValues> seen_;
};

}  // namespace equalux::quality
