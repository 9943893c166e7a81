#include "cuda/device/dependent_launch.cuh"
#include "cuda/equalize/deep/deep_cells.cuh"
#include "cuda/equalize/fine_cells.cuh"
#include "cuda/runtime/check.h"

namespace equalux::cuda {
namespace {

/// Blocks a multiprocessor: enough to hide the reads; each clears and adds up a table of its own.
constexpr unsigned kCountBlocksEach = 8;

/// Calls count(v) for every luma sample or pixel of the frame.
template <Sampling kSampling, bool kAligned, typename Count>
__device__ void visit_deep_values(const DeepFrame& frame, Count count) {
  for_each_deep_cell(frame, [&](std::uint32_t row, std::uint32_t column) {
    for_deep_values<kSampling, kAligned>(frame, row, column, count);
  });
}

/// Up to 12 bits: each block counts in its shared memory and adds what it found to device memory.
template <Sampling kSampling, bool kAligned>
__global__ void __launch_bounds__(kDeepBlock)
    deep_histogram_shared_kernel(DeepFrame frame, std::uint32_t* counts, std::uint32_t levels) {
  __shared__ std::uint32_t own[kDeepSharedLevels];
  for (std::uint32_t v = threadIdx.x; v < levels; v += kDeepBlock)
    own[v] = 0;
  wait_then_release();
  __syncthreads();
  visit_deep_values<kSampling, kAligned>(frame, [&](std::int32_t v) { atomicAdd(&own[v], 1U); });
  __syncthreads();
  for (std::uint32_t v = threadIdx.x; v < levels; v += kDeepBlock) {
    if (own[v] != 0) atomicAdd(&counts[v], own[v]);
  }
}

/// The same of reads_fine_cells().
template <bool kPaired>
__global__ void __launch_bounds__(kFineBlock)
    fine_histogram_kernel(const __grid_constant__ DeepFrame frame, std::uint32_t* counts,
                          std::uint32_t levels) {
  __shared__ std::uint32_t own[kDeepSharedLevels];
  for (std::uint32_t v = threadIdx.x; v < levels; v += kFineBlock)
    own[v] = 0;
  wait_then_release();
  __syncthreads();
  const DeepSamples form = fine_form(frame);
  for_each_fine_pair(frame, [&](int row, int pair) {
    const FineCells cells = read_fine_cells<kPaired>(frame, form, row, pair);
#pragma unroll
    for (int line = 0; line < 2; ++line) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        atomicAdd(&own[yuv_value(form.weights, cells.luma[line][i], cells.above[i / 2])], 1U);
    }
  });
  __syncthreads();
  for (std::uint32_t v = threadIdx.x; v < levels; v += kFineBlock) {
    if (own[v] != 0) atomicAdd(&counts[v], own[v]);
  }
}

/// 16 bits: the counters are in device memory, in copies that blocks take in turn, so that a flat
/// frame's blocks do not all wait for one word.
template <Sampling kSampling, bool kAligned>
__global__ void __launch_bounds__(kDeepBlock)
    deep_histogram_global_kernel(DeepFrame frame, std::uint32_t* counts, std::uint32_t levels,
                                 std::uint32_t copies) {
  wait_then_release();
  std::uint32_t* own = counts + std::size_t{blockIdx.x % copies} * levels;
  visit_deep_values<kSampling, kAligned>(frame, [&](std::int32_t v) { atomicAdd(&own[v], 1U); });
}

}  // namespace

void deep_histogram(const DeepFrame& frame, const DeepTables& tables, const LaunchDevice& device,
                    cudaStream_t stream) {
  const unsigned grid = deep_grid(frame, device.multiprocessors, kCountBlocksEach);
  EarlyLaunch launch(device);
  const cudaLaunchConfig_t config = launch.config(dim3(grid), dim3(kDeepBlock), stream);
  if (reads_fine_cells(frame)) {
    static_assert(kFineBlock == kDeepBlock);
    const auto kernel =
        frame.step == 4 ? fine_histogram_kernel<true> : fine_histogram_kernel<false>;
    return check(cudaLaunchKernelEx(&config, kernel, frame, tables.counts, tables.levels),
                 "launching deep_histogram");
  }
  with_deep_cells(frame, [&](auto sampling, auto aligned) {
    constexpr Sampling kSampling = decltype(sampling)::value;
    constexpr bool kAligned = decltype(aligned)::value;
    if (tables.levels <= kDeepSharedLevels) {
      check(cudaLaunchKernelEx(&config, deep_histogram_shared_kernel<kSampling, kAligned>, frame,
                               tables.counts, tables.levels),
            "launching deep_histogram");
    } else {
      check(cudaLaunchKernelEx(&config, deep_histogram_global_kernel<kSampling, kAligned>, frame,
                               tables.counts, tables.levels, tables.copies),
            "launching deep_histogram");
    }
  });
}

}  // namespace equalux::cuda
