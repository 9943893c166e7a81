#pragma once

#include <array>
#include <cstdint>

#include <cuda_runtime_api.h>
#include <equalux/clahe.h>

#include "cuda/device/plane_pair.h"
#include "cuda/runtime/launch_device.h"
#include "src/equalize/tone/tone_control.h"
#include "src/format/pixel_math.h"

/// Adaptive equalization on a GPU: three kernels per frame (count, curves, apply), each of which
/// starts while the one before it still runs. Lines are rows of chroma cells; see tile_grid.h.
namespace equalux::cuda {

/// Interpolation of a column between two tile columns. The lower half of the word is the byte
/// offset of the left tile's table. In the upper half, formats with word_tables() have the weight
/// of the right tile in the highest byte and 0 in the byte below; other formats have the right
/// tile's share as the upper half of a float, which its eight significant bits fit.
using ColumnMix = std::uint32_t;
/// Bytes of a tile's table for one line: a word or a float for each of 256 levels.
inline constexpr std::uint32_t kTileTableBytes = 1024;
/// Neighbouring columns whose ColumnMix values are loaded at once.
inline constexpr int kMixVector = 4;

/// Returns true where a line's tables are words that hold the levels of two tiles. Such tables make
/// frames of one and three bytes per pixel a seventh faster; with four bytes per pixel large frames
/// would become slower.
constexpr bool word_tables(PixelFormat format) {
  const FormatTraits& t = traits(format);
  return t.model != ColorModel::yuv && t.step[0] != 4;
}

/// Index of a column's ColumnMix in formats with word_tables(). A lane scales 16 columns in a row
/// there, so the first vectors of all lanes of a warp are stored side by side, then their second
/// ones, and so on: the loads of a warp are coalesced. Other formats store them in the order of
/// columns.
constexpr int mix_place(int column) {
  constexpr int kLane = 16;
  constexpr int kWarp = 32 * kLane;
  const int rest = column % kWarp;
  const int at = rest % kLane;
  return column - rest + at / kMixVector * (32 * kMixVector) + rest / kLane * kMixVector +
         at % kMixVector;
}

/// The tile rows above and below a line, and the weight of the lower one.
struct LineMix {
  std::uint8_t above;
  std::uint8_t below;
  std::uint8_t weight;
};

/// State of a tile in device memory.
struct TileState {
  tone::History history;
  std::uint32_t counts[256];  ///< of the current frame; 0 between frames
};

struct ClaheFrame {
  PixelFormat format = PixelFormat::bgr;
  std::array<PlanePair, 3> planes{};
  int width = 0;
  int height = 0;
  int lines = 0;
  int cell_columns = 1;
  bool interlaced = false;
  bool aligned = false;  ///< all planes and strides are multiples of 16 bytes
  YuvWeights weights{};
  int tiles_x = 1;
  int tiles_y = 1;
  int bands = 1;                                      ///< blocks that share the counting of a tile
  std::array<std::int32_t, kMostTiles + 1> edge_x{};  ///< first cell of each tile, and the end
  std::array<std::int32_t, kMostTiles + 1> edge_y{};
  const ColumnMix* columns = nullptr;        ///< one per pixel column, with a chunk of spare ones
  const LineMix* line_mixes = nullptr;       ///< one per line
  TileState* states = nullptr;               ///< one per tile, row by row
  std::uint16_t* levels = nullptr;           ///< curve_level(), 256 per tile
  unsigned long long* curve_sums = nullptr;  ///< sum of all tiles' W for each level, or null
  int early_lines = 0;  ///< lines whose blocks start while curves are still being made
  bool deep = false;    ///< levels are deep_tiles::curve_level()
  tone::Frame tone;
};

/// Adds the frame's values to the histograms of the tiles.
void clahe_count(const ClaheFrame& frame, const LaunchDevice& device, cudaStream_t stream);
/// Makes the curves of the tiles and clears their histograms.
void clahe_curve(const ClaheFrame& frame, const LaunchDevice& device, cudaStream_t stream);
/// Computes the saturation factor k for each value of a result, from the mean of the tiles' curves,
/// and clears the sums of the curves. To be enqueued after clahe_curve().
void clahe_factors(const ClaheFrame& frame, std::uint16_t* factors, cudaStream_t stream);
/// Number of lines that clahe_apply() scales in blocks that start before the curves are made: as
/// many blocks as the device runs at a time.
[[nodiscard]] int clahe_early_lines(const ClaheFrame& frame, const LaunchDevice& device);
/// Scales the frame's samples by the interpolated curves.
void clahe_apply(const ClaheFrame& frame, const LaunchDevice& device, cudaStream_t stream);

/// Asks for the launch facts of these kernels on the current device. Throws Error(unavailable).
[[nodiscard]] LaunchDevice clahe_device();

}  // namespace equalux::cuda
