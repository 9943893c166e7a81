#include "cuda/hessian/eigenvalue_tiles.cuh"
#include "cuda/hessian/store_classes.cuh"
#include "src/hessian/vessel_math.h"

namespace equalux::cuda {
namespace {

/// Sink of shape_class(): one byte a pixel.
struct ShapeClasses {
  DeviceClasses out;
  float threshold;
  float line_ratio;
  float blob_ratio;

  __device__ __forceinline__ void store(const LevelSource&, int x, int y,
                                        const Eigenvalues (&e)[4]) const {
    std::uint8_t classes[4];
#pragma unroll
    for (int v = 0; v < 4; ++v)
      classes[v] = shape_class(e[v], threshold, line_ratio, blob_ratio);
    store_classes(out, x, y, classes);
  }
};

using ShapeTiles = EigenvalueTiles<ShapeClasses>;

}  // namespace

ShapesKernel::ShapesKernel(const ShapesParams& params, int width, int height)
    : tiles_(ShapeTiles::choose(hessian_weights(params.derivative, params.sigma, params.truncate),
                                width, height)),
      threshold_(static_cast<float>(params.threshold)),
      line_ratio_(static_cast<float>(params.line_ratio)),
      blob_ratio_(static_cast<float>(params.blob_ratio)) {}

void ShapesKernel::enqueue(const LevelSource& in, const DeviceClasses& out,
                           cudaStream_t stream) const {
  ShapeTiles::enqueue(tiles_, "launching shapes", in, {out, threshold_, line_ratio_, blob_ratio_},
                      stream);
}

}  // namespace equalux::cuda
