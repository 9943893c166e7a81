#pragma once

#include <vector>

#include <equalux/clahe.h>

#include "src/cpu/equalize/curve_maker.h"
#include "tests/equalize/wide.h"

/// What the definitions of clahe have in common at every depth: section 11 of docs/algorithm.md,
/// written slowly.
namespace equalux::test {

/// The two tiles that a cell lies between, and the exact part of the second, past / way.
struct Between {
  int first;
  int second;
  int past;
  int way;
};

inline Between between(int tiles, int cells, int cell) {
  const auto edge = [&](int i) { return static_cast<int>(Wide{i} * cells / tiles); };
  const auto middle = [&](int i) { return edge(i) + edge(i + 1) - 1; };  // doubled
  if (2 * cell <= middle(0)) return {0, 0, 0, 1};
  for (int i = 0; i + 1 < tiles; ++i) {
    if (2 * cell < middle(i + 1))
      return {i, i + 1, 2 * cell - middle(i), middle(i + 1) - middle(i)};
  }
  return {tiles - 1, tiles - 1, 0, 1};
}

inline int tile_of(int tiles, int cells, int cell) {
  int tile = 0;
  while (Wide{tile + 1} * cells / tiles <= cell)
    ++tile;
  return tile;
}

/// W of the levels up to `last` of a tile whose curve nothing bounds, from sections 1 and 11.
inline CurveTable plain_tile_curve(const ValueHistogram& counts, Scaler scaler, int last) {
  CurveTable curve{};
  Wide total = 0;
  Wide first = 0;
  for (const std::uint32_t n : counts) {
    total += n;
    if (first == 0) first = n;
  }
  const Wide taken_off = scaler == Scaler::max_abs   ? 0
                         : scaler == Scaler::min_max ? Wide{counts[0]}
                                                     : first;
  const Wide span = total - taken_off;
  Wide cdf = 0;
  for (int v = 0; v <= last; ++v) {
    cdf += counts[static_cast<std::size_t>(v)];
    const Wide above = cdf > taken_off ? cdf - taken_off : 0;
    curve[static_cast<std::size_t>(v)] = static_cast<std::uint32_t>(
        span == 0 ? Wide{v} << 22 : floor_div(2 * above * last * (1 << 22) + span, 2 * span));
  }
  return curve;
}

/// W of every tile of one frame by its counts of levels up to `last`.
inline std::vector<CurveTable> tile_curves(const EqualizeParams& params,
                                           const std::vector<ValueHistogram>& counts, int last) {
  std::vector<CurveTable> curves;
  if (!tone::shapes_curve(params)) {
    for (const ValueHistogram& tile : counts)
      curves.push_back(plain_tile_curve(tile, params.scaler, last));
    return curves;
  }
  tone::Control control(params);
  const tone::Frame how = control.next({});
  CurveMaker maker;
  maker.configure(last);
  maker.set_bins(256);
  for (const ValueHistogram& tile : counts)
    curves.push_back(maker.make(tile, how));
  return curves;
}

}  // namespace equalux::test
