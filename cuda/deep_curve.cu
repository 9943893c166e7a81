#include <cub/block/block_scan.cuh>

#include "check.h"
#include "deep_stages.h"

namespace equalux::cuda {
namespace {

using BlockScan = cub::BlockScan<std::uint32_t, kDeepScanBlock>;

/// A thread a value: its count of all copies, which are cleared for the next frame, and the
/// cumulative sums within its block.
__global__ void __launch_bounds__(kDeepScanBlock) deep_sums_kernel(DeepTables tables) {
  __shared__ typename BlockScan::TempStorage storage;
  __shared__ std::uint32_t darkest;
  const std::uint32_t v = blockIdx.x * kDeepScanBlock + threadIdx.x;
  if (threadIdx.x == 0) darkest = tables.levels;
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

/// A thread a value: W and gain. Each block adds up the sums of the blocks before.
__global__ void __launch_bounds__(kDeepScanBlock)
    deep_curve_kernel(DeepTables tables, Scaler scaler, std::int32_t depth) {
  __shared__ std::uint32_t before[kDeepScanBlocks];
  __shared__ CurveScale scale;
  const std::uint32_t blocks = gridDim.x;
  if (threadIdx.x < blocks) {
    std::uint32_t sum = 0;
    for (std::uint32_t b = 0; b < threadIdx.x; ++b)
      sum += tables.block_sums[b];
    before[threadIdx.x] = sum;
  }
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
  const std::uint32_t v = blockIdx.x * kDeepScanBlock + threadIdx.x;
  if (v >= tables.levels) return;
  const std::uint32_t level = deep_curve_level(scale, cumulative(v), v, tables.levels - 1);
  tables.curve[v] = level;
  tables.gains[v] = deep_gain(level, v, depth);
}

}  // namespace

void deep_curve(const DeepTables& tables, Scaler scaler, std::int32_t depth, cudaStream_t stream) {
  const unsigned blocks = (tables.levels + kDeepScanBlock - 1) / kDeepScanBlock;
  deep_sums_kernel<<<blocks, kDeepScanBlock, 0, stream>>>(tables);
  check(cudaGetLastError(), "launching deep_curve");
  deep_curve_kernel<<<blocks, kDeepScanBlock, 0, stream>>>(tables, scaler, depth);
  check(cudaGetLastError(), "launching deep_curve");
}

}  // namespace equalux::cuda
