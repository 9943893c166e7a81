#pragma once

#include <cstddef>
#include <vector>

#include "src/quality/planes.h"

/// Frames as square blocks: a block's mean averages noise out, and keeps changes of light.
namespace equalux::quality {

/// Side of the blocks in which steps over time and noise are measured, pixels.
inline constexpr int kBlock = 16;

/// Grid of the whole blocks of a frame, in rows; empty for a frame smaller than a block.
struct BlockGrid {
  int size = kBlock;
  int columns = 0;
  int rows = 0;

  BlockGrid() = default;
  BlockGrid(int width, int height, int side = kBlock)
      : size(side), columns(width / side), rows(height / side) {}
  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows);
  }
  [[nodiscard]] int left(std::size_t block) const {
    return static_cast<int>(block % static_cast<std::size_t>(columns)) * size;
  }
  [[nodiscard]] int top(std::size_t block) const {
    return static_cast<int>(block / static_cast<std::size_t>(columns)) * size;
  }
};

/// Value for each block.
using BlockValues = std::vector<double>;
/// Selection of blocks: 1 or 0 for each.
using BlockMask = std::vector<std::uint8_t>;

/// Returns the mean luma of each block.
[[nodiscard]] BlockValues block_means(const Planes& planes, const BlockGrid& grid);

/// Difference of a block's luma between two frames.
struct BlockDifference {
  double mean = 0;    ///< levels
  double square = 0;  ///< mean square, levels^2

  /// Returns the unbiased variance within the block of `pixels` pixels: (mean square - squared
  /// mean) n / (n - 1).
  [[nodiscard]] double variance(int pixels) const;
};
/// Returns the difference of `now` and `light` times `last`.
[[nodiscard]] BlockDifference block_difference(const Planes& last, const Planes& now,
                                               const BlockGrid& grid, std::size_t block,
                                               double light = 1);

/// Returns the root mean square difference over the blocks of a mask; 0 for an empty mask.
[[nodiscard]] double rms_difference(const BlockValues& a, const BlockValues& b,
                                    const BlockMask& mask);

}  // namespace equalux::quality
