#pragma once

#include <cstdint>
#include <vector>

#include "src/format/layout.h"

/// Division of a frame into tiles, and interpolation between them.
///
/// All counts are in cells of src/format/layout.h, so that no border of a tile lies within the luma
/// of a chroma sample. A row of 4:2:0 cells is two rows of luma, of one field where the frame is
/// interlaced.
namespace equalux {

/// One direction of the grid. Tile i has the cells edge[i] to edge[i + 1] - 1. A cell lies between
/// the centres of tile `first` and the next one, which has `weight` of tiles::kFullWeight; beyond
/// the outermost centres there is only `first`, and the weight is 0.
struct TileAxis {
  TileAxis() = default;
  TileAxis(int tile_count, int cells);

  /// Returns the tile after `first`, or the last one.
  [[nodiscard]] int second(int cell) const;

  int tiles = 0;
  std::vector<int> edge;
  std::vector<std::uint8_t> first;   ///< for each cell
  std::vector<std::uint8_t> weight;  ///< for each cell
};

/// Run of columns that are mixed from the same two columns of tiles; `begin` and `end` count cells.
struct TileSpan {
  int begin;
  int end;
  int left;
  int right;
};

/// Spans of a row from the left, and the weight of the right tile in each column, 0 to
/// tiles::kFullWeight: right of the last centre the last span goes on with full weight.
struct TileSpans {
  explicit TileSpans(const TileAxis& columns);

  std::vector<TileSpan> spans;
  std::vector<std::uint16_t> weight;
};

}  // namespace equalux
