#include "cuda/device/dependent_launch.cuh"
#include "cuda/hessian/hessian.h"
#include "cuda/hessian/hessian_passes.cuh"
#include "cuda/hessian/store_classes.cuh"
#include "cuda/runtime/check.h"
#include "cuda/runtime/shared_memory.h"
#include "src/hessian/vessel_math.h"

namespace equalux::cuda {
namespace {

struct ShapesRule {
  float threshold;
  float line_ratio;
  float blob_ratio;
};

/// Computes shape_class() of every pixel; tiles, shared memory and registers are those of
/// eigenvalues_kernel in hessian.cu, but a pixel's result is one byte.
template <int kRadius, bool kLevels, typename Shape>
__global__ void __launch_bounds__(kTileThreads, kTileBlocks)
    shapes_kernel(const __grid_constant__ LevelSource in,
                  const __grid_constant__ ScaleWeights weights, const __grid_constant__ Shape shape,
                  ShapesRule rule, DeviceClasses out) {
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
      std::uint8_t classes[4];
#pragma unroll
      for (int v = 0; v < 4; ++v)
        classes[v] = shape_class(e[v], rule.threshold, rule.line_ratio, rule.blob_ratio);
      store_classes(out, x + column, y + band + row, classes);
    });
  }
}

/// The kernel of `sigma=2`, whose radius is a compile-time constant.
using UsualBlobShape = KnownShape<8, 0>;
constexpr auto* kUsualShapes = &shapes_kernel<8, true, UsualBlobShape>;
constexpr auto* kShapes = &shapes_kernel<0, true, TileShape>;
constexpr auto* kLargeShapes = &shapes_kernel<0, false, TileShape>;

}  // namespace

ShapesKernel::ShapesKernel(const ShapesParams& params, int width, int height)
    : weights_(ScaleWeights::of(hessian_weights(params.derivative, params.sigma, params.truncate))),
      threshold_(static_cast<float>(params.threshold)),
      line_ratio_(static_cast<float>(params.line_ratio)),
      blob_ratio_(static_cast<float>(params.blob_ratio)) {
  device_ = LaunchDevice::of(reinterpret_cast<const void*>(kShapes));
  const std::size_t most =
      std::min({allow_shared_memory(kLargeShapes), allow_shared_memory(kShapes),
                allow_shared_memory(kUsualShapes)});
  const auto usual = weights_.radius == UsualBlobShape::reach
                         ? UsualBlobShape::fitting(most, width, height, device_)
                         : std::nullopt;
  usual_ = usual.has_value();
  shape_ = usual ? *usual : tile_shape(weights_.radius, 0, most, width, height, device_);
}

void ShapesKernel::enqueue(const LevelSource& in, const DeviceClasses& out,
                           cudaStream_t stream) const {
  const ShapesRule rule{threshold_, line_ratio_, blob_ratio_};
  const dim3 grid = shape_.grid(in.columns, in.rows);
  if (usual_) {
    launch_early(device_, "launching shapes", kUsualShapes, grid, dim3(kTileThreads),
                 shape_.shared_bytes(), stream, in, weights_, UsualBlobShape{shape_.rows}, rule,
                 out);
    return;
  }
  launch_early(device_, "launching shapes", shape_.levels ? kShapes : kLargeShapes, grid,
               dim3(kTileThreads), shape_.shared_bytes(), stream, in, weights_, shape_, rule, out);
}

}  // namespace equalux::cuda
