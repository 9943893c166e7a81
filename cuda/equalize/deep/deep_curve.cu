#include <cub/block/block_scan.cuh>

#include "cuda/device/dependent_launch.cuh"
#include "cuda/equalize/deep/deep_stages.h"
#include "cuda/equalize/limited_curve.cuh"
#include "cuda/runtime/check.h"
#include "src/equalize/fixed_curve.h"
#include "src/equalize/saturation.h"

namespace equalux::cuda {
namespace {

using BlockScan = cub::BlockScan<std::uint32_t, kDeepScanBlock>;

/// A thread a value: its count of all copies, which are cleared for the next frame, and the
/// cumulative sums within its block. kKeepsHistory: for a curve over time, whose blocks all read
/// the history while the first writes it.
template <bool kKeepsHistory>
__global__ void __launch_bounds__(kDeepScanBlock) deep_sums_kernel(DeepTables tables) {
  __shared__ typename BlockScan::TempStorage storage;
  __shared__ std::uint32_t darkest;
  const std::uint32_t v = blockIdx.x * kDeepScanBlock + threadIdx.x;
  if (threadIdx.x == 0) darkest = tables.levels;
  wait_then_release();
  if constexpr (kKeepsHistory) {
    constexpr unsigned kWords = sizeof(tone::History) / sizeof(std::uint32_t);
    if (blockIdx.x == 0) {
      for (unsigned i = threadIdx.x; i < kWords; i += kDeepScanBlock) {
        reinterpret_cast<std::uint32_t*>(tables.history_before)[i] =
            reinterpret_cast<const std::uint32_t*>(tables.history)[i];
      }
    }
  }
  std::uint32_t count = 0;
  if (v < tables.levels) {
    for (std::uint32_t copy = 0; copy < tables.copies; ++copy) {
      std::uint32_t& cell = tables.counts[std::size_t{copy} * tables.levels + v];
      count += cell;
      cell = 0;
    }
  }
  std::uint32_t sum = 0;
  BlockScan(storage).InclusiveSum(count, sum);
  __syncthreads();
  // The first to have something: the sum up to it is its own count.
  if (count != 0 && sum == count) darkest = v;
  __syncthreads();
  if (v < tables.levels) tables.sums[v] = sum;
  if (threadIdx.x == kDeepScanBlock - 1) {
    tables.block_sums[blockIdx.x] = sum;
    tables.block_darkest[blockIdx.x] = darkest;
  }
}

/// Adds up the sums of the blocks before each; a barrier must follow.
__device__ void sum_blocks(const DeepTables& tables, std::uint32_t* before) {
  if (threadIdx.x >= gridDim.x) return;
  std::uint32_t sum = 0;
  for (std::uint32_t b = 0; b < threadIdx.x; ++b)
    sum += tables.block_sums[b];
  before[threadIdx.x] = sum;
}

/// A thread a value: W and gain. Each block adds up the sums of the blocks before.
__global__ void __launch_bounds__(kDeepScanBlock)
    deep_curve_kernel(DeepTables tables, Scaler scaler, DeepSamples form,
                      unsigned long long* curve_sums) {
  __shared__ std::uint32_t before[kDeepScanBlocks];
  __shared__ CurveScale scale;
  const std::uint32_t blocks = gridDim.x;
  wait_then_release();
  sum_blocks(tables, before);
  __syncthreads();
  const auto cumulative = [&](std::uint32_t v) {
    const std::uint32_t end = tables.bin_ends[v];
    return before[end / kDeepScanBlock] + tables.sums[end];
  };
  if (threadIdx.x == 0) {
    std::uint32_t darkest = tables.levels;
    for (std::uint32_t b = 0; b < blocks; ++b)
      darkest = min(darkest, tables.block_darkest[b]);
    const std::uint32_t total = before[blocks - 1] + tables.block_sums[blocks - 1];
    scale = curve_scale(scaler, cumulative(0), cumulative(darkest), total);
  }
  __syncthreads();
  const std::uint32_t most = tables.levels - 1;
  const auto level_of = [&](std::uint32_t v) {
    return deep_curve_level(scale, cumulative(v), v, most);
  };
  if (curve_sums != nullptr && blockIdx.x == 0 && threadIdx.x <= coarse_max(form)) {
    const DeepPlace place = place_of_level(form, threadIdx.x);
    curve_sums[threadIdx.x] +=
        coarse_from_deep(form, place, level_of(place.v), level_of(min(place.v + 1, most)));
  }
  const std::uint32_t v = blockIdx.x * kDeepScanBlock + threadIdx.x;
  if (v >= tables.levels) return;
  const std::uint32_t level = level_of(v);
  tables.curve[v] = level;
  tables.gains[v] = deep_gain(level, v, form.depth);
}

/// The same with the curve of the coarse levels, which every block makes for itself.
__global__ void __launch_bounds__(kDeepScanBlock)
    deep_shaped_curve_kernel(DeepTables tables, DeepSamples form,
                             const __grid_constant__ tone::Frame tone, FactorsBy by,
                             unsigned long long* curve_sums) {
  constexpr int kThreads = kDeepScanBlock;
  __shared__ std::uint32_t before[kDeepScanBlocks];
  __shared__ std::uint32_t coarse[256];  // sums, then W
  __shared__ std::uint32_t factors[256];
  __shared__ std::uint8_t last_of_bin[256];
  __shared__ CurveSteps steps;
  __shared__ CurveState state;
  wait_then_release();
  if (tone.over_time) load_state<kThreads>(state.ahead.history, *tables.history_before);
  copies_commit();
  sum_blocks(tables, before);
  if (threadIdx.x < 256) last_of_bin[threadIdx.x] = tables.last_of_bin[threadIdx.x];
  if (threadIdx.x == 0) {
    state.tone = tone;
    state.max_value = coarse_max(form);
  }
  copies_wait<0>();
  __syncthreads();
  if (threadIdx.x <= state.max_value) {
    const std::uint32_t last = last_of_level(form, threadIdx.x);
    coarse[threadIdx.x] = before[last / kDeepScanBlock] + tables.sums[last];
    if (threadIdx.x == state.max_value) {
      state.per_pixel = tone::kWhole / static_cast<double>(coarse[threadIdx.x]);
    }
  }
  __syncthreads();
  if (tone.over_time && !tone.fresh && state.ahead.history.frames != 0) {
    prepare_curve<kThreads>(last_of_bin, steps, state);
    __syncthreads();
  }
  finish_curve<kThreads>(blockIdx.x == 0 ? tables.history : nullptr, last_of_bin, coarse, steps,
                         state);
  __syncthreads();
  if (curve_sums != nullptr && blockIdx.x == 0 && threadIdx.x <= state.max_value) {
    curve_sums[threadIdx.x] += coarse[threadIdx.x];
  }
  const bool saturates = saturation::changes(tone.saturation);
  if (saturates && threadIdx.x <= state.max_value) {
    factors[threadIdx.x] =
        by == FactorsBy::results
            ? saturation::factor_of_result(tone.saturation, coarse, threadIdx.x, state.max_value)
            : saturation::factor_at(tone.saturation, coarse, threadIdx.x, state.max_value);
  }
  __syncthreads();
  const std::uint32_t v = blockIdx.x * kDeepScanBlock + threadIdx.x;
  if (v >= tables.levels) return;
  if (saturates) tables.factors[v] = deep_factor_between(form, factors, v);
  const std::uint32_t level = deep_level_between(form, coarse, v);
  tables.curve[v] = level;
  tables.gains[v] = deep_gain(level, v, form.depth);
}

unsigned scan_blocks(const DeepTables& tables) {
  return (tables.levels + kDeepScanBlock - 1) / kDeepScanBlock;
}

}  // namespace

void deep_shaped_curve(const DeepTables& tables, const DeepSamples& form, const tone::Frame& tone,
                       FactorsBy by, unsigned long long* curve_sums, const LaunchDevice& device,
                       cudaStream_t stream) {
  const unsigned blocks = scan_blocks(tables);
  const auto sums = tone.over_time ? deep_sums_kernel<true> : deep_sums_kernel<false>;
  EarlyLaunch launch(device);
  const cudaLaunchConfig_t config = launch.config(dim3(blocks), dim3(kDeepScanBlock), stream);
  check(cudaLaunchKernelEx(&config, sums, tables), "launching deep_shaped_curve");
  check(cudaLaunchKernelEx(&config, deep_shaped_curve_kernel, tables, form, tone, by, curve_sums),
        "launching deep_shaped_curve");
}

void deep_curve(const DeepTables& tables, Scaler scaler, const DeepSamples& form,
                unsigned long long* curve_sums, const LaunchDevice& device, cudaStream_t stream) {
  const unsigned blocks = scan_blocks(tables);
  EarlyLaunch launch(device);
  const cudaLaunchConfig_t config = launch.config(dim3(blocks), dim3(kDeepScanBlock), stream);
  check(cudaLaunchKernelEx(&config, deep_sums_kernel<false>, tables), "launching deep_curve");
  check(cudaLaunchKernelEx(&config, deep_curve_kernel, tables, scaler, form, curve_sums),
        "launching deep_curve");
}

LaunchDevice deep_device() {
  return LaunchDevice::of(reinterpret_cast<const void*>(&deep_curve_kernel));
}

}  // namespace equalux::cuda
