#include "cuda/device/dependent_launch.cuh"
#include "cuda/device/running_sum.cuh"
#include "cuda/equalize/deep/deep_stages.h"
#include "cuda/equalize/limited_curve.cuh"
#include "cuda/runtime/check.h"
#include "src/equalize/fixed_curve.h"
#include "src/equalize/saturation.h"

namespace equalux::cuda {
namespace {

constexpr int kScanWarps = kDeepScanBlock / kLanes;

/// First step of the scan of 16-bit values: one thread per value adds up its counters of all
/// copies, clears them for the next frame, and computes the inclusive prefix sum within its block.
__global__ void __launch_bounds__(kDeepScanBlock) deep_sums_kernel(DeepTables tables) {
  __shared__ std::uint32_t warp_sums[kScanWarps];
  __shared__ std::uint32_t darkest;
  const std::uint32_t v = blockIdx.x * kDeepScanBlock + threadIdx.x;
  if (threadIdx.x == 0) darkest = tables.levels;
  wait_then_release();
  std::uint32_t count = 0;
  if (v < tables.levels) {
    for (std::uint32_t copy = 0; copy < tables.copies; ++copy) {
      std::uint32_t& cell = tables.counts[std::size_t{copy} * tables.levels + v];
      count += cell;
      cell = 0;
    }
  }
  const std::uint32_t sum = running_sum<kDeepScanBlock>(count, warp_sums);
  // Finds the first value with a count: its sum equals its count.
  if (count != 0 && sum == count) darkest = v;
  __syncthreads();
  if (v < tables.levels) tables.sums[v] = sum;
  if (threadIdx.x == kDeepScanBlock - 1) {
    tables.block_sums[blockIdx.x] = sum;
    tables.block_darkest[blockIdx.x] = darkest;
  }
}

/// Computes the sum of all blocks before each block, one thread per block. A barrier must follow.
__device__ void sum_blocks(const DeepTables& tables, std::uint32_t* before) {
  if (threadIdx.x >= gridDim.x) return;
  std::uint32_t sum = 0;
  for (std::uint32_t b = 0; b < threadIdx.x; ++b)
    sum += tables.block_sums[b];
  before[threadIdx.x] = sum;
}

/// Computes W and the gain of each value, one thread each; cumulative(v) is the sum up to the end
/// of v's bin.
template <typename Cumulative>
__device__ void make_curve(const DeepTables& tables, const DeepSamples& form,
                           const CurveScale& scale, const Cumulative& cumulative,
                           unsigned long long* curve_sums) {
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

/// Computes the curve of 16-bit values, one thread each. Each block adds up the sums of the blocks
/// before, which is cheaper than another launch.
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
  make_curve(tables, form, scale, cumulative, curve_sums);
}

/// Computes the curve of up to 12 bits, one thread per value. Every block scans all counts in
/// shared memory, which is cheaper than another launch.
__global__ void __launch_bounds__(kDeepScanBlock)
    deep_small_curve_kernel(DeepTables tables, Scaler scaler, DeepSamples form,
                            unsigned long long* curve_sums) {
  constexpr int kEach = kDeepSharedLevels / kDeepScanBlock;
  __shared__ std::uint32_t warp_sums[kScanWarps];
  __shared__ std::uint32_t sums[kDeepSharedLevels];
  __shared__ std::uint32_t darkest;
  __shared__ CurveScale scale;
  wait_then_release();
  std::uint32_t count[kEach];
  std::uint32_t own = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const std::uint32_t v = kEach * threadIdx.x + i;
    count[i] = v < tables.levels ? tables.counts[v] : 0;
    own += count[i];
  }
  std::uint32_t sum = running_sum<kDeepScanBlock>(own, warp_sums) - own;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const std::uint32_t v = kEach * threadIdx.x + i;
    sums[v] = sum += count[i];
    // Finds the first value with a count: its sum equals its count.
    if (count[i] != 0 && sum == count[i]) darkest = v;
  }
  __syncthreads();
  const auto cumulative = [&](std::uint32_t v) { return sums[tables.bin_ends[v]]; };
  if (threadIdx.x == 0)
    scale = curve_scale(scaler, cumulative(0), cumulative(darkest), sums[kDeepSharedLevels - 1]);
  __syncthreads();
  make_curve(tables, form, scale, cumulative, curve_sums);
}

/// Returns the line of a value, which is a special one for v = 0.
__device__ DeepLine line_at(std::uint32_t level, std::uint32_t factor, std::uint32_t v,
                            std::int32_t depth, bool yuv) {
  return v == 0 ? deep_line_of_black(factor, yuv) : deep_line(level, factor, v, depth);
}

/// Computes curve, k and lines of every value from the curve of the coarse levels, with limits and
/// over time. Every block computes the coarse curve for itself in shared memory, which is cheaper
/// than another launch; values between coarse levels are interpolated. Only block 0 writes the
/// history.
__global__ void __launch_bounds__(kDeepScanBlock)
    deep_shaped_curve_kernel(DeepTables tables, DeepSamples form, bool yuv,
                             const __grid_constant__ tone::Frame tone, FactorsBy by,
                             unsigned long long* curve_sums) {
  constexpr int kThreads = kDeepScanBlock;
  __shared__ std::uint32_t warp_sums[kScanWarps];
  __shared__ std::uint32_t coarse[256];  // prefix sums, later W
  __shared__ std::uint32_t factors[256];
  __shared__ std::uint8_t last_of_bin[256];
  __shared__ CurveSteps steps;
  __shared__ CurveState state;
  wait_then_release();
  if (tone.over_time) load_state<kThreads>(state.ahead.history, *tables.history_before);
  copies_commit();
  const std::uint32_t most = coarse_max(form);
  const std::uint32_t count = threadIdx.x <= most ? tables.coarse_counts[threadIdx.x] : 0;
  if (threadIdx.x < 256) last_of_bin[threadIdx.x] = tables.last_of_bin[threadIdx.x];
  if (threadIdx.x == 0) {
    state.tone = tone;
    state.max_value = most;
  }
  const std::uint32_t sum = running_sum<kDeepScanBlock>(count, warp_sums);
  if (threadIdx.x <= most) coarse[threadIdx.x] = sum;
  if (threadIdx.x == most) state.per_pixel = tone::kWhole / static_cast<double>(sum);
  copies_wait<0>();
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
  if (saturates && threadIdx.x <= most) {
    factors[threadIdx.x] =
        by == FactorsBy::results
            ? saturation::factor_of_result(tone.saturation, coarse, threadIdx.x, most)
            : saturation::factor_at(tone.saturation, coarse, threadIdx.x, most);
  }
  __syncthreads();
  const std::uint32_t v = blockIdx.x * kDeepScanBlock + threadIdx.x;
  if (v >= tables.levels) return;
  const std::uint32_t level = deep_level_between(form, coarse, v);
  if (saturates) {
    const std::uint32_t factor = deep_factor_between(form, factors, v);
    tables.factors[v] = factor;
    if (tables.lines != nullptr) tables.lines[v] = line_at(level, factor, v, form.depth, yuv);
  }
  tables.curve[v] = level;
  tables.gains[v] = deep_gain(level, v, form.depth);
}

/// Computes the line of each value from W and k, one thread each.
__global__ void __launch_bounds__(kDeepScanBlock)
    deep_lines_kernel(DeepTables tables, std::int32_t depth, bool yuv) {
  wait_then_release();
  const std::uint32_t v = blockIdx.x * kDeepScanBlock + threadIdx.x;
  if (v < tables.levels)
    tables.lines[v] = line_at(tables.curve[v], tables.factors[v], v, depth, yuv);
}

unsigned scan_blocks(const DeepTables& tables) {
  return (tables.levels + kDeepScanBlock - 1) / kDeepScanBlock;
}

}  // namespace

void deep_shaped_curve(const DeepTables& tables, const DeepFrame& frame, const tone::Frame& tone,
                       FactorsBy by, unsigned long long* curve_sums, const LaunchDevice& device,
                       cudaStream_t stream) {
  launch_early(device, "launching deep_shaped_curve", deep_shaped_curve_kernel,
               dim3(scan_blocks(tables)), dim3(kDeepScanBlock), stream, tables, frame.form,
               is_yuv(frame), tone, by, curve_sums);
}

void deep_lines(const DeepTables& tables, const DeepFrame& frame, const LaunchDevice& device,
                cudaStream_t stream) {
  launch_early(device, "launching deep_lines", deep_lines_kernel, dim3(scan_blocks(tables)),
               dim3(kDeepScanBlock), stream, tables, frame.form.depth, is_yuv(frame));
}

void deep_curve(const DeepTables& tables, Scaler scaler, const DeepSamples& form,
                unsigned long long* curve_sums, const LaunchDevice& device, cudaStream_t stream) {
  const dim3 blocks(scan_blocks(tables));
  if (tables.levels <= kDeepSharedLevels) {
    return launch_early(device, "launching deep_curve", deep_small_curve_kernel, blocks,
                        dim3(kDeepScanBlock), stream, tables, scaler, form, curve_sums);
  }
  launch_early(device, "launching deep_curve", deep_sums_kernel, blocks, dim3(kDeepScanBlock),
               stream, tables);
  launch_early(device, "launching deep_curve", deep_curve_kernel, blocks, dim3(kDeepScanBlock),
               stream, tables, scaler, form, curve_sums);
}

DeepCount counted_values(const DeepTables& tables) {
  return {tables.counts, tables.levels, 0, tables.copies, tables.wide_counters, nullptr, nullptr};
}

DeepCount counted_coarse_levels(const DeepTables& tables, const DeepSamples& form,
                                const tone::Frame& tone) {
  return {tables.coarse_counts,
          coarse_max(form) + 1,
          static_cast<std::uint32_t>(form.depth - 8),
          1,
          false,
          tone.over_time ? tables.history : nullptr,
          tables.history_before};
}

LaunchDevice deep_device() {
  return LaunchDevice::of(reinterpret_cast<const void*>(&deep_curve_kernel));
}

}  // namespace equalux::cuda
