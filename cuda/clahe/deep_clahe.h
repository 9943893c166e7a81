#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "cuda/clahe/clahe.h"
#include "cuda/equalize/deep/deep_stages.h"
#include "cuda/runtime/launch_device.h"
#include "src/clahe/deep_tiles.h"

/// Adaptive equalization of more than 8 bits on a GPU: coarse counts of tiles, their curves by
/// clahe_curve(), and a kernel that mixes and scales. Lines are rows of cells; see tile_grid.h.
namespace equalux::cuda {

/// A column's part in the mix: the tile left of it, and the weight of the one after that.
struct DeepColumnMix {
  std::uint16_t tile;
  std::uint16_t of_right;
};

struct DeepClaheFrame {
  /// Tiles, edges, bands, mixes of lines, states, curves. Its levels are coarse ones, up to
  /// weights.luma_max.
  ClaheFrame tiles;
  DeepFrame frame;
  deep_tiles::Form form;
  const DeepColumnMix* columns = nullptr;  ///< by luma column or pixel
};

/// Adds the frame's coarse levels to the tiles' counts.
void deep_clahe_count(const DeepClaheFrame& frame, const LaunchDevice& device, cudaStream_t stream);
/// Makes k of saturation by value of a result, 0 to M, by the rule of the frame's tone, and of the
/// mean of the tiles' curves where it follows them; then the frame has their sums. Clears
/// `next_sums`, those of the frame to come; after clahe_curve().
void deep_clahe_factors(const DeepClaheFrame& frame, std::uint32_t* factors,
                        unsigned long long* next_sums, const LaunchDevice& device,
                        cudaStream_t stream);
/// Scales the frame.
void deep_clahe_apply(const DeepClaheFrame& frame, const LaunchDevice& device, cudaStream_t stream);

/// The launch facts of these kernels on the device that is current. Throws Error(unavailable).
[[nodiscard]] LaunchDevice deep_clahe_device();

}  // namespace equalux::cuda
