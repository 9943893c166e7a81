#include "src/clahe/tile_grid.h"

#include <algorithm>

#include "src/clahe/tile_curves.h"

namespace equalux {

TileAxis::TileAxis(int tile_count, int cells) : tiles(tile_count) {
  for (int i = 0; i <= tiles; ++i)
    edge.push_back(static_cast<int>(std::int64_t{i} * cells / tiles));
  // Twice the centre, a whole number.
  const auto middle = [this](int tile) {
    const auto i = static_cast<std::size_t>(tile);
    return edge[i] + edge[i + 1] - 1;
  };
  int tile = 0;
  for (int cell = 0; cell < cells; ++cell) {
    while (tile + 1 < tiles && middle(tile + 1) <= 2 * cell)
      ++tile;
    const int past = 2 * cell - middle(tile);
    const int way = tile + 1 < tiles ? middle(tile + 1) - middle(tile) : 1;
    const bool between = past > 0 && tile + 1 < tiles;
    first.push_back(static_cast<std::uint8_t>(tile));
    weight.push_back(static_cast<std::uint8_t>(between ? tiles::kFullWeight * past / way : 0));
  }
}

int TileAxis::second(int cell) const {
  return std::min(first[static_cast<std::size_t>(cell)] + 1, tiles - 1);
}

TileSpans::TileSpans(const TileAxis& columns) {
  const int last_left = std::max(columns.tiles - 2, 0);
  const int cells = static_cast<int>(columns.first.size());
  for (int cell = 0; cell < cells; ++cell) {
    const auto at = static_cast<std::size_t>(cell);
    const bool past_last = columns.first[at] > last_left;
    const int left = std::min<int>(columns.first[at], last_left);
    weight.push_back(past_last ? static_cast<std::uint16_t>(tiles::kFullWeight)
                               : columns.weight[at]);
    if (spans.empty() || spans.back().left != left) {
      spans.push_back({cell, cell, left, std::min(left + 1, columns.tiles - 1)});
    }
    spans.back().end = cell + 1;
  }
}

}  // namespace equalux
