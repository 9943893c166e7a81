#pragma once

#include <cstddef>
#include <deque>

#include "src/quality/blocks.h"

/// What a clip's cells have shown lately.
namespace equalux::quality {

/// Side of the cells that are told still from moving one by one, pixels.
inline constexpr int kCell = 8;

/// Frames that are remembered: something that moves by half a pixel a frame is found by half a
/// cell.
inline constexpr std::size_t kCellFrames = 8;

/// Mean luma of the cells of the last kCellFrames frames.
class CellHistory {
 public:
  /// Takes a frame's means.
  void add(BlockValues means);
  /// Forgets all: another picture begins.
  void clear() { seen_.clear(); }
  [[nodiscard]] std::size_t frames() const { return seen_.size(); }
  /// Cells whose mean differs from what it was in any frame remembered, with the light undone, by
  /// more than `errors` standard errors (`spread` / 8, spread being the standard deviation of the
  /// difference of two frames within the cell) + `levels`.
  [[nodiscard]] BlockMask changed(const BlockValues& now, const BlockValues& spread, double errors,
                                  double levels) const;

 private:
  std::deque<BlockValues> seen_;
};

}  // namespace equalux::quality
