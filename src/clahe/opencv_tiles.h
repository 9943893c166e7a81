#pragma once

#include <cstdint>
#include <vector>

#include <equalux/clahe.h>

#include "src/equalize/opencv_curve.h"
#include "src/format/pixel_math.h"

/// The tiles of cv::createCLAHE as OpenCV 4.6 computes them on x86-64: single precision, rounded at
/// each step. Written once for host and device. docs/algorithm.md, "OpenCV's bytes".
namespace equalux::opencv {

/// One direction of the grid. All tiles have the same size: the picture is as good as mirrored at
/// its right and lower border, without its last pixel again, as often as that takes.
struct Axis {
  /// `pads`: some pixels are added, a whole pixel to each tile where nothing is missing.
  Axis(int tiles, int pixels, bool pads);
  Axis() = default;

  int tiles = 1;
  int size = 0;  ///< of a tile
  /// By pixel of all tiles: which one of the picture's it is.
  std::vector<std::int32_t> source;
  // By pixel of the picture: the tiles that it lies between, which may be one, and the weight of
  // the second.
  std::vector<std::uint16_t> first;
  std::vector<std::uint16_t> second;
  std::vector<float> weight;
};

/// Both directions. OpenCV pads both of them where it pads one.
struct Grid {
  Grid(const ClaheParams& params, int width, int height);
  Grid() = default;

  Axis x;
  Axis y;
};

/// How a tile's counts become its table.
struct TileRule {
  std::int32_t bins;   ///< levels of the depth
  std::int32_t limit;  ///< most pixels of a level; 0 = none
  float scale;         ///< a pixel in levels
};

[[nodiscard]] TileRule tile_rule(double clip_limit, const Grid& grid, int depth);

/// How the pixels above the limit are spread: `each` to every level, one more to each `step`-th
/// from 0 on, `rest` of them.
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
/// What a level gets of it.
EQUALUX_HD std::uint32_t spread_to(const Spread& spread, std::uint32_t level) {
  const bool one_more = level % spread.step == 0 && level / spread.step < spread.rest;
  return spread.each + (one_more ? 1 : 0);
}

/// Makes a tile's table of its counts, which are clipped. `levels` has room for rule.bins.
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

/// A pixel's level in the tables of the four tiles that it lies between.
struct Corners {
  float above_left;
  float above_right;
  float below_left;
  float below_right;
};

/// Their mean, rounded. `of_right` and `of_below` are weights.
EQUALUX_HD std::int32_t mixed(const Corners& c, float of_right, float of_below) {
  const float of_left = 1.0F - of_right;
  const float above = c.above_left * of_left + c.above_right * of_right;
  const float below = c.below_left * of_left + c.below_right * of_right;
  return round_even(above * (1.0F - of_below) + below * of_below);
}

}  // namespace equalux::opencv
