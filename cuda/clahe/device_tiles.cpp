#include "cuda/clahe/device_tiles.h"

#include <algorithm>

#include "cuda/runtime/check.h"
#include "cuda/runtime/device_copy.h"
#include "src/clahe/tile_state.h"
#include "src/format/layout.h"

namespace equalux::cuda {
namespace {

/// Counting blocks per multiprocessor: as many as one of compute capability 9.0 runs at a time, by
/// their shared memory; others run them in more than one wave.
constexpr int kCountingBlocks = 6;

}  // namespace

std::vector<LineMix> line_mixes(const TileAxis& rows, int lines) {
  std::vector<LineMix> mixes;
  for (int line = 0; line < lines; ++line) {
    const auto at = static_cast<std::size_t>(line);
    mixes.push_back(
        {rows.first[at], static_cast<std::uint8_t>(rows.second(line)), rows.weight[at]});
  }
  return mixes;
}

void describe_tiles(ClaheFrame& frame, const ClaheParams& params, const ImageDesc& desc,
                    int multiprocessors) {
  const CellCount cells = cells_of(desc);
  frame.width = desc.width;
  frame.height = desc.height;
  frame.lines = cells.rows;
  frame.tiles_x = params.tiles_x;
  frame.tiles_y = params.tiles_y;
  const auto copy_edges = [](const TileAxis& axis, auto& edges) {
    std::copy(axis.edge.begin(), axis.edge.end(), edges.begin());
  };
  copy_edges(TileAxis(params.tiles_x, cells.columns), frame.edge_x);
  copy_edges(TileAxis(params.tiles_y, cells.rows), frame.edge_y);
  const int wanted = multiprocessors * kCountingBlocks / (params.tiles_x * params.tiles_y);
  frame.bands = std::clamp(wanted, 1, cells.rows / params.tiles_y);
}

void DeviceTiles::allocate(int tiles) {
  tiles_ = static_cast<std::size_t>(tiles);
  states_ = uploaded(std::vector<TileState>(tiles_), "clearing the tiles");
  levels_ = allocate_device<std::uint16_t>(256 * tiles_);
}

std::string DeviceTiles::save(const ClaheParams& params, const tone::Control& control,
                              int max_value) const {
  std::vector<tone::History> histories;
  for (const TileState& state : read())
    histories.push_back(state.history);
  return save_tiles(params, control, histories, max_value);
}

void DeviceTiles::load(std::string_view state, const ClaheParams& params, tone::Control& control,
                       int max_value) {
  std::vector<tone::History> histories(tiles_);
  load_tiles(state, params, control, histories, max_value);
  std::vector<TileState> loaded = read();
  for (std::size_t tile = 0; tile < tiles_; ++tile)
    loaded[tile].history = histories[tile];
  upload(states_.get(), loaded.data(), loaded.size() * sizeof(TileState),
         "writing the tiles' histories");
}

/// Reads the tiles' states after the frames in flight are done.
std::vector<TileState> DeviceTiles::read() const {
  std::vector<TileState> all(tiles_);
  check(cudaDeviceSynchronize(), "waiting for the frames under way");
  check(
      cudaMemcpy(all.data(), states_.get(), all.size() * sizeof(TileState), cudaMemcpyDeviceToHost),
      "reading the tiles' histories");
  return all;
}

}  // namespace equalux::cuda
