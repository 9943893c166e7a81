#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "cuda/device/dependent_launch.cuh"
#include "cuda/hessian/hessian.h"
#include "cuda/hessian/hessian_passes.cuh"
#include "cuda/hessian/store_classes.cuh"
#include "cuda/runtime/check.h"
#include "cuda/runtime/device_copy.h"
#include "cuda/runtime/shared_memory.h"
#include "src/hessian/vessel_math.h"

namespace equalux::cuda {
namespace {

constexpr int kMostScales = kMaxScales + 1;

/// Values that a pixel keeps in shared memory from scale to scale.
enum ResultPlane : int { kBest, kLight, kGain, kResultPlanes };

/// Returns the position of four pixels in a result plane. Only one thread ever uses it, so no
/// barrier is needed.
template <typename Shape>
__device__ __forceinline__ float4& result(const Shape& shape, const TileMemory& memory,
                                          ResultPlane plane, int row, int column) {
  return *reinterpret_cast<float4*>(memory.results + (plane * shape.band + row) * shape.width +
                                    column);
}

/// Merges a scale into the best of four pixels. The first scale, which is the largest, also stores
/// their local mean.
template <int kRadius, typename Shape>
__device__ __forceinline__ void add_scale(const Shape& shape, const TileMemory& memory,
                                          const ScaleWeights& w, const VesselRule& rule, bool first,
                                          int row, int column, int at) {
  if (first) {
    float light[4];
    sum_row<kRadius, false>(w.smooth, w.radius, memory.smooth + at, light);
    result(shape, memory, kBest, row, column) = {0, 0, 0, 0};
    result(shape, memory, kLight, row, column) = {light[0], light[1], light[2], light[3]};
    result(shape, memory, kGain, row, column) = {contrast_gain(light[0]), contrast_gain(light[1]),
                                                 contrast_gain(light[2]), contrast_gain(light[3])};
  }
  Eigenvalues e[4];
  four_eigenvalues<kRadius>(w, w.radius, memory, at, e);
  const auto measure = [&](const Eigenvalues& values, float gain) {
    return rule.frangi ? frangi_measure(rule.sign, values, gain)
                       : ridge_strength(rule.sign, values.second);
  };
  const float4 gain = result(shape, memory, kGain, row, column);
  float4& best = result(shape, memory, kBest, row, column);
  best = {fmaxf(best.x, measure(e[0], gain.x)), fmaxf(best.y, measure(e[1], gain.y)),
          fmaxf(best.z, measure(e[2], gain.z)), fmaxf(best.w, measure(e[3], gain.w))};
}

__device__ __forceinline__ std::uint8_t vessel_byte(const VesselRule& rule, float best, float gain,
                                                    float light, float own) {
  const float measure = within_line(rule.sign, light, own, rule.frangi ? best : best * gain);
  return rule.heat ? heat_level(measure, rule.full) : vessel_class(measure, rule.low, rule.high);
}

/// Computes the results of four pixels from their own level and the best of all scales.
template <int kRadius, typename Shape>
__device__ __forceinline__ void finish_pixels(const Shape& shape, const TileMemory& memory,
                                              const ScaleWeights& w, const VesselRule& rule,
                                              int row, int column, int at,
                                              std::uint8_t (&bytes)[4]) {
  float own[4];
  sum_row<kRadius, false>(w.smooth, w.radius, memory.smooth + at, own);
  const float4 best = result(shape, memory, kBest, row, column);
  const float4 gain = result(shape, memory, kGain, row, column);
  const float4 light = result(shape, memory, kLight, row, column);
  bytes[0] = vessel_byte(rule, best.x, gain.x, light.x, own[0]);
  bytes[1] = vessel_byte(rule, best.y, gain.y, light.y, own[1]);
  bytes[2] = vessel_byte(rule, best.z, gain.z, light.z, own[2]);
  bytes[3] = vessel_byte(rule, best.w, gain.w, light.w, own[3]);
}

/// The tile of this block, and the band that is being computed.
template <typename Shape>
struct VesselTile {
  const LevelSource& in;
  const Shape& shape;
  const VesselRule& rule;
  const DeviceClasses& out;
  TileMemory memory;
  int x = static_cast<int>(blockIdx.x) * shape.width;
  int y = static_cast<int>(blockIdx.y) * shape.rows;
  int band = 0;
};

/// Calls body(row of the band, column, at) as for_fours() does, but only for pixels inside the
/// frame.
template <typename Shape, typename Body>
__device__ __forceinline__ void for_fours_inside(const VesselTile<Shape>& tile, const Body& body) {
  for_fours(tile.shape, [&](int row, int column, int at) {
    if (tile.x + column < tile.in.columns && tile.y + tile.band + row < tile.in.rows)
      body(row, column, at);
  });
}

/// Computes one scale of a band. kRadius is its radius, 0 where the compiler does not know it.
template <int kRadius, bool kLevels, typename Shape>
__device__ __forceinline__ void pass_scale(const VesselTile<Shape>& tile, const ScaleWeights& w,
                                           bool first) {
  differentiate_down<kRadius, kLevels>(tile.in, tile.shape, w, w.radius, tile.memory, tile.x,
                                       tile.y, tile.band);
  __syncthreads();
  for_fours_inside(tile, [&](int row, int column, int at) {
    add_scale<kRadius>(tile.shape, tile.memory, w, tile.rule, first, row, column, at);
  });
  __syncthreads();  // all threads have read the derivatives
}

/// Computes what follows the last scale: a pixel's own smoothed level, and the bytes that are
/// written.
template <int kRadius, bool kLevels, typename Shape>
__device__ __forceinline__ void finish_band(const VesselTile<Shape>& tile, const ScaleWeights& w) {
  differentiate_down<kRadius, kLevels, Derivatives::none>(tile.in, tile.shape, w, w.radius,
                                                          tile.memory, tile.x, tile.y, tile.band);
  __syncthreads();
  for_fours_inside(tile, [&](int row, int column, int at) {
    std::uint8_t bytes[4];
    finish_pixels<kRadius>(tile.shape, tile.memory, w, tile.rule, row, column, at, bytes);
    store_classes(tile.out, tile.x + column, tile.y + tile.band + row, bytes);
  });
  __syncthreads();  // all threads have read the sums
}

/// Computes vessel_class() or heat_level() of every pixel, for any scales: a block has one tile, in
/// bands, as eigenvalues_kernel in eigenvalue_tiles.cuh. Each band passes over the scales, whose
/// weights are in shared memory; a pixel's best measure stays there, too.
template <bool kLevels>
__global__ void __launch_bounds__(kTileThreads, 2)
    vessel_kernel(const __grid_constant__ LevelSource in, const ScaleWeights* weights, int scales,
                  const __grid_constant__ VesselRule rule, const __grid_constant__ TileShape shape,
                  const __grid_constant__ DeviceClasses out) {
  extern __shared__ __align__(16) float shared[];
  __shared__ std::uint32_t held[kMostScales * sizeof(ScaleWeights) / 4];
  const auto* const w = reinterpret_cast<const ScaleWeights*>(held);
  VesselTile<TileShape> tile{in, shape, rule, out, TileMemory(shape, shared)};
  wait_for_results();
  static_assert(sizeof(ScaleWeights) % 4 == 0);
  const int words = static_cast<int>(sizeof(ScaleWeights) / 4) * (scales + 1);
  for (int i = static_cast<int>(threadIdx.x); i < words; i += kTileThreads)
    held[i] = reinterpret_cast<const std::uint32_t*>(weights)[i];
  if constexpr (kLevels) load_levels(in, shape, tile.memory.levels, tile.x, tile.y);
  __syncthreads();
#pragma unroll 1
  for (; tile.band < shape.rows && tile.y + tile.band < in.rows; tile.band += shape.band) {
#pragma unroll 1
    for (int s = 0; s < scales; ++s)
      pass_scale<0, kLevels>(tile, w[s], s == 0);
    finish_band<0, kLevels>(tile, w[scales]);
  }
}

/// Radii of sigmas 2, 3 and 4, the default, with `truncate` 4, then of the own level's smoothing.
constexpr int kUsualRadii[] = {16, 12, 8, 4};
struct UsualWeights {
  ScaleWeights of[std::size(kUsualRadii)];
};
using UsualVesselShape = KnownShape<kUsualRadii[0], kResultPlanes>;

/// Does the work of vessel_kernel for kUsualRadii: loops have compile-time lengths, and weights are
/// operands from constant memory.
__global__ void __launch_bounds__(kTileThreads, 3)
    usual_vessel_kernel(const __grid_constant__ LevelSource in,
                        const __grid_constant__ UsualWeights weights,
                        const __grid_constant__ VesselRule rule,
                        const __grid_constant__ UsualVesselShape shape,
                        const __grid_constant__ DeviceClasses out) {
  extern __shared__ __align__(16) float shared[];
  VesselTile<UsualVesselShape> tile{in, shape, rule, out, TileMemory(shape, shared)};
  wait_for_results();
  load_levels(in, shape, tile.memory.levels, tile.x, tile.y);
  __syncthreads();
#pragma unroll 1
  for (; tile.band < shape.rows && tile.y + tile.band < in.rows; tile.band += shape.band) {
    pass_scale<kUsualRadii[0], true>(tile, weights.of[0], true);
    pass_scale<kUsualRadii[1], true>(tile, weights.of[1], false);
    pass_scale<kUsualRadii[2], true>(tile, weights.of[2], false);
    finish_band<kUsualRadii[3], true>(tile, weights.of[3]);
  }
}

}  // namespace

VesselKernel::VesselKernel(const VesselParams& params, int width, int height) {
  std::vector<double> sigmas = params.sigmas;
  std::sort(sigmas.begin(), sigmas.end(), std::greater<>());
  std::vector<ScaleWeights> weights;
  int reach = 0;
  const auto add = [&](HessianDerivative derivative, double sigma) {
    weights.push_back(ScaleWeights::of(hessian_weights(derivative, sigma, params.truncate)));
    reach = std::max(reach, weights.back().radius);
  };
  for (const double sigma : sigmas)
    add(params.derivative, sigma);
  add(HessianDerivative::gaussian, own_level_sigma(sigmas.front()));
  scales_ = static_cast<int>(sigmas.size());
  const auto has_radius = [](const ScaleWeights& w, int radius) { return w.radius == radius; };
  const bool has_usual_radii = std::equal(weights.begin(), weights.end(), std::begin(kUsualRadii),
                                          std::end(kUsualRadii), has_radius);
  weights_ = allocate_device<ScaleWeights>(weights.size());
  upload(weights_.get(), weights.data(), weights.size() * sizeof(ScaleWeights),
         "copying weights to the device");
  const VesselThresholds thresholds = vessel_thresholds(params);
  rule_.sign = params.polarity == Polarity::dark ? 1.0f : -1.0f;
  rule_.frangi = params.measure == VesselMeasure::frangi;
  rule_.heat = params.output == VesselOutput::heat;
  rule_.low = static_cast<float>(thresholds.low);
  rule_.high = static_cast<float>(thresholds.high);
  rule_.full = static_cast<float>(255 / (2 * thresholds.high));
  device_ = LaunchDevice::of(reinterpret_cast<const void*>(&vessel_kernel<true>));
  const std::size_t most = std::min({allow_shared_memory(&vessel_kernel<true>),
                                     allow_shared_memory(&vessel_kernel<false>),
                                     allow_shared_memory(&usual_vessel_kernel)});
  const auto usual =
      has_usual_radii ? UsualVesselShape::fitting(most, width, height, device_) : std::nullopt;
  if (usual) usual_ = std::move(weights);
  shape_ = usual ? *usual : tile_shape(reach, kResultPlanes, most, width, height, device_);
}

void VesselKernel::enqueue(const LevelSource& in, const DeviceClasses& out,
                           cudaStream_t stream) const {
  const dim3 grid = shape_.grid(in.columns, in.rows);
  if (!usual_.empty()) {
    UsualWeights weights;
    std::copy(usual_.begin(), usual_.end(), std::begin(weights.of));
    launch_early(device_, "launching vesselness", &usual_vessel_kernel, grid, dim3(kTileThreads),
                 shape_.shared_bytes(), stream, in, weights, rule_, UsualVesselShape{shape_.rows},
                 out);
    return;
  }
  launch_early(device_, "launching vesselness",
               shape_.levels ? &vessel_kernel<true> : &vessel_kernel<false>, grid,
               dim3(kTileThreads), shape_.shared_bytes(), stream, in, weights_.get(), scales_,
               rule_, shape_, out);
}

}  // namespace equalux::cuda
