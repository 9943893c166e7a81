#include "cuda/denoise/denoise_curves.cuh"
#include "cuda/denoise/denoise_samples.cuh"
#include "cuda/runtime/check.h"
#include "src/denoise/noise_estimate.h"

namespace equalux::cuda {
namespace {

using denoise::kNoiseBlock;
using denoise::kTextureBins;

constexpr int kCountThreads = 128;
/// Blocks of threads that make curves: a warp for each row of the histograms.
constexpr int kCurveThreads = 256;
constexpr int kCurveBlocks = kMostComponents * denoise::kTextureRows * kLanes / kCurveThreads;

/// A column's part of denoise::second_differences(); the columns beside it are in other lanes.
template <int kDistance>
__device__ __forceinline__ int second_differences(const int (&sample)[kNoiseBlock], int column) {
  int sum = 0;
#pragma unroll
  for (int k = kDistance; k + kDistance < kNoiseBlock; ++k) {
    const int down = sample[k - kDistance] - 2 * sample[k] + sample[k + kDistance];
    const int left = __shfl_up_sync(0xFFFFFFFFU, down, kDistance);
    const int right = __shfl_down_sync(0xFFFFFFFFU, down, kDistance);
    if (column >= kDistance && column + kDistance < kNoiseBlock)
      sum += abs(left - 2 * down + right);
  }
  return sum;
}

/// Sum over the eight lanes that have a block, in all of them.
__device__ __forceinline__ int block_sum(int mine) {
#pragma unroll
  for (int step = kNoiseBlock / 2; step > 0; step /= 2)
    mine += __shfl_xor_sync(0xFFFFFFFFU, mine, step);
  return mine;
}

/// Sum of magnitudes of a column's numbers less `mean`.
__device__ __forceinline__ int magnitudes(const int (&numbers)[kNoiseBlock], int mean) {
  unsigned sum = 0;
#pragma unroll
  for (int k = 0; k < kNoiseBlock; ++k)
    sum = __sad(numbers[k], mean, sum);
  return static_cast<int>(sum);
}

/// Column of a noise block in a lane; eight lanes have the block, a warp has four of a row.
struct NoiseColumn {
  int column;  ///< in the block
  int first;   ///< first column of the block
  int y;       ///< first row
  bool exists;
  int sample[kNoiseBlock];

  /// Loads the column of this thread, in row `row` of noise blocks.
  __device__ __forceinline__ NoiseColumn(const DenoisePicture& picture,
                                         const DenoiseComponent& component, int row) {
    const auto thread = static_cast<int>(blockIdx.x * kCountThreads + threadIdx.x);
    column = thread % kNoiseBlock;
    first = denoise::kNoiseLeft + thread / kNoiseBlock * denoise::kNoiseStep;
    y = row * kNoiseBlock;
    exists = first + kNoiseBlock <= component.in.columns && y + kNoiseBlock <= component.in.rows;
#pragma unroll
    for (int k = 0; k < kNoiseBlock; ++k)
      sample[k] = exists ? sample_at(component.in, picture.in_words, first + column, y + k) : 0;
  }

  [[nodiscard]] __device__ __forceinline__ int level() const {
    int sum = 0;
#pragma unroll
    for (int k = 0; k < kNoiseBlock; ++k)
      sum += sample[k];
    return block_sum(sum) / (kNoiseBlock * kNoiseBlock);
  }
};

/// Counts a block of a level in a bin of the rows of a kind.
__device__ __forceinline__ void count_bin(NoiseCounts& noise, int kind, int level, int bin) {
  const int row = kind + (level >> denoise::kKnotShift);
  atomicAdd(&noise.picture[row * kTextureBins + bin], 1U);
}
/// Counts a texture of a level.
__device__ __forceinline__ void count(NoiseCounts& noise, int kind, int level, int texture) {
  count_bin(noise, kind, level, denoise::texture_bin(texture));
}

/// Histogram of all noise blocks of 8 x 8 samples by level and denoise::block_texture(), for a
/// picture before which no noise is known.
///
/// A lane has a column of a noise block, eight lanes have the block: second differences down are in
/// registers, those across come by shuffles. Every second block of a row is counted. Blocks of 128
/// threads share nothing. One atomic in device memory for each noise block.
__global__ void __launch_bounds__(kCountThreads)
    noise_count_alone_kernel(const __grid_constant__ DenoisePicture picture) {
  wait_then_release();
  const DenoiseComponent& component = picture.components[blockIdx.z];
  const NoiseColumn block(picture, component, static_cast<int>(blockIdx.y));
  const int level = block.level();
  const int texture = block_sum(second_differences<1>(block.sample, block.column));
  if (block.exists && block.column == 0 && texture >= denoise::kLeastTexture)
    count(*component.noise, 0, level, texture);
}

/// Counts the swing of a pair of noise blocks, whose lanes are beside each other.
__device__ __forceinline__ void count_swing(const NoiseColumn& block, int level, int sum,
                                            int weight, const DenoisePicture& picture,
                                            NoiseCounts& noise) {
  const int neighbour = __shfl_down_sync(0xFFFFFFFFU, sum, kNoiseBlock);
  const int weight_there = __shfl_down_sync(0xFFFFFFFFU, weight, kNoiseBlock);
  const int exists_there = __shfl_down_sync(0xFFFFFFFFU, block.exists ? 1 : 0, kNoiseBlock);
  if (exists_there == 0 || threadIdx.x % (2 * kNoiseBlock) != 0) return;
  const int certainty = picture.tables->weights.certainty[min(weight, weight_there)];
  count(noise, denoise::kSwingRows, level, denoise::swing_texture(sum, neighbour, certainty));
}

/// Differences of a block's column from what is known where the picture's vector points, in its
/// light.
struct NoiseChanges {
  int changes[kNoiseBlock] = {};
  int weight = 0;  ///< of the block's estimate
  int sum = 0;     ///< of the block's differences

  __device__ __forceinline__ NoiseChanges(const DenoisePicture& picture,
                                          const DenoiseComponent& component,
                                          const NoiseColumn& block) {
    if (block.exists) {
      const int motion = (block.y << component.shift_y) / denoise::kBlock * picture.block_columns +
                         (block.first << component.shift_x) / denoise::kBlock;
      const denoise::Vector vector = picture.vectors[motion];
      const int gain = blockIdx.z == 0 ? picture.gains[motion] : 0;
      const int then_x = denoise::block_before(
          block.first, denoise::phases_of(vector.x, component.shift_x), component.in.columns);
      const int then_y = denoise::block_before(
          block.y, denoise::phases_of(vector.y, component.shift_y), component.in.rows);
      weight = component.known.weight.row(then_y + kNoiseBlock / 2)[then_x + kNoiseBlock / 2];
#pragma unroll
      for (int k = 0; k < kNoiseBlock; ++k) {
        const int old = component.known.estimate.row(then_y + k)[then_x + block.column];
        changes[k] = block.sample[k] - denoise::lightened(old, gain);
      }
    }
#pragma unroll
    for (int k = 0; k < kNoiseBlock; ++k)
      sum += changes[k];
    sum = block_sum(sum);
  }
};

/// Trend of a block, the last time that it was measured.
__device__ __forceinline__ denoise::Trend& trend_of(const DenoiseComponent& component,
                                                    const NoiseColumn& block) {
  const int across = denoise::noise_blocks_across(component.in.columns);
  return component.trends[block.y / kNoiseBlock * across +
                          (block.first - denoise::kNoiseLeft) / denoise::kNoiseStep];
}

/// Counts the trends of the thread's noise block, of row `row` of blocks, in this picture and in
/// the one before.
__device__ __forceinline__ void count_trends(const DenoisePicture& picture,
                                             const DenoiseComponent& component, int row) {
  const NoiseColumn block(picture, component, row);
  const int level = block.level();
  const denoise::Trend now = denoise::trend_of(NoiseChanges(picture, component, block).sum);
  if (!block.exists || block.column != 0 || now == denoise::Trend::none) return;
  const denoise::Trend before = trend_of(component, block);
  if (before == denoise::Trend::none) return;
  count_bin(*component.noise, denoise::kChangeRows, level, denoise::trend_bin(before, now));
}

/// Counts the thread's noise block, of row `row` of blocks, by fine and coarse texture, by
/// residual, by swing and by change, and keeps its trend.
__device__ __forceinline__ void count_beside_estimate(const DenoisePicture& picture,
                                                      const DenoiseComponent& component, int row) {
  const NoiseColumn block(picture, component, row);
  const int level = block.level();
  const int texture = block_sum(second_differences<1>(block.sample, block.column));
  const int spread = block_sum(second_differences<2>(block.sample, block.column));
  const NoiseChanges beside(picture, component, block);
  count_swing(block, level, beside.sum, beside.weight, picture, *component.noise);
  const int mean = denoise::mean_change(beside.sum);
  int before[kNoiseBlock];
#pragma unroll
  for (int k = 0; k < kNoiseBlock; ++k)
    before[k] = block.sample[k] - beside.changes[k];
  const denoise::NoiseSums sums{spread,
                                block_sum(magnitudes(beside.changes, 0)),
                                block_sum(magnitudes(beside.changes, mean)),
                                block_sum(magnitudes(block.sample, level)),
                                block_sum(magnitudes(before, level - mean)),
                                beside.sum};
  if (!block.exists || block.column != 0) return;
  if (!component.chroma) trend_of(component, block) = denoise::trend_of(sums.sum);
  if (texture < denoise::kLeastTexture) return;
  const int certainty = picture.tables->weights.certainty[beside.weight];
  count(*component.noise, 0, level, texture);
  count(*component.noise, denoise::kCoarseRows, level,
        denoise::coarse_texture(spread, sums.change, certainty));
  if (!component.chroma) {
    count(*component.noise, denoise::kChangeRows, level,
          denoise::change_texture(sums.change, certainty));
  }
  if (denoise::is_noisy(sums)) {
    count(*component.noise, denoise::kResidualRows, level,
          denoise::residual_texture(sums, certainty));
  }
}

/// Histogram of noise blocks of 8 x 8 samples by level, by fine and coarse texture, residual and
/// change, as denoise::noise_sums() has them, and of pairs of them by swing; and of the blocks that
/// the picture before has counted by trend.
///
/// Lanes are those of noise_count_alone_kernel. Every second block of every eighth row of blocks is
/// counted: 1 / 16 of the samples and as many estimates are read, and of components other than
/// chroma as many again for the trends. Up to four atomics in device memory for each noise block,
/// one for each pair and one for each trend.
///
/// Runs beside the kernel ahead, which began after the vectors were there: the picture, the planes
/// known before it, vectors and gains are not written by either. Trends are of other rows than
/// those that this picture writes. Only the counts of the next picture need this one's, so kernels
/// behind start early, too; they wait for both.
__global__ void __launch_bounds__(kCountThreads)
    noise_count_kernel(const __grid_constant__ DenoisePicture picture, int rows) {
  release();
  constexpr auto kTurns = static_cast<int>(denoise::kNoiseTurns);
  const DenoiseComponent& component = picture.components[blockIdx.z];
  const int first = denoise::first_noise_row(picture.before);
  const auto row = static_cast<int>(blockIdx.y);
  if (row < rows) {
    count_beside_estimate(picture, component, first + row * kTurns);
  } else if (!component.chroma) {
    count_trends(picture, component, (first + 1) % kTurns + (row - rows) * kTurns);
  }
  wait_for_results();
}

/// Noise curves of the first picture.
__global__ void __launch_bounds__(kCurveThreads)
    noise_curves_kernel(const __grid_constant__ DenoisePicture picture) {
  wait_then_release();
  make_noise_curves<kCurveThreads>(picture, static_cast<int>(blockIdx.x), kCurveBlocks);
}

/// Grid of blocks of threads for every `turns`-th row of noise blocks.
dim3 noise_grid(const DenoisePicture& picture, int turns) {
  const Samples<const std::uint8_t>& most = picture.components[0].in;
  return dim3(parts(denoise::noise_blocks_across(most.columns) * kNoiseBlock, kCountThreads),
              parts(most.rows / kNoiseBlock, turns), static_cast<unsigned>(picture.count));
}

}  // namespace

void noise_count_alone(const DenoisePicture& picture, const LaunchDevice& device,
                       cudaStream_t stream) {
  for (int c = 0; c < picture.count; ++c) {
    NoiseCounts* const noise = picture.components[c].noise;
    check(cudaMemsetAsync(noise->picture, 0, sizeof noise->picture, stream),
          "clearing the noise's counts");
    const DenoiseComponent& component = picture.components[c];
    const int blocks = denoise::noise_blocks(component.in.columns, component.in.rows);
    if (component.trends == nullptr || blocks == 0) continue;
    check(cudaMemsetAsync(component.trends, 0, static_cast<std::size_t>(blocks), stream),
          "clearing the noise's trends");
  }
  const dim3 grid = noise_grid(picture, 1);
  if (grid.x * grid.y == 0) return;
  launch_early(device, "launching the first noise's counts", noise_count_alone_kernel, grid,
               dim3(kCountThreads), stream, picture);
}

void noise_count(const DenoisePicture& picture, const LaunchDevice& device, cudaStream_t stream) {
  dim3 grid = noise_grid(picture, static_cast<int>(denoise::kNoiseTurns));
  if (grid.x * grid.y == 0) return;
  const auto rows = static_cast<int>(grid.y);
  grid.y *= 2;  // and those of the picture before
  launch_early(device, "launching the noise's counts", noise_count_kernel, grid,
               dim3(kCountThreads), stream, picture, rows);
}

void noise_curves(const DenoisePicture& picture, const LaunchDevice& device, cudaStream_t stream) {
  launch_early(device, "launching the noise's curves", noise_curves_kernel, dim3(kCurveBlocks),
               dim3(kCurveThreads), stream, picture);
}

LaunchDevice denoise_device() {
  return LaunchDevice::of(reinterpret_cast<const void*>(&noise_curves_kernel));
}

}  // namespace equalux::cuda
