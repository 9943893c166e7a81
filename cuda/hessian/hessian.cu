#include <algorithm>

#include "cuda/device/dependent_launch.cuh"
#include "cuda/hessian/hessian.h"
#include "cuda/hessian/hessian_passes.cuh"
#include "cuda/runtime/check.h"
#include "cuda/runtime/shared_memory.h"

namespace equalux::cuda {
namespace {

/// The planes that the eigenvalues are written to.
struct FloatPlanes {
  HessianKernel::Output out;
  bool vectors;  // addresses and strides are multiples of 16
  bool words;    // addresses and strides are multiples of 4
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

/// Computes both eigenvalues of every pixel: a block of 256 threads has one tile, in bands of
/// `shape.band` rows. Shared memory has the tile's levels with a border of the kernel's radius, and
/// three planes of sums along y; sums along x and eigenvalues stay in registers, four pixels per
/// thread. So a frame is read about once and only results are written. kRadius 0 stands for a
/// radius that the compiler does not know; kLevels false for levels that do not fit and are read
/// through the caches.
template <int kRadius, bool kLevels, typename Shape>
__global__ void __launch_bounds__(kTileThreads, kTileBlocks)
    eigenvalues_kernel(const __grid_constant__ LevelSource in,
                       const __grid_constant__ ScaleWeights weights,
                       const __grid_constant__ Shape shape,
                       const __grid_constant__ FloatPlanes planes) {
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
      const int frame_y = y + band + row;
      const int valid = in.columns - (x + column);
      if (valid <= 0 || frame_y >= in.rows) return;
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

/// The kernel of `sigma=2`, whose radius is a compile-time constant.
using UsualShape = KnownShape<8, 0>;
constexpr auto* kUsualKernel = &eigenvalues_kernel<8, true, UsualShape>;
constexpr auto* kKernel = &eigenvalues_kernel<0, true, TileShape>;
constexpr auto* kLargeKernel = &eigenvalues_kernel<0, false, TileShape>;

}  // namespace

HessianKernel::HessianKernel(const HessianWeights& weights, int width, int height,
                             std::size_t most_shared)
    : weights_(ScaleWeights::of(weights)) {
  device_ = LaunchDevice::of(reinterpret_cast<const void*>(kKernel));
  const std::size_t most =
      std::min({most_shared, allow_shared_memory(kLargeKernel), allow_shared_memory(kKernel),
                allow_shared_memory(kUsualKernel)});
  const auto usual = weights_.radius == UsualShape::reach
                         ? UsualShape::fitting(most, width, height, device_)
                         : std::nullopt;
  usual_ = usual.has_value();
  shape_ = usual ? *usual : tile_shape(weights_.radius, 0, most, width, height, device_);
}

void HessianKernel::enqueue(const LevelSource& in, const Output& out, cudaStream_t stream) const {
  const auto all = reinterpret_cast<std::uintptr_t>(out.first) |
                   reinterpret_cast<std::uintptr_t>(out.second) |
                   static_cast<std::uintptr_t>(out.first_stride) |
                   static_cast<std::uintptr_t>(out.second_stride);
  const FloatPlanes planes{out, all % 16 == 0, all % 4 == 0};
  const dim3 grid = shape_.grid(in.columns, in.rows);
  if (usual_) {
    launch_early(device_, "launching eigenvalues", kUsualKernel, grid, dim3(kTileThreads),
                 shape_.shared_bytes(), stream, in, weights_, UsualShape{shape_.rows}, planes);
    return;
  }
  launch_early(device_, "launching eigenvalues", shape_.levels ? kKernel : kLargeKernel, grid,
               dim3(kTileThreads), shape_.shared_bytes(), stream, in, weights_, shape_, planes);
}

}  // namespace equalux::cuda
