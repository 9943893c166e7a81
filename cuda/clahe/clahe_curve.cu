#include "cuda/clahe/clahe.h"
#include "cuda/clahe/clahe_samples.cuh"
#include "cuda/device/running_sum.cuh"
#include "cuda/equalize/limited_curve.cuh"
#include "cuda/runtime/check.h"
#include "src/clahe/deep_tiles.h"
#include "src/clahe/tile_curves.h"
#include "src/equalize/fixed_curve.h"

namespace equalux::cuda {
namespace {

/// Block size: one thread for each level.
constexpr int kCurveThreads = 256;

/// Makes one tile's curve per block. With tracking over time, the part of the curve that depends
/// only on earlier frames is prepared before the wait, while the tiles are still being counted.
__global__ void __launch_bounds__(kCurveThreads)
    clahe_curve_kernel(const __grid_constant__ ClaheFrame f) {
  __shared__ CurveSteps steps;
  __shared__ CurveState state;
  __shared__ std::uint32_t cdf[256];
  __shared__ std::uint8_t last_of_bin[256];  // each level has a bin of its own
  __shared__ std::uint32_t warp_sums[kCurveThreads / kLanes];
  __shared__ std::uint32_t first_count;  // count of the first level that is not empty
  const unsigned thread = threadIdx.x;
  const unsigned tile = blockIdx.x;
  TileState& kept = f.states[tile];
  last_of_bin[thread] = static_cast<std::uint8_t>(thread);
  if (thread == 0) {
    state.tone = f.tone;
    state.max_value = static_cast<std::uint32_t>(f.weights.luma_max);
  }
  if (f.tone.over_time) {
    load_state<kCurveThreads>(state.ahead.history, kept.history);
    copies_commit();
    copies_wait<0>();
  }
  __syncthreads();
  if (f.tone.over_time && !f.tone.fresh && state.ahead.history.frames != 0) {
    prepare_curve<kCurveThreads>(last_of_bin, steps, state);
    __syncthreads();
  }
  wait_then_release();
  const std::uint32_t count = __ldcg(kept.counts + thread);
  kept.counts[thread] = 0;
  const std::uint32_t sum = running_sum<kCurveThreads>(count, warp_sums);
  cdf[thread] = sum;
  if (count != 0 && count == sum) first_count = count;
  if (thread == kCurveThreads - 1) state.per_pixel = tone::kWhole / static_cast<double>(sum);
  __syncthreads();
  std::uint32_t curve = 0;
  if (!f.tone.over_time && !tone::bounds(f.tone.limits)) {
    const CurveScale scale =
        curve_scale(f.tone.limits.scaler, cdf[0], first_count, cdf[kCurveThreads - 1]);
    if (thread <= state.max_value) curve = plain_level(scale, sum, thread, state.max_value);
  } else {
    finish_curve<kCurveThreads>(&kept.history, last_of_bin, cdf, steps, state);
    if (thread <= state.max_value) curve = cdf[thread];
  }
  if (f.curve_sums != nullptr) atomicAdd(f.curve_sums + thread, curve);
  f.levels[256 * tile + thread] = static_cast<std::uint16_t>(
      f.deep ? deep_tiles::curve_level(thread, curve) : tiles::curve_level(thread, curve));
}

/// Computes the saturation factor of each level, one thread each, in a single block.
__global__ void __launch_bounds__(kCurveThreads)
    clahe_factors_kernel(saturation::Rule rule, std::uint32_t count, std::uint32_t max_value,
                         unsigned long long* sums, std::uint16_t* factors) {
  __shared__ std::uint32_t mean[256];
  mean[threadIdx.x] = tiles::mean_level(sums[threadIdx.x], count);
  sums[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x > max_value) return;
  factors[threadIdx.x] =
      static_cast<std::uint16_t>(saturation::factor_of_result(rule, mean, threadIdx.x, max_value));
}

}  // namespace

void clahe_factors(const ClaheFrame& frame, std::uint16_t* factors, cudaStream_t stream) {
  clahe_factors_kernel<<<1, kCurveThreads, 0, stream>>>(
      frame.tone.saturation, static_cast<std::uint32_t>(frame.tiles_x * frame.tiles_y),
      static_cast<std::uint32_t>(frame.weights.luma_max), frame.curve_sums, factors);
  check(cudaGetLastError(), "launching clahe_factors");
}

void clahe_curve(const ClaheFrame& frame, const LaunchDevice& device, cudaStream_t stream) {
  const auto tiles = static_cast<unsigned>(frame.tiles_x * frame.tiles_y);
  launch_early(device, "launching the curves of tiles", clahe_curve_kernel, dim3(tiles),
               dim3(kCurveThreads), stream, frame);
}

}  // namespace equalux::cuda
