#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "cuda/device/plane_pair.h"
#include "cuda/runtime/launch_device.h"
#include "src/clahe/opencv_tiles.h"

/// `clahe` with the bytes of cv::createCLAHE on a GPU: three kernels a frame, of plain loops over
/// pixels and levels. The arithmetic is src/clahe/opencv_tiles.h.
namespace equalux::cuda {

/// Which tiles a pixel lies between, and the part of the second, in one direction.
struct OpencvMix {
  std::uint16_t first;
  std::uint16_t second;
  float weight;
};

struct OpencvFrame {
  PlanePair plane;
  bool words = false;    ///< samples have 16 bits
  bool aligned = false;  ///< and lie at even addresses
  int width = 0;
  int height = 0;
  int tiles_x = 1;
  int tiles_y = 1;
  int tile_width = 0;  ///< with what is mirrored
  int tile_height = 0;
  int bands = 1;  ///< blocks that share a tile's counting
  opencv::TileRule rule{};
  const std::int32_t* source_x = nullptr;  ///< by column of all tiles: the picture's
  const std::int32_t* source_y = nullptr;
  const OpencvMix* columns = nullptr;  ///< by column of the picture
  const OpencvMix* rows = nullptr;
  std::uint32_t* counts = nullptr;  ///< rule.bins by tile, row after row; 0 between frames
  std::uint16_t* levels = nullptr;  ///< the same
};

/// Adds the frame's levels to the tiles' counts.
void opencv_clahe_count(const OpencvFrame& frame, const LaunchDevice& device, cudaStream_t stream);
/// Makes the tiles' tables and clears the counts.
void opencv_clahe_tables(const OpencvFrame& frame, const LaunchDevice& device, cudaStream_t stream);
/// Writes the frame's result.
void opencv_clahe_apply(const OpencvFrame& frame, const LaunchDevice& device, cudaStream_t stream);

/// The launch facts of these kernels on the device that is current. Throws Error(unavailable).
[[nodiscard]] LaunchDevice opencv_clahe_device();

}  // namespace equalux::cuda
