#include "src/clahe/opencv_tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace equalux::opencv {
namespace {

/// Pixel of a mirrored picture at a position beyond its end.
int mirrored(int at, int pixels) {
  if (pixels == 1) return 0;
  const int period = 2 * (pixels - 1);
  const int in_period = at % period;
  return in_period < pixels ? in_period : period - in_period;
}

/// Conversion as on x86-64: numbers that do not fit in 32 bits become the least one.
std::int32_t truncated(double number) {
  if (number < 2147483648.0) return static_cast<std::int32_t>(number);
  return std::numeric_limits<std::int32_t>::min();
}

}  // namespace

Axis::Axis(int tile_count, int pixels, bool pads) : tiles(tile_count) {
  const int all = pads ? pixels + tiles - pixels % tiles : pixels;
  size = all / tiles;
  for (int at = 0; at < all; ++at)
    source.push_back(mirrored(at, pixels));
  const float inverse = 1.0F / static_cast<float>(size);
  for (int at = 0; at < pixels; ++at) {
    const float place = static_cast<float>(at) * inverse - 0.5F;
    const float below = std::floor(place);
    const int tile = static_cast<int>(below);
    first.push_back(static_cast<std::uint16_t>(std::max(tile, 0)));
    second.push_back(static_cast<std::uint16_t>(std::min(tile + 1, tiles - 1)));
    weight.push_back(place - below);
  }
}

Grid::Grid(const ClaheParams& params, int width, int height) {
  const bool pads = width % params.tiles_x != 0 || height % params.tiles_y != 0;
  x = Axis(params.tiles_x, width, pads);
  y = Axis(params.tiles_y, height, pads);
}

TileRule tile_rule(double clip_limit, const Grid& grid, int depth) {
  const std::int32_t bins = 1 << depth;
  const int pixels = grid.x.size * grid.y.size;
  std::int32_t limit = 0;
  if (clip_limit > 0) limit = std::max(truncated(clip_limit * pixels / bins), 1);
  return {bins, limit, static_cast<float>(bins - 1) / static_cast<float>(pixels)};
}

}  // namespace equalux::opencv
