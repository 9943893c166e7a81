#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "cuda/clahe/clahe.h"
#include "cuda/equalize/deep/deep_stages.h"
#include "cuda/runtime/launch_device.h"
#include "src/clahe/deep_tiles.h"

/// Adaptive equalization of more than 8 bits on a GPU: histograms of coarse levels for each tile,
/// their curves by clahe_curve(), and a kernel that interpolates and scales. Lines are rows of
/// chroma cells; see tile_grid.h.
namespace equalux::cuda {

/// Interpolation of a column: the tile to its left, and the weight of the tile after that.
struct DeepColumnMix {
  std::uint16_t tile;
  std::uint16_t of_right;
};

struct DeepClaheFrame {
  /// Tiles, edges, bands, weights of lines, states and curves. Levels are coarse ones, up to
  /// weights.luma_max.
  ClaheFrame tiles;
  DeepFrame frame;
  deep_tiles::Form form;
  const DeepColumnMix* columns = nullptr;  ///< one per luma column or pixel
};

/// Adds the frame's coarse levels to the histograms of the tiles.
void deep_clahe_count(const DeepClaheFrame& frame, const LaunchDevice& device, cudaStream_t stream);
/// Computes the saturation factor k for each value of a result, 0 to M, by the rule of the frame's
/// tone and, where the rule follows the curves, from the mean of the tiles' curves; the frame has
/// their sums in that case. Clears `next_sums`, the sums of the frame to come. To be enqueued after
/// clahe_curve().
void deep_clahe_factors(const DeepClaheFrame& frame, std::uint32_t* factors,
                        unsigned long long* next_sums, const LaunchDevice& device,
                        cudaStream_t stream);
/// Scales the frame's samples by the interpolated curves.
void deep_clahe_apply(const DeepClaheFrame& frame, const LaunchDevice& device, cudaStream_t stream);

/// Asks for the launch facts of these kernels on the current device. Throws Error(unavailable).
[[nodiscard]] LaunchDevice deep_clahe_device();

}  // namespace equalux::cuda
