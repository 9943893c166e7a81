#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cuda/device/dependent_launch.cuh"
#include "cuda/hessian/hessian.h"
#include "cuda/hessian/hessian_passes.cuh"
#include "cuda/runtime/check.h"
#include "cuda/runtime/shared_memory.h"

/// The kernel of one scale, for everything that is made of a pixel's eigenvalues.
namespace equalux::cuda {

/// Computes the eigenvalues of every pixel, and stores those of four neighbours of a row at a time
/// by sink.store(in, x, y, eigenvalues). The first of the four exists, the others may not.
///
/// A block of 256 threads has one tile, in bands of `shape.band` rows. Shared memory has the tile's
/// levels with a border of the kernel's radius, and three planes of sums along y; sums along x and
/// eigenvalues stay in registers, four pixels per thread. So a frame is read about once and only
/// results are written. kRadius 0 stands for a radius that the compiler does not know; kLevels
/// false for levels that do not fit and are read through the caches.
template <int kRadius, bool kLevels, typename Shape, typename Sink>
__global__ void __launch_bounds__(kTileThreads, kTileBlocks)
    eigenvalues_kernel(const __grid_constant__ LevelSource in,
                       const __grid_constant__ ScaleWeights weights,
                       const __grid_constant__ Shape shape, const __grid_constant__ Sink sink) {
  extern __shared__ __align__(16) float shared[];
  const TileMemory memory(shape, shared);
  const int x = static_cast<int>(blockIdx.x) * shape.width;
  const int y = static_cast<int>(blockIdx.y) * shape.rows;
  wait_for_results();
  if constexpr (kLevels) {
    load_levels(in, shape, memory.levels, x, y);
    __syncthreads();
  }
#pragma unroll 1
  for (int band = 0; band < shape.rows && y + band < in.rows; band += shape.band) {
    if (band > 0) __syncthreads();  // all threads have read the derivatives of the band before
    differentiate_down<kRadius, kLevels>(in, shape, weights, weights.radius, memory, x, y, band);
    __syncthreads();
    for_fours(shape, [&](int row, int column, int at) {
      if (x + column >= in.columns || y + band + row >= in.rows) return;
      Eigenvalues e[4];
      four_eigenvalues<kRadius>(weights, weights.radius, memory, at, e);
      sink.store(in, x + column, y + band + row, e);
    });
  }
}

/// The kernels of one sink, and their launch.
template <typename Sink>
class EigenvalueTiles {
 public:
  /// Chooses the kernel and its tiles for frames of this size. `most_shared`: most bytes of shared
  /// memory for a block, if the device has more.
  static ScaleTiles choose(const HessianWeights& weights, int width, int height,
                           std::size_t most_shared = SIZE_MAX) {
    ScaleTiles tiles{ScaleWeights::of(weights),
                     LaunchDevice::of(reinterpret_cast<const void*>(kAny)),
                     {},
                     false};
    const std::size_t most = std::min({most_shared, allow_shared_memory(kLarge),
                                       allow_shared_memory(kAny), allow_shared_memory(kUsual)});
    const auto usual = weights.radius == UsualShape::reach
                           ? UsualShape::fitting(most, width, height, tiles.device)
                           : std::nullopt;
    tiles.usual = usual.has_value();
    tiles.shape = usual ? *usual : tile_shape(weights.radius, 0, most, width, height, tiles.device);
    return tiles;
  }

  /// Enqueues one frame. `what` names the launch in the error where it fails.
  static void enqueue(const ScaleTiles& tiles, const char* what, const LevelSource& in,
                      const Sink& sink, cudaStream_t stream) {
    const auto launch = [&](auto* kernel, const auto& shape) {
      launch_early(tiles.device, what, kernel, tiles.shape.grid(in.columns, in.rows),
                   dim3(kTileThreads), tiles.shape.shared_bytes(), stream, in, tiles.weights, shape,
                   sink);
    };
    if (tiles.usual) {
      launch(kUsual, UsualShape{tiles.shape.rows});
    } else {
      launch(tiles.shape.levels ? kAny : kLarge, tiles.shape);
    }
  }

 private:
  /// Tiles of `sigma=2`, whose radius is a compile-time constant.
  using UsualShape = KnownShape<8, 0>;
  static constexpr auto* kUsual = &eigenvalues_kernel<UsualShape::reach, true, UsualShape, Sink>;
  static constexpr auto* kAny = &eigenvalues_kernel<0, true, TileShape, Sink>;
  static constexpr auto* kLarge = &eigenvalues_kernel<0, false, TileShape, Sink>;
};

}  // namespace equalux::cuda
