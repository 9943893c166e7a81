#include "src/cpu/clahe/tile_makers.h"

#include <algorithm>

#include "src/clahe/tile_curves.h"
#include "src/clahe/tile_state.h"
#include "src/equalize/fixed_curve.h"

namespace equalux {
namespace {

/// Bands for each thread, for load balancing.
constexpr int kBandsOfThread = 4;

}  // namespace

std::vector<TileBand> split_tile_rows(const TileAxis& rows, int columns, int threads) {
  const int wanted = std::max(threads * kBandsOfThread / rows.tiles, 1);
  std::vector<TileBand> bands;
  for (int y = 0; y < rows.tiles; ++y) {
    const int first = rows.edge[static_cast<std::size_t>(y)];
    const int lines = rows.edge[static_cast<std::size_t>(y) + 1] - first;
    const int pieces = std::min(wanted, lines);
    for (int i = 0; i < pieces; ++i) {
      bands.push_back({y, first + i * lines / pieces, first + (i + 1) * lines / pieces,
                       std::vector<ValueHistogram>(static_cast<std::size_t>(columns))});
    }
  }
  return bands;
}

ValueHistogram tile_counts(const std::vector<TileBand>& bands, int columns, int tile) {
  ValueHistogram counts{};
  const auto column = static_cast<std::size_t>(tile % columns);
  for (const TileBand& band : bands) {
    if (band.tile_row != tile / columns) continue;
    for (std::size_t v = 0; v < counts.size(); ++v)
      counts[v] += band.counts[column][v];
  }
  return counts;
}

CurveTable mean_curve(const std::vector<CurveTable>& curves, int max_value) {
  CurveTable mean{};
  for (std::size_t v = 0; v <= static_cast<std::size_t>(max_value); ++v) {
    std::uint64_t sum = 0;
    for (const CurveTable& curve : curves)
      sum += curve[v];
    mean[v] = tiles::mean_level(sum, static_cast<std::uint32_t>(curves.size()));
  }
  return mean;
}

void TileMakers::configure(int tiles, int max_value) {
  max_value_ = max_value;
  makers_.assign(static_cast<std::size_t>(tiles), CurveMaker());
  for (CurveMaker& maker : makers_) {
    maker.configure(max_value);
    maker.set_bins(256);
  }
}

CurveTable TileMakers::make(int tile, const ValueHistogram& counts, const tone::Frame& frame) {
  if (!frame.over_time && !tone::bounds(frame.limits))
    return plain_curve(counts, frame.limits.scaler, 256, max_value_);
  return makers_[static_cast<std::size_t>(tile)].make(counts, frame);
}

std::string TileMakers::save(const ClaheParams& params, const tone::Control& control) const {
  std::vector<tone::History> histories;
  for (const CurveMaker& maker : makers_)
    histories.push_back(maker.history());
  return save_tiles(params, control, histories, max_value_);
}

void TileMakers::load(std::string_view state, const ClaheParams& params, tone::Control& control) {
  std::vector<tone::History> histories(makers_.size());
  load_tiles(state, params, control, histories, max_value_);
  for (std::size_t tile = 0; tile < makers_.size(); ++tile)
    makers_[tile].set_history(histories[tile]);
}

}  // namespace equalux
