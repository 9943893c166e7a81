#pragma once

#include <cstdint>
#include <vector>

#include <equalux/clahe.h>

#include "src/equalize/opencv_curve.h"
#include "src/format/pixel_math.h"

/// Tiles of cv::createCLAHE as OpenCV 4.6 computes them on x86-64: single precision, rounded at
/// each step. Written once for host and device. docs/algorithm.md, "OpenCV's bytes".
namespace equalux::opencv {

/// One direction of the grid. All tiles have the same size: beyond its right and lower border the
/// picture is mirrored, without repeating its last pixel, as often as needed.
struct Axis {
  /// Divides `pixels` into tiles. With `pads` pixels are added, one to each tile even where none is
  /// missing.
  Axis(int tiles, int pixels, bool pads);
  Axis() = default;

  int tiles = 1;
  int size = 0;  ///< pixels of a tile
  /// Pixel of the picture for each pixel of all tiles.
  std::vector<std::int32_t> source;
  // For each pixel of the picture: the tiles it lies between, which may be the same, and the weight
  // of the second.
  std::vector<std::uint16_t> first;
  std::vector<std::uint16_t> second;
  std::vector<float> weight;
};

/// Tiles in both directions. OpenCV pads a frame in both directions where one needs it.
struct Grid {
  Grid(const ClaheParams& params, int width, int height);
  Grid() = default;

  Axis x;
  Axis y;
};

/// Rule from a tile's histogram to its table.
struct TileRule {
  std::int32_t bins;   ///< number of levels
  std::int32_t limit;  ///< most pixels of a level; 0 = no limit
  float scale;         ///< levels per pixel
};

[[nodiscard]] TileRule tile_rule(double clip_limit, const Grid& grid, int depth);

/// Redistribution of clipped pixels: `each` to every level, and one more to every `step`-th from 0
/// on, `rest` times.
struct Spread {
  std::uint32_t each;
  std::uint32_t step;
  std::uint32_t rest;
};
EQUALUX_HD Spread spread_of(std::uint32_t clipped, std::uint32_t bins) {
  const std::uint32_t each = clipped / bins;
  const std::uint32_t rest = clipped - each * bins;
  const std::uint32_t step = rest == 0 ? 1 : bins / rest;
  return {each, step, rest};
}
/// Pixels that a level receives.
EQUALUX_HD std::uint32_t spread_to(const Spread& spread, std::uint32_t level) {
  const bool one_more = level % spread.step == 0 && level / spread.step < spread.rest;
  return spread.each + (one_more ? 1 : 0);
}

/// Makes a tile's table; clips `counts`. `levels` has room for rule.bins.
template <typename Sample>
void make_table(const TileRule& rule, std::uint32_t* counts, Sample* levels) {
  const auto bins = static_cast<std::size_t>(rule.bins);
  if (rule.limit > 0) {
    const auto limit = static_cast<std::uint32_t>(rule.limit);
    std::uint32_t clipped = 0;
    for (std::size_t v = 0; v < bins; ++v) {
      const std::uint32_t kept = counts[v] < limit ? counts[v] : limit;
      clipped += counts[v] - kept;
      counts[v] = kept;
    }
    const Spread spread = spread_of(clipped, static_cast<std::uint32_t>(rule.bins));
    for (std::size_t v = 0; v < bins; ++v)
      counts[v] += spread.each;
    for (std::size_t i = 0; i < spread.rest; ++i)
      ++counts[i * spread.step];
  }
  std::uint32_t sum = 0;
  for (std::size_t v = 0; v < bins; ++v) {
    sum += counts[v];
    levels[v] = static_cast<Sample>(round_even(static_cast<float>(sum) * rule.scale));
  }
}

/// Levels of a pixel in the tables of the four tiles around it.
struct Corners {
  float above_left;
  float above_right;
  float below_left;
  float below_right;
};

/// Bilinear mean, rounded; `of_right` and `of_below` are weights.
EQUALUX_HD std::int32_t mixed(const Corners& c, float of_right, float of_below) {
  const float of_left = 1.0F - of_right;
  const float above = c.above_left * of_left + c.above_right * of_right;
  const float below = c.below_left * of_left + c.below_right * of_right;
  return round_even(above * (1.0F - of_below) + below * of_below);
}

}  // namespace equalux::opencv
