#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "cuda/device/plane_pair.h"
#include "cuda/runtime/launch_device.h"
#include "src/clahe/opencv_tiles.h"

/// `clahe` with the bytes of cv::createCLAHE on a GPU: three kernels per frame, plain loops over
/// pixels and levels. Arithmetic is in src/clahe/opencv_tiles.h.
namespace equalux::cuda {

/// The two tiles that a pixel lies between in one direction, and the weight of the second.
struct OpencvMix {
  std::uint16_t first;
  std::uint16_t second;
  float weight;
};

struct OpencvFrame {
  PlanePair plane;
  bool words = false;    ///< samples have 16 bits
  bool aligned = false;  ///< samples have 16 bits and lie at even addresses
  int width = 0;
  int height = 0;
  int tiles_x = 1;
  int tiles_y = 1;
  int tile_width = 0;  ///< with the mirrored columns
  int tile_height = 0;
  int bands = 1;  ///< blocks that share the counting of a tile
  opencv::TileRule rule{};
  const std::int32_t* source_x = nullptr;  ///< picture column for each column of all tiles
  const std::int32_t* source_y = nullptr;
  const OpencvMix* columns = nullptr;  ///< one per column of the picture
  const OpencvMix* rows = nullptr;
  std::uint32_t* counts = nullptr;  ///< rule.bins per tile, row by row; 0 between frames
  std::uint16_t* levels = nullptr;  ///< rule.bins per tile, row by row
};

/// Adds the frame's levels to the histograms of the tiles.
void opencv_clahe_count(const OpencvFrame& frame, const LaunchDevice& device, cudaStream_t stream);
/// Makes the tables of the tiles and clears their histograms.
void opencv_clahe_tables(const OpencvFrame& frame, const LaunchDevice& device, cudaStream_t stream);
/// Writes the frame's result.
void opencv_clahe_apply(const OpencvFrame& frame, const LaunchDevice& device, cudaStream_t stream);

/// Asks for the launch facts of these kernels on the current device. Throws Error(unavailable).
[[nodiscard]] LaunchDevice opencv_clahe_device();

}  // namespace equalux::cuda
