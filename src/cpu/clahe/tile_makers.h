#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/clahe.h>

#include "src/clahe/tile_grid.h"
#include "src/cpu/equalize/curve_maker.h"
#include "src/cpu/equalize/fused/fused_rows.h"
#include "src/equalize/tone_control.h"

/// From the counts of tiles to their curves on the CPU.
namespace equalux {

/// Lines of a row of tiles, which one thread counts.
struct TileBand {
  int tile_row;
  int first_line;
  int end_line;
  std::vector<ValueHistogram> counts;  ///< by tile column
};

/// Bands of all rows of tiles, enough of them for so many threads.
[[nodiscard]] std::vector<TileBand> split_tile_rows(const TileAxis& rows, int columns, int threads);

/// What a tile's bands counted.
[[nodiscard]] ValueHistogram tile_counts(const std::vector<TileBand>& bands, int columns, int tile);

/// The mean of tiles' curves, of levels from 0 to `max_value`.
[[nodiscard]] CurveTable mean_curve(const std::vector<CurveTable>& curves, int max_value);

/// Makes the curves of one stream's tiles. Different tiles in any number of threads at a time.
class TileMakers {
 public:
  /// Prepares for so many tiles of levels from 0 to `max_value`; forgets the frames seen so far.
  void configure(int tiles, int max_value);

  /// The curve of the next frame's tile, which has these counts.
  [[nodiscard]] CurveTable make(int tile, const ValueHistogram& counts, const tone::Frame& frame);

  // As of a Filter.
  [[nodiscard]] std::string save(const ClaheParams& params, const tone::Control& control) const;
  void load(std::string_view state, const ClaheParams& params, tone::Control& control);

 private:
  int max_value_ = 255;
  std::vector<CurveMaker> makers_;  // by tile, row after row
};

}  // namespace equalux
