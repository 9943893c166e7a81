#pragma once

#include <cstdint>
#include <optional>

#include "src/format/pixel_math.h"

/// Black around a picture: bars, and the surround of round and octagonal pictures. Integers,
/// written once for host and device; backends own the loops. docs/algorithm.md, "What counts".
///
/// The frame is divided into square blocks, at most kMostSide in each direction. From each end of
/// each row and column of the grid a run of dark blocks goes inwards; a block in any run is
/// reached. Reached blocks of the right shape are a surround. A block becomes a member of the
/// stream's surround once it was reached in such a shape for a second, or at a cut.
namespace equalux::surround {

inline constexpr int kMostSide = 256;
inline constexpr int kLeastBlock = 16;  ///< in pixels

struct Grid {
  int width = 0;  ///< of the frame, in pixels
  int height = 0;
  int side = kLeastBlock;  ///< of a block, in pixels; blocks at the right and bottom edge are cut
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

/// Rows of a block that are sampled, two of each field.
inline constexpr int kSampledRows = 4;
EQUALUX_HD int sampled_row(int block_row, int side, int i) {
  return block_row * side + i * (side / kSampledRows) + (i & 1);
}

/// Largest value that counts as dark, 20 of 255.
EQUALUX_HD int dark_level(int max_value) {
  return (20 * max_value + 127) / 255;
}
/// Least rise from the surround to the picture's edge, 12 of 255.
EQUALUX_HD int edge_rise(int max_value) {
  return (12 * max_value + 127) / 255;
}

/// Sums of a block's sampled pixels.
struct BlockSums {
  std::uint32_t pixels = 0;
  std::uint32_t bright = 0;  ///< pixels above dark_level()
  std::uint32_t values = 0;  ///< sum of all values, as levels of 8 bits
};

/// Code of a block: its mean value, at most kMostMean, and a flag above it for dark blocks. One
/// pixel in 64 may be bright, as noise is at times.
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

/// Returns true where a picture begins with an edge behind the last block of a run: the block at
/// the end or the one behind it is brighter by `rise`.
EQUALUX_HD bool is_sharp(std::uint8_t last, std::uint8_t end, std::uint8_t behind, int rise) {
  const int most = mean_of(end) > mean_of(behind) ? mean_of(end) : mean_of(behind);
  return most >= mean_of(last) + rise;
}

/// Statistics of the reached blocks of a frame.
struct Shape {
  std::uint32_t reached;
  std::uint32_t changed;  ///< reached in just one of this frame and the last
  std::uint32_t members;  ///< members of the surround before this frame
  std::uint32_t kept;     ///< members that are reached
  std::uint32_t corners;  ///< bit set of the grid's corners that are reached
  std::uint32_t ends;     ///< ends of runs at the picture
  std::uint32_t sharp_ends;
  std::uint32_t row_excess;  ///< excess_of() reached blocks per row
  std::uint32_t column_excess;
};

/// Side of a corner in blocks: a line of text may cover its tip.
inline constexpr int kCornerSide = 4;
inline constexpr int kCornerBlocks = 4 * kCornerSide * kCornerSide;
struct CornerBlock {
  int column, row;
  std::uint32_t corner;  ///< bit of the corner
};
/// Block i of all corners, of kCornerBlocks; small grids give some twice.
EQUALUX_HD CornerBlock corner_block(const Grid& grid, int i) {
  const int corner = i / (kCornerSide * kCornerSide);
  const int x = i % kCornerSide;
  const int y = i / kCornerSide % kCornerSide;
  const int across = x < grid.columns ? x : grid.columns - 1;
  const int down = y < grid.rows ? y : grid.rows - 1;
  return {corner % 2 == 0 ? across : grid.columns - 1 - across,
          corner / 2 == 0 ? down : grid.rows - 1 - down, 1U << corner};
}

/// Total rise and fall of a sequence beyond one fall and one rise, which blocks around a convex
/// picture have. `ways` is the sum of absolute steps between neighbours.
EQUALUX_HD std::uint32_t excess_of(std::uint32_t ways, std::uint32_t first, std::uint32_t last,
                                   std::uint32_t least) {
  return ways - (first + last - 2 * least);
}

/// Returns true where reached blocks are the surround of a picture. Dark parts of a scene end
/// softly or are ragged; a line of text in the black makes rows ragged, but hardly columns.
EQUALUX_HD bool is_surround(const Grid& grid, const Shape& shape) {
  const auto blocks = static_cast<std::uint32_t>(grid.blocks());
  const auto sides = static_cast<std::uint32_t>(grid.columns + grid.rows);
  const std::uint32_t excess =
      shape.row_excess < shape.column_excess ? shape.row_excess : shape.column_excess;
  return shape.corners == 15 && 64 * shape.reached >= blocks && 5 * shape.reached <= 4 * blocks &&
         4 * shape.sharp_ends >= 3 * shape.ends && 8 * excess <= sides;
}

/// Returns true where so many reached blocks changed that a surround came or went with this frame.
EQUALUX_HD bool is_cut(const Grid& grid, const Shape& shape) {
  return 16 * shape.changed >= static_cast<std::uint32_t>(grid.blocks());
}

/// One second in the unit of block times, 0.1 ms.
inline constexpr std::uint32_t kSecond = 10000;

/// Result of a frame for the surround.
struct Verdict {
  bool found;    ///< the frame shows a surround
  bool at_once;  ///< the surround changes without delay: first frame, or a cut
  bool gone;     ///< a cut, without a surround, that left less than half of the members
};
EQUALUX_HD Verdict verdict_of(const Grid& grid, const Shape& shape, bool fresh) {
  const bool found = is_surround(grid, shape);
  const bool at_once = fresh || is_cut(grid, shape);
  return {found, at_once, at_once && !found && 2 * shape.kept < shape.members};
}

/// State of a block between frames.
struct Block {
  bool member = false;      ///< part of the surround
  std::uint16_t since = 0;  ///< time for which frames have contradicted `member`
};

/// Block after a frame.
EQUALUX_HD Block next_block(Block block, bool reached, const Verdict& verdict, std::uint32_t step) {
  const bool wanted = reached && (block.member ? !verdict.gone : verdict.found);
  if (wanted == block.member) return {block.member, 0};
  const std::uint32_t since = block.since + step;
  if (verdict.at_once || since >= kSecond) return {wanted, 0};
  return {block.member, static_cast<std::uint16_t>(since)};
}

/// Clock of block times. One thread at a time.
class Clock {
 public:
  Clock() = default;
  /// Resumes from last_pts_ns() and step().
  Clock(std::optional<std::int64_t> last_pts_ns, std::uint32_t step)
      : last_pts_ns_(last_pts_ns), step_(step) {}

  /// Time since the last frame for next_block(), at most kSecond.
  [[nodiscard]] std::uint32_t next(std::int64_t pts_ns);
  void reset() { last_pts_ns_.reset(); }
  [[nodiscard]] std::optional<std::int64_t> last_pts_ns() const { return last_pts_ns_; }
  [[nodiscard]] std::uint32_t step() const { return step_; }

 private:
  std::optional<std::int64_t> last_pts_ns_;
  std::uint32_t step_ = kSecond / 30;  // used where timestamps do not rise
};

}  // namespace equalux::surround
