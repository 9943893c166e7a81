#include <algorithm>

#include "check.h"
#include "cpu/rgb_layout.h"
#include "hessian.h"
#include "hessian_passes.cuh"
#include "shared_memory.h"

namespace equalux::cuda {
namespace {

#ifndef X_HBLOCKS
#define X_HBLOCKS 4
#define X_HROWS 32
#endif

/// What the eigenvalues are written to.
struct FloatPlanes {
  HessianKernel::Output out;
  bool vectors;  // addresses and strides are multiples of 16
  bool words;    // of 4
};

__device__ __forceinline__ void store_four(const FloatPlanes& planes, std::uint8_t* to,
                                           const float (&values)[4], int valid) {
  if (planes.vectors && valid >= 4) {
    *reinterpret_cast<float4*>(to) = {values[0], values[1], values[2], values[3]};
    return;
  }
#pragma unroll
  for (int v = 0; v < 4; ++v) {
    if (v >= valid) return;
    if (planes.words) {
      reinterpret_cast<float*>(to)[v] = values[v];
      continue;
    }
    const std::uint32_t bits = __float_as_uint(values[v]);
    for (int b = 0; b < 4; ++b)
      to[4 * v + b] = static_cast<std::uint8_t>(bits >> (8 * b));
  }
}

template <int kRadius>
__global__ void __launch_bounds__(kTileThreads, X_HBLOCKS)
    eigenvalues_kernel(const __grid_constant__ LevelSource in,
                       const __grid_constant__ ScaleWeights weights,
                       const __grid_constant__ TileShape shape,
                       const __grid_constant__ FloatPlanes planes) {
  extern __shared__ __align__(16) float shared[];
  const TileMemory memory(shape, shared);
  const int x = static_cast<int>(blockIdx.x) * shape.width;
  const int y = static_cast<int>(blockIdx.y) * shape.rows;
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
  if (shape.levels) {
    load_levels(in, shape, memory.levels, x, y);
    __syncthreads();
  }
#pragma unroll 1
  for (int band = 0; band < shape.rows && y + band < in.height; band += shape.band) {
    if (band > 0) __syncthreads();  // all have read the derivatives before
    differentiate_down<kRadius>(in, shape, weights, weights.radius, memory, x, y, band);
    __syncthreads();
    for_fours(shape, [&](int row, int column, int at) {
      const int frame_y = y + band + row;
      const int valid = in.width - (x + column);
      if (valid <= 0 || frame_y >= in.height) return;
      Eigenvalues e[4];
      four_eigenvalues<kRadius>(weights, weights.radius, memory, at, e);
      const std::ptrdiff_t offset = std::ptrdiff_t{4} * (x + column);
      const float first[4] = {e[0].first, e[1].first, e[2].first, e[3].first};
      const float second[4] = {e[0].second, e[1].second, e[2].second, e[3].second};
      store_four(planes, planes.out.first + frame_y * planes.out.first_stride + offset, first,
                 valid);
      store_four(planes, planes.out.second + frame_y * planes.out.second_stride + offset, second,
                 valid);
    });
  }
}

using Kernel = void (*)(LevelSource, ScaleWeights, TileShape, FloatPlanes);

/// The radius that `sigma=2` has is known to the compiler.
Kernel kernel_of(int radius) {
  return radius == 8 ? &eigenvalues_kernel<8> : &eigenvalues_kernel<0>;
}

int blocks_for(int count, int each) {
  return (count + each - 1) / each;
}

}  // namespace

LevelSource LevelSource::of(const ConstImageView& in, HessianChannel channel) {
  const FormatTraits& t = traits(in.desc.format);
  LevelSource source;
  source.in = in.data[0];
  source.stride = in.stride[0];
  source.width = in.desc.width;
  source.height = in.desc.height;
  source.step = t.step[0];
  source.real = t.model == ColorModel::real;
  if (t.model == ColorModel::rgb) {
    const RgbLayout layout = rgb_layout(in.desc.format);
    const auto at = [](int byte, std::uint32_t weight) { return weight << (8 * byte); };
    switch (channel) {
      case HessianChannel::red:
        source.weights = at(layout.r, 1);
        break;
      case HessianChannel::green:
        source.weights = at(layout.g, 1);
        break;
      case HessianChannel::blue:
        source.weights = at(layout.b, 1);
        break;
      case HessianChannel::value:
        source.largest = true;
        source.weights = at(layout.r, 255) | at(layout.g, 255) | at(layout.b, 255);
        break;
      default:  // luma_of_rgb()
        source.weights = at(layout.r, 77) | at(layout.g, 150) | at(layout.b, 29);
        source.bias = 128;
        source.shift = 8;
        break;
    }
  }
  source.words =
      (reinterpret_cast<std::uintptr_t>(source.in) | static_cast<std::uintptr_t>(source.stride)) %
          4 ==
      0;
  return source;
}

ScaleWeights ScaleWeights::of(const HessianWeights& weights) {
  ScaleWeights scale{};
  scale.radius = weights.radius;
  std::copy(weights.smooth.begin(), weights.smooth.end(), scale.smooth);
  std::copy(weights.slope.begin(), weights.slope.end(), scale.slope);
  std::copy(weights.curve.begin(), weights.curve.end(), scale.curve);
  return scale;
}

std::size_t TileShape::shared_bytes() const {
  const int level_rows = levels ? rows + 2 * reach : 0;
  const int floats = (level_rows + 3 * band) * columns() + result_planes * band * width;
  return static_cast<std::size_t>(floats) * sizeof(float);
}

TileShape tile_shape(int reach, int result_planes, std::size_t most, int width, int height,
                     const LaunchDevice& device) {
  TileShape shape;
  shape.rows = X_HROWS;
  shape.reach = reach;
  shape.left = blocks_for(reach, 4) * 4;
  shape.result_planes = result_planes;
  const auto tiles = [&] {
    return blocks_for(width, shape.width) * blocks_for(height, shape.rows);
  };
  const auto halve = [&shape] {
    shape.rows /= 2;
    shape.band = std::min(shape.band, shape.rows);
  };
  while (shape.rows > 16 && tiles() < device.multiprocessors)
    halve();
  while (shape.shared_bytes() > most && shape.rows > kTileStep)
    halve();
  while (shape.shared_bytes() > most && shape.width > 32)
    shape.width /= 2;
  // Levels that do not fit are read through the caches.
  if (shape.shared_bytes() > most) {
    shape.levels = false;
    shape.width = 128;
    while (shape.shared_bytes() > most && shape.width > 32)
      shape.width /= 2;
  }
  return shape;
}

HessianKernel::HessianKernel(const HessianWeights& weights, int width, int height)
    : weights_(ScaleWeights::of(weights)) {
  const Kernel kernel = kernel_of(weights_.radius);
  device_ = LaunchDevice::of(reinterpret_cast<const void*>(kernel));
  shape_ = tile_shape(weights_.radius, 0, allow_shared_memory(kernel), width, height, device_);
}

void HessianKernel::enqueue(const LevelSource& in, const Output& out, cudaStream_t stream) const {
  const auto all = reinterpret_cast<std::uintptr_t>(out.first) |
                   reinterpret_cast<std::uintptr_t>(out.second) |
                   static_cast<std::uintptr_t>(out.first_stride) |
                   static_cast<std::uintptr_t>(out.second_stride);
  const FloatPlanes planes{out, all % 16 == 0, all % 4 == 0};
  EarlyLaunch early(device_);
  const cudaLaunchConfig_t config =
      early.config(dim3(static_cast<unsigned>(blocks_for(in.width, shape_.width)),
                        static_cast<unsigned>(blocks_for(in.height, shape_.rows))),
                   dim3(kTileThreads), stream, shape_.shared_bytes());
  check(cudaLaunchKernelEx(&config, kernel_of(weights_.radius), in, weights_, shape_, planes),
        "launching eigenvalues");
}

}  // namespace equalux::cuda
