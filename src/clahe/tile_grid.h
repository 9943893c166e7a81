#pragma once

#include <cstdint>
#include <vector>

#include "src/format/layout.h"

/// How a frame is divided into tiles, and which of them a pixel is mixed from.
///
/// All is counted in the cells of src/format/layout.h. So chroma never meets a border within what
/// it covers. A row of cells of 4:2:0 is two rows of luma, of one field where the frame is
/// interlaced.
namespace equalux {

/// One direction of the grid. Tile i has the cells edge[i] to edge[i + 1] - 1. A cell lies between
/// the middles of two tiles, `first` and the one after it, of which the second has `weight` of
/// tiles::kFullWeight; beyond the outermost middles there is only `first`, and the weight is 0.
struct TileAxis {
  TileAxis() = default;
  TileAxis(int tile_count, int cells);

  /// The tile after `first`, or the last one.
  [[nodiscard]] int second(int cell) const;

  int tiles = 0;
  std::vector<int> edge;
  std::vector<std::uint8_t> first;   ///< by cell
  std::vector<std::uint8_t> weight;  ///< by cell
};

/// Neighbouring columns of cells that are mixed from the same two tile columns; `begin` and `end`
/// count cells.
struct TileSpan {
  int begin;
  int end;
  int left;
  int right;
};

/// The spans of a row, from the left; and the weights that the right tile has in each column, 0 to
/// tiles::kFullWeight: right of the last middle the last span goes on, with all the weight.
struct TileSpans {
  explicit TileSpans(const TileAxis& columns);

  std::vector<TileSpan> spans;
  std::vector<std::uint16_t> weight;
};

}  // namespace equalux
