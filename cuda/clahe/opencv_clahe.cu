#include "cuda/clahe/opencv_clahe.h"
#include "cuda/device/dependent_launch.cuh"
#include "cuda/device/running_sum.cuh"
#include "cuda/runtime/check.h"

namespace equalux::cuda {
namespace {

constexpr int kTileCountThreads = 256;
/// Block size of tables: the levels that a block handles at a time.
constexpr int kTableThreads = 256;
constexpr int kApplyThreads = 128;

/// Loads sample x of a row.
template <bool kWords>
__device__ __forceinline__ std::uint32_t sample_at(const std::uint8_t* row, int x, bool aligned) {
  if constexpr (!kWords) return row[x];
  const std::uint8_t* at = row + 2 * static_cast<std::int64_t>(x);
  if (aligned) return *reinterpret_cast<const std::uint16_t*>(at);
  return at[0] | static_cast<std::uint32_t>(at[1]) << 8;
}

/// Counts one band of a tile's lines per block, including mirrored columns and rows. Neighbouring
/// threads take neighbouring samples. 8-bit levels are counted in shared memory first; 16-bit
/// levels straight in device memory with atomics, since 65,536 counters exceed shared memory.
template <bool kWords>
__global__ void __launch_bounds__(kTileCountThreads)
    opencv_count_kernel(const __grid_constant__ OpencvFrame f) {
  __shared__ std::uint32_t own[256];
  const int tile = static_cast<int>(blockIdx.x);
  const int band = static_cast<int>(blockIdx.y);
  const int thread = static_cast<int>(threadIdx.x);
  std::uint32_t* const counts =
      f.counts + static_cast<std::int64_t>(tile) * static_cast<std::int64_t>(f.rule.bins);
  if constexpr (!kWords) own[thread] = 0;
  wait_then_release();
  __syncthreads();
  const int left = tile % f.tiles_x * f.tile_width;
  const int top = tile / f.tiles_x * f.tile_height;
  const auto line_of = [&](int b) {
    return static_cast<int>(static_cast<std::int64_t>(b) * f.tile_height / f.bands);
  };
  const int begin = line_of(band);
  const std::int64_t pixels = static_cast<std::int64_t>(line_of(band + 1) - begin) * f.tile_width;
  for (std::int64_t i = thread; i < pixels; i += kTileCountThreads) {
    const int y = top + begin + static_cast<int>(i / f.tile_width);
    const int x = left + static_cast<int>(i % f.tile_width);
    const std::uint32_t v =
        sample_at<kWords>(f.plane.from(f.source_y[y]), f.source_x[x], f.aligned);
    atomicAdd(kWords ? counts + v : own + v, 1U);
  }
  if constexpr (!kWords) {
    __syncthreads();
    if (own[thread] != 0) atomicAdd(counts + thread, own[thread]);
  }
}

/// Makes one tile's table per block, kTableThreads levels at a time: first the clipped excess, then
/// the running sum with a carry from step to step. Counters are cleared on the way. There are 256
/// or 65,536 levels, so that all threads take as many steps.
__global__ void __launch_bounds__(kTableThreads)
    opencv_table_kernel(const __grid_constant__ OpencvFrame f) {
  __shared__ std::uint32_t warp_sums[kTableThreads / kLanes];
  const auto bins = static_cast<std::uint32_t>(f.rule.bins);
  const std::size_t first = std::size_t{blockIdx.x} * bins;
  std::uint32_t* const counts = f.counts + first;
  std::uint16_t* const levels = f.levels + first;
  const std::uint32_t limit =
      f.rule.limit > 0 ? static_cast<std::uint32_t>(f.rule.limit) : 0xFFFFFFFFU;
  wait_then_release();
  std::uint32_t above = 0;
  for (std::uint32_t v = threadIdx.x; v < bins; v += kTableThreads) {
    const std::uint32_t count = __ldcg(counts + v);
    above += count - min(count, limit);
  }
  running_sum<kTableThreads>(above, warp_sums);
  const opencv::Spread spread = opencv::spread_of(block_total(warp_sums), bins);
  std::uint32_t before = 0;
  for (std::uint32_t v = threadIdx.x; v < bins; v += kTableThreads) {
    const std::uint32_t count = min(__ldcg(counts + v), limit) + opencv::spread_to(spread, v);
    counts[v] = 0;
    __syncthreads();  // all threads have read the sums of the step before
    const std::uint32_t sum = before + running_sum<kTableThreads>(count, warp_sums);
    before += block_total(warp_sums);
    levels[v] = static_cast<std::uint16_t>(
        opencv::round_even(__fmul_rn(static_cast<float>(sum), f.rule.scale)));
  }
}

/// Interpolates one pixel per thread; a block has 128 neighbours of one row, so that loads and
/// stores of samples are coalesced. The four look-ups in the tiles' tables are loads from L2.
template <bool kWords>
__global__ void __launch_bounds__(kApplyThreads)
    opencv_apply_kernel(const __grid_constant__ OpencvFrame f) {
  const int x = static_cast<int>(blockIdx.x * kApplyThreads + threadIdx.x);
  const auto y = static_cast<int>(blockIdx.y);
  wait_then_release();
  if (x >= f.width) return;
  const OpencvMix column = f.columns[x];
  const OpencvMix row = f.rows[y];
  const std::uint32_t v = sample_at<kWords>(f.plane.from(y), x, f.aligned);
  const auto level = [&](int tile_y, int tile_x) {
    const auto tile = static_cast<std::size_t>(tile_y * f.tiles_x + tile_x);
    return static_cast<float>(__ldcg(f.levels + tile * static_cast<std::size_t>(f.rule.bins) + v));
  };
  const std::int32_t mixed =
      opencv::mixed({level(row.first, column.first), level(row.first, column.second),
                     level(row.second, column.first), level(row.second, column.second)},
                    column.weight, row.weight);
  std::uint8_t* const out = f.plane.to(y);
  if constexpr (!kWords) {
    out[x] = static_cast<std::uint8_t>(mixed);
  } else {
    std::uint8_t* const at = out + 2 * static_cast<std::int64_t>(x);
    if (f.aligned) {
      *reinterpret_cast<std::uint16_t*>(at) = static_cast<std::uint16_t>(mixed);
    } else {
      at[0] = static_cast<std::uint8_t>(mixed);
      at[1] = static_cast<std::uint8_t>(mixed >> 8);
    }
  }
}

unsigned tiles_of(const OpencvFrame& frame) {
  return static_cast<unsigned>(frame.tiles_x * frame.tiles_y);
}

}  // namespace

void opencv_clahe_count(const OpencvFrame& frame, const LaunchDevice& device, cudaStream_t stream) {
  launch_early(device, "launching the counting of OpenCV's tiles",
               frame.words ? opencv_count_kernel<true> : opencv_count_kernel<false>,
               dim3(tiles_of(frame), static_cast<unsigned>(frame.bands)), dim3(kTileCountThreads),
               stream, frame);
}

void opencv_clahe_tables(const OpencvFrame& frame, const LaunchDevice& device,
                         cudaStream_t stream) {
  launch_early(device, "launching the tables of OpenCV's tiles", opencv_table_kernel,
               dim3(tiles_of(frame)), dim3(kTableThreads), stream, frame);
}

void opencv_clahe_apply(const OpencvFrame& frame, const LaunchDevice& device, cudaStream_t stream) {
  const auto across = static_cast<unsigned>((frame.width + kApplyThreads - 1) / kApplyThreads);
  launch_early(device, "launching the mixing of OpenCV's tiles",
               frame.words ? opencv_apply_kernel<true> : opencv_apply_kernel<false>,
               dim3(across, static_cast<unsigned>(frame.height)), dim3(kApplyThreads), stream,
               frame);
}

LaunchDevice opencv_clahe_device() {
  return LaunchDevice::of(reinterpret_cast<const void*>(&opencv_table_kernel));
}

}  // namespace equalux::cuda
