#pragma once

#include <array>
#include <cstdint>

#include <cuda_runtime_api.h>
#include <equalux/clahe.h>

#include "cuda/device/plane_pair.h"
#include "cuda/runtime/launch_device.h"
#include "src/equalize/tone_control.h"
#include "src/format/pixel_math.h"

/// Adaptive equalization on a GPU: three kernels a frame, each of which starts while the one before
/// it ends. Lines are rows of cells; see tile_grid.h.
namespace equalux::cuda {

/// A column's part in the mix. Of formats with word_tables(): the weight of the tile right of it in
/// the highest byte of the word, 0 in the next one. Of others: that tile's part, a float of eight
/// significant bits, in the upper half. Below, how many bytes the left tile's table lies from the
/// first.
using ColumnMix = std::uint32_t;
/// Bytes of a tile's table for one line: a word or a float a level.
inline constexpr std::uint32_t kTileTableBytes = 1024;
/// Neighbouring columns whose mixes are one load.
inline constexpr int kMixVector = 4;

/// Whether a line's tables are words that hold the levels of two tiles. That takes a seventh off
/// the time of pixels of one and three bytes; pixels of four bytes would take longer in large
/// frames.
constexpr bool word_tables(PixelFormat format) {
  const FormatTraits& t = traits(format);
  return t.model != ColorModel::yuv && t.step[0] != 4;
}

/// Where the mix of a column is in formats with word_tables(), of which a lane scales 16 columns in
/// one go: the first vectors of a warp's lanes lie side by side, then their second ones, so that a
/// warp loads neighbouring bytes. Elsewhere mixes lie as columns do.
constexpr int mix_place(int column) {
  constexpr int kLane = 16;
  constexpr int kWarp = 32 * kLane;
  const int rest = column % kWarp;
  const int at = rest % kLane;
  return column - rest + at / kMixVector * (32 * kMixVector) + rest / kLane * kMixVector +
         at % kMixVector;
}

/// A line's tile rows above and below, and the weight of that below.
struct LineMix {
  std::uint8_t above;
  std::uint8_t below;
  std::uint8_t weight;
};

/// What is kept for a tile in device memory.
struct TileState {
  tone::History history;
  std::uint32_t counts[256];  ///< of the frame under way; 0 before and after
};

struct ClaheFrame {
  PixelFormat format = PixelFormat::bgr;
  std::array<PlanePair, 3> planes{};
  int width = 0;
  int height = 0;
  int lines = 0;
  int cell_columns = 1;
  bool interlaced = false;
  bool aligned = false;  ///< all planes and strides to 16 bytes
  YuvWeights weights{};
  int tiles_x = 1;
  int tiles_y = 1;
  int bands = 1;                                      ///< blocks that share a tile's counting
  std::array<std::int32_t, kMostTiles + 1> edge_x{};  ///< cells
  std::array<std::int32_t, kMostTiles + 1> edge_y{};
  const ColumnMix* columns = nullptr;        ///< by pixel, with room for a chunk beyond the last
  const LineMix* line_mixes = nullptr;       ///< by line
  TileState* states = nullptr;               ///< by tile, row after row
  std::uint16_t* levels = nullptr;           ///< curve_level(), 256 by tile
  unsigned long long* curve_sums = nullptr;  ///< sums of all tiles' W by level, or null
  int early_lines = 0;                       ///< whose blocks start while curves are being made
  bool deep = false;                         ///< levels are deep_tiles::curve_level()
  tone::Frame tone;
};

/// Adds the frame's values to the tiles' counts.
void clahe_count(const ClaheFrame& frame, const LaunchDevice& device, cudaStream_t stream);
/// Makes the tiles' curves and clears the counts.
void clahe_curve(const ClaheFrame& frame, const LaunchDevice& device, cudaStream_t stream);
/// Makes k of saturation by value of a result, of the mean of the tiles' curves, and clears their
/// sums; after clahe_curve().
void clahe_factors(const ClaheFrame& frame, std::uint16_t* factors, cudaStream_t stream);
/// Lines that clahe_apply() scales in blocks which start before the curves are made.
[[nodiscard]] int clahe_early_lines(const ClaheFrame& frame, const LaunchDevice& device);
/// Scales the frame.
void clahe_apply(const ClaheFrame& frame, const LaunchDevice& device, cudaStream_t stream);

/// The launch facts of these kernels on the device that is current. Throws Error(unavailable).
[[nodiscard]] LaunchDevice clahe_device();

}  // namespace equalux::cuda
