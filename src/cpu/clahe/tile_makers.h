#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <equalux/clahe.h>

#include "src/clahe/tile_grid.h"
#include "src/cpu/equalize/curve_maker.h"
#include "src/cpu/equalize/fused/fused_rows.h"
#include "src/equalize/tone/tone_control.h"

/// Curves of tiles from their histograms, on the CPU.
namespace equalux {

/// Lines of a row of tiles that one thread counts.
struct TileBand {
  int tile_row;
  int first_line;
  int end_line;
  std::vector<ValueHistogram> counts;  ///< by column of tiles
};

/// Returns bands of all rows of tiles, enough for so many threads.
[[nodiscard]] std::vector<TileBand> split_tile_rows(const TileAxis& rows, int columns, int threads);

/// Returns the histogram of a tile, the sum of its bands.
[[nodiscard]] ValueHistogram tile_counts(const std::vector<TileBand>& bands, int columns, int tile);

/// Returns the mean of tiles' curves, of levels 0 to `max_value`.
[[nodiscard]] CurveTable mean_curve(const std::vector<CurveTable>& curves, int max_value);

/// Makes the curves of one stream's tiles. Threads may make different tiles at the same time.
class TileMakers {
 public:
  /// Prepares for so many tiles with levels 0 to `max_value`; forgets the frames seen so far.
  void configure(int tiles, int max_value);

  /// Returns the curve of a tile of the next frame, from its histogram.
  [[nodiscard]] CurveTable make(int tile, const ValueHistogram& counts, const tone::Frame& frame);

  // Functions of Filter.
  [[nodiscard]] std::string save(const ClaheParams& params, const tone::Control& control) const;
  void load(std::string_view state, const ClaheParams& params, tone::Control& control);

 private:
  int max_value_ = 255;
  std::vector<CurveMaker> makers_;  // by tile, row by row
};

}  // namespace equalux
