#pragma once

#include <cstdint>
#include <optional>

#include "src/format/pixel_math.h"

/// The black around a picture: bars above, below or beside it, and the surround of round and
/// octagonal ones. Integers, written once for host and device; backends own the loops.
/// docs/algorithm.md, "What counts", tells the idea.
///
/// The frame is looked at in square blocks, a grid of at most kMostSide of them a side. From each
/// end of each row and column of the grid a run of dark blocks goes inwards: what any of the four
/// runs covers is reached. What is reached is a surround where its shape is one, and a block
/// belongs to the surround of the stream after it was reached in such a shape for a second, or at a
/// cut.
namespace equalux::surround {

inline constexpr int kMostSide = 256;
inline constexpr int kLeastBlock = 16;  ///< pixels

struct Grid {
  int width = 0;  ///< of the frame
  int height = 0;
  int side = kLeastBlock;  ///< of a block, in pixels; the last ones of a row or column have fewer
  int columns = 0;
  int rows = 0;

  [[nodiscard]] static constexpr Grid of(int width, int height) {
    Grid grid{width, height, kLeastBlock, 0, 0};
    while (grid.side * kMostSide < (width > height ? width : height))
      grid.side *= 2;
    grid.columns = (width + grid.side - 1) / grid.side;
    grid.rows = (height + grid.side - 1) / grid.side;
    return grid;
  }
  [[nodiscard]] EQUALUX_HD int blocks() const { return columns * rows; }
};

/// A block is known by the pixels of four of its rows, two of each field.
inline constexpr int kSampledRows = 4;
EQUALUX_HD int sampled_row(int block_row, int side, int i) {
  return block_row * side + i * (side / kSampledRows) + (i & 1);
}

/// Values up to this one are dark: 20 of 255.
EQUALUX_HD int dark_level(int max_value) {
  return (20 * max_value + 127) / 255;
}
/// Levels by which a picture's edge is brighter than the surround before it: 12 of 255.
EQUALUX_HD int edge_rise(int max_value) {
  return (12 * max_value + 127) / 255;
}

/// What the sampled pixels of a block are summed up to.
struct BlockSums {
  std::uint32_t pixels = 0;
  std::uint32_t bright = 0;  ///< of them above dark_level()
  std::uint32_t values = 0;  ///< sum
};

/// What is kept of them: the mean value, at most kMostMean, and above it whether the block is dark.
/// One pixel in 64 may be bright, as noise is now and then.
inline constexpr std::uint8_t kDark = 0x80;
inline constexpr std::uint8_t kMostMean = 0x7F;
EQUALUX_HD std::uint8_t block_code(const BlockSums& sums) {
  const std::uint32_t mean = sums.values / sums.pixels;
  return static_cast<std::uint8_t>((64 * sums.bright <= sums.pixels ? kDark : 0) |
                                   (mean < kMostMean ? mean : kMostMean));
}
EQUALUX_HD bool is_dark(std::uint8_t code) {
  return (code & kDark) != 0;
}
EQUALUX_HD int mean_of(std::uint8_t code) {
  return code & kMostMean;
}

/// Whether a picture begins sharply behind the last block of a run: the end or the block behind it
/// is that much brighter.
EQUALUX_HD bool is_sharp(std::uint8_t last, std::uint8_t end, std::uint8_t behind, int rise) {
  const int most = mean_of(end) > mean_of(behind) ? mean_of(end) : mean_of(behind);
  return most >= mean_of(last) + rise;
}

/// What is known of the reached blocks of one frame.
struct Shape {
  std::uint32_t reached;
  std::uint32_t changed;  ///< reached in this frame or the last one, not in both
  std::uint32_t members;  ///< of the surround until then,
  std::uint32_t kept;     ///< and how many of them are reached
  std::uint32_t corners;  ///< bits of those of the grid's four in which a block is reached
  std::uint32_t ends;     ///< of runs, where they meet the picture
  std::uint32_t sharp_ends;
  std::uint32_t row_excess;  ///< excess_of() the numbers of reached blocks in the rows
  std::uint32_t column_excess;
};

/// Blocks a side of a corner: a line of text may cover its tip.
inline constexpr int kCornerSide = 4;
inline constexpr int kCornerBlocks = 4 * kCornerSide * kCornerSide;
struct CornerBlock {
  int column, row;
  std::uint32_t corner;  ///< its bit
};
/// Block i of kCornerBlocks of all corners; in small grids some more than once.
EQUALUX_HD CornerBlock corner_block(const Grid& grid, int i) {
  const int corner = i / (kCornerSide * kCornerSide);
  const int x = i % kCornerSide;
  const int y = i / kCornerSide % kCornerSide;
  const int across = x < grid.columns ? x : grid.columns - 1;
  const int down = y < grid.rows ? y : grid.rows - 1;
  return {corner % 2 == 0 ? across : grid.columns - 1 - across,
          corner / 2 == 0 ? down : grid.rows - 1 - down, 1U << corner};
}

/// The sum by which numbers go up and down more than once down and once up, as those of the blocks
/// around a convex picture do: `ways` is the sum of the steps from each number to the next.
EQUALUX_HD std::uint32_t excess_of(std::uint32_t ways, std::uint32_t first, std::uint32_t last,
                                   std::uint32_t least) {
  return ways - (first + last - 2 * least);
}

/// Whether what is reached is the surround of a picture. Dark parts of a scene end in the soft, or
/// have ragged shapes; a line of text in the black makes rows ragged, but hardly columns.
EQUALUX_HD bool is_surround(const Grid& grid, const Shape& shape) {
  const auto blocks = static_cast<std::uint32_t>(grid.blocks());
  const auto sides = static_cast<std::uint32_t>(grid.columns + grid.rows);
  const std::uint32_t excess =
      shape.row_excess < shape.column_excess ? shape.row_excess : shape.column_excess;
  return shape.corners == 15 && 64 * shape.reached >= blocks && 5 * shape.reached <= 4 * blocks &&
         4 * shape.sharp_ends >= 3 * shape.ends && 8 * excess <= sides;
}

/// Whether so much of what is reached changed that a surround came or went from one frame to the
/// next.
EQUALUX_HD bool is_cut(const Grid& grid, const Shape& shape) {
  return 16 * shape.changed >= static_cast<std::uint32_t>(grid.blocks());
}

/// Time as blocks count it, in tenths of a millisecond.
inline constexpr std::uint32_t kSecond = 10000;

/// What a frame says of the surround.
struct Verdict {
  bool found;    ///< it shows one
  bool at_once;  ///< it is the first frame, or comes after a cut
  bool gone;     ///< there is none any more, only dark parts of a scene in the place of some of it
};
EQUALUX_HD Verdict verdict_of(const Grid& grid, const Shape& shape, bool fresh) {
  const bool found = is_surround(grid, shape);
  const bool at_once = fresh || is_cut(grid, shape);
  return {found, at_once, at_once && !found && 2 * shape.kept < shape.members};
}

/// What is kept of a block from frame to frame.
struct Block {
  bool member = false;      ///< of the surround
  std::uint16_t since = 0;  ///< for how long it has been otherwise
};

/// A block after a frame.
EQUALUX_HD Block next_block(Block block, bool reached, const Verdict& verdict, std::uint32_t step) {
  const bool wanted = reached && (block.member ? !verdict.gone : verdict.found);
  if (wanted == block.member) return {block.member, 0};
  const std::uint32_t since = block.since + step;
  if (verdict.at_once || since >= kSecond) return {wanted, 0};
  return {block.member, static_cast<std::uint16_t>(since)};
}

/// Time from frame to frame. One thread at a time.
class Clock {
 public:
  Clock() = default;
  /// One that goes on: what last_pts_ns() and step() gave.
  Clock(std::optional<std::int64_t> last_pts_ns, std::uint32_t step)
      : last_pts_ns_(last_pts_ns), step_(step) {}

  /// What next_block() takes for the frame with that timestamp; at most kSecond.
  [[nodiscard]] std::uint32_t next(std::int64_t pts_ns);
  void reset() { last_pts_ns_.reset(); }
  [[nodiscard]] std::optional<std::int64_t> last_pts_ns() const { return last_pts_ns_; }
  [[nodiscard]] std::uint32_t step() const { return step_; }

 private:
  std::optional<std::int64_t> last_pts_ns_;
  std::uint32_t step_ = kSecond / 30;  // where timestamps don't tell
};

}  // namespace equalux::surround
