#include <algorithm>
#include <functional>
#include <vector>

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

/// What a pixel keeps in shared memory while the scales pass.
enum ResultPlane : int { kBest, kLight, kGain, kResultPlanes };

/// Four pixels' place in a result plane; they are always the same thread's.
__device__ __forceinline__ float4& result(const TileShape& shape, const TileMemory& memory,
                                          ResultPlane plane, int row, int column) {
  return *reinterpret_cast<float4*>(memory.results + (plane * shape.band + row) * shape.width +
                                    column);
}

/// Adds a scale to the best of four pixels.
__device__ __forceinline__ void add_scale(const TileShape& shape, const TileMemory& memory,
                                          const ScaleWeights& w, const VesselRule& rule, bool first,
                                          int row, int column, int at) {
  Eigenvalues e[4];
  four_eigenvalues<0>(w, w.radius, memory, at, e);
  float best[4] = {0, 0, 0, 0};
  float gain[4];
  if (first) {
    float light[4];
    sum_row<0, false>(w.smooth, w.radius, memory.smooth + at, light);
#pragma unroll
    for (int v = 0; v < 4; ++v)
      gain[v] = contrast_gain(light[v]);
    result(shape, memory, kLight, row, column) = {light[0], light[1], light[2], light[3]};
    result(shape, memory, kGain, row, column) = {gain[0], gain[1], gain[2], gain[3]};
  } else {
    const float4 held = result(shape, memory, kBest, row, column);
    const float4 held_gain = result(shape, memory, kGain, row, column);
    best[0] = held.x;
    best[1] = held.y;
    best[2] = held.z;
    best[3] = held.w;
    gain[0] = held_gain.x;
    gain[1] = held_gain.y;
    gain[2] = held_gain.z;
    gain[3] = held_gain.w;
  }
#pragma unroll
  for (int v = 0; v < 4; ++v) {
    const float measure = rule.frangi ? frangi_measure(rule.sign, e[v], gain[v])
                                      : ridge_strength(rule.sign, e[v].second);
    best[v] = fmaxf(best[v], measure);
  }
  result(shape, memory, kBest, row, column) = {best[0], best[1], best[2], best[3]};
}

__device__ __forceinline__ std::uint8_t vessel_byte(const VesselRule& rule, float best, float gain,
                                                    float light, float own) {
  const float measure = within_line(rule.sign, light, own, rule.frangi ? best : best * gain);
  return rule.heat ? heat_level(measure, rule.full) : vessel_class(measure, rule.low, rule.high);
}

template <bool kLevels>
__global__ void __launch_bounds__(kTileThreads, 2)
    vessel_kernel(const __grid_constant__ LevelSource in, const ScaleWeights* weights, int scales,
                  VesselRule rule, const __grid_constant__ TileShape shape, DeviceClasses out) {
  extern __shared__ __align__(16) float shared[];
  __shared__ std::uint32_t held[kMostScales * sizeof(ScaleWeights) / 4];
  const auto* const w = reinterpret_cast<const ScaleWeights*>(held);
  const TileMemory memory(shape, shared);
  const int x = static_cast<int>(blockIdx.x) * shape.width;
  const int y = static_cast<int>(blockIdx.y) * shape.rows;
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
  static_assert(sizeof(ScaleWeights) % 4 == 0);
  const int words = static_cast<int>(sizeof(ScaleWeights) / 4) * (scales + 1);
  for (int i = static_cast<int>(threadIdx.x); i < words; i += kTileThreads)
    held[i] = reinterpret_cast<const std::uint32_t*>(weights)[i];
  if constexpr (kLevels) load_levels(in, shape, memory.levels, x, y);
  __syncthreads();
#pragma unroll 1
  for (int band = 0; band < shape.rows && y + band < in.rows; band += shape.band) {
#pragma unroll 1
    for (int s = 0; s <= scales; ++s) {
      differentiate_down<0, kLevels>(in, shape, w[s], w[s].radius, memory, x, y, band);
      __syncthreads();
      for_fours(shape, [&](int row, int column, int at) {
        if (x + column >= in.columns || y + band + row >= in.rows) return;
        if (s < scales) {
          add_scale(shape, memory, w[s], rule, s == 0, row, column, at);
          return;
        }
        float own[4];
        sum_row<0, false>(w[s].smooth, w[s].radius, memory.smooth + at, own);
        const float4 best = result(shape, memory, kBest, row, column);
        const float4 gain = result(shape, memory, kGain, row, column);
        const float4 light = result(shape, memory, kLight, row, column);
        const std::uint8_t bytes[4] = {vessel_byte(rule, best.x, gain.x, light.x, own[0]),
                                       vessel_byte(rule, best.y, gain.y, light.y, own[1]),
                                       vessel_byte(rule, best.z, gain.z, light.z, own[2]),
                                       vessel_byte(rule, best.w, gain.w, light.w, own[3])};
        store_classes(out, x + column, y + band + row, bytes);
      });
      __syncthreads();  // all have read the derivatives
    }
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
  const std::size_t most = std::min(allow_shared_memory(&vessel_kernel<true>),
                                    allow_shared_memory(&vessel_kernel<false>));
  shape_ = tile_shape(reach, kResultPlanes, most, width, height, device_);
}

void VesselKernel::enqueue(const LevelSource& in, const DeviceClasses& out,
                           cudaStream_t stream) const {
  EarlyLaunch early(device_);
  const cudaLaunchConfig_t config = early.config(shape_.grid(in.columns, in.rows),
                                                 dim3(kTileThreads), stream, shape_.shared_bytes());
  check(cudaLaunchKernelEx(&config, shape_.levels ? &vessel_kernel<true> : &vessel_kernel<false>,
                           in, weights_.get(), scales_, rule_, shape_, out),
        "launching vesselness");
}

}  // namespace equalux::cuda
