#pragma once

#include <cstddef>
#include <vector>

#include "src/quality/planes.h"

/// Frames as squares of pixels: noise averages out in their means, and light does not.
namespace equalux::quality {

/// Side of the blocks in which steps over time and noise are measured, pixels.
inline constexpr int kBlock = 16;

/// The whole blocks of a frame, row after row; a frame smaller than a block has none.
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

/// A number for each block.
using BlockValues = std::vector<double>;
/// Which blocks count; 1 or 0 for each.
using BlockMask = std::vector<std::uint8_t>;

/// Mean luma of each block.
[[nodiscard]] BlockValues block_means(const Planes& planes, const BlockGrid& grid);

/// How a block's luma differs between two frames.
struct BlockDifference {
  double mean = 0;    ///< levels
  double square = 0;  ///< mean square, levels^2

  /// Variance within the block, whose `pixels` are a sample: mean square less the square of the
  /// mean, times n / (n - 1).
  [[nodiscard]] double variance(int pixels) const;
};
/// Of `now` less `light` times `last`.
[[nodiscard]] BlockDifference block_difference(const Planes& last, const Planes& now,
                                               const BlockGrid& grid, std::size_t block,
                                               double light = 1);

/// Blocks of which every pixel is set in a mask of the frame, row after row.
[[nodiscard]] BlockMask blocks_within(const std::vector<std::uint8_t>& pixels, int width,
                                      const BlockGrid& grid);

/// Root of the mean square of differences over the blocks of a mask; 0 where it has none.
[[nodiscard]] double rms_difference(const BlockValues& a, const BlockValues& b,
                                    const BlockMask& mask);

}  // namespace equalux::quality
