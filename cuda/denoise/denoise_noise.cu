#include "cuda/denoise/denoise_curves.cuh"
#include "cuda/denoise/denoise_samples.cuh"
#include "cuda/runtime/check.h"
#include "src/denoise/noise_estimate.h"

namespace equalux::cuda {
namespace {

using denoise::kNoiseBlock;
using denoise::kSegments;
using denoise::kTextureBins;

constexpr int kCountThreads = 128;
/// Threads of a block that makes curves: a warp for each segment.
constexpr int kCurveThreads = kSegments * kLanes;

/// Row of noise blocks for row y of the grid. The first picture counts all rows; later ones count
/// each kNoiseTurns-th, in turns.
__device__ __forceinline__ int noise_row(int y, std::uint32_t before) {
  if (before == 0) return y;
  const auto turns = static_cast<int>(denoise::kNoiseTurns);
  const int first = (turns - static_cast<int>(before % denoise::kNoiseTurns)) % turns;
  return first + y * turns;
}

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

/// A column's part of denoise::block_change() of the block from column `first` and row y on, whose
/// samples are given. Sets `weight`, that of the estimate in the block's middle.
__device__ __forceinline__ int column_change(const DenoisePicture& picture,
                                             const DenoiseComponent& component, int first, int y,
                                             int column, const int (&sample)[kNoiseBlock],
                                             int& weight) {
  const int block = (y << component.shift_y) / denoise::kBlock * picture.block_columns +
                    (first << component.shift_x) / denoise::kBlock;
  const denoise::Vector vector = picture.vectors[block];  // the last picture's
  const int then_x = denoise::block_before(first, denoise::phases_of(vector.x, component.shift_x),
                                           component.in.columns);
  const int then_y =
      denoise::block_before(y, denoise::phases_of(vector.y, component.shift_y), component.in.rows);
  weight = component.known.weight.row(then_y + kNoiseBlock / 2)[then_x + kNoiseBlock / 2];
  int change = 0;
#pragma unroll
  for (int k = 0; k < kNoiseBlock; ++k)
    change += abs(sample[k] - component.known.estimate.row(then_y + k)[then_x + column]);
  return change;
}

/// Histogram of noise blocks of 8 x 8 samples by level and by fine and coarse texture, as
/// denoise::block_texture() and denoise::coarse_texture() have them.
///
/// A lane has a column of a noise block, eight lanes have the block: second differences down are in
/// registers, those across come by shuffles. Every second block of a row is counted, and after the
/// first picture every eighth row of blocks: 1 / 16 of the samples are read, and with a coarse
/// texture as many estimates. Blocks of 128 threads share nothing. One atomic in device memory for
/// each noise block and texture.
__global__ void __launch_bounds__(kCountThreads)
    noise_count_kernel(const __grid_constant__ DenoisePicture picture) {
  wait_then_release();
  const DenoiseComponent& component = picture.components[blockIdx.z];
  const int y = noise_row(static_cast<int>(blockIdx.y), picture.before) * kNoiseBlock;
  if (y + kNoiseBlock > component.in.rows) return;
  const auto thread = static_cast<int>(blockIdx.x * kCountThreads + threadIdx.x);
  const int column = thread % kNoiseBlock;
  const int first = thread / kNoiseBlock * (2 * kNoiseBlock);
  const bool exists = first + kNoiseBlock <= component.in.columns;
  int sample[kNoiseBlock];
  int sum = 0;
#pragma unroll
  for (int k = 0; k < kNoiseBlock; ++k) {
    sample[k] = exists ? sample_at(component.in, picture.in_words, first + column, y + k) : 0;
    sum += sample[k];
  }
  int texture = second_differences<1>(sample, column);
  const bool has_estimate = picture.before != 0;
  int spread = 0;
  int change = 0;
  int weight = 0;
  if (has_estimate) {
    spread = second_differences<2>(sample, column);
    if (exists) change = column_change(picture, component, first, y, column, sample, weight);
  }
#pragma unroll
  for (int step = kNoiseBlock / 2; step > 0; step /= 2) {
    sum += __shfl_xor_sync(0xFFFFFFFFU, sum, step);
    texture += __shfl_xor_sync(0xFFFFFFFFU, texture, step);
    spread += __shfl_xor_sync(0xFFFFFFFFU, spread, step);
    change += __shfl_xor_sync(0xFFFFFFFFU, change, step);
  }
  if (!exists || column != 0 || texture < denoise::kLeastTexture) return;
  const int segment = sum / (kNoiseBlock * kNoiseBlock) >> denoise::kKnotShift;
  std::uint32_t* const counts = component.noise->picture;
  atomicAdd(&counts[segment * kTextureBins + denoise::texture_bin(texture)], 1U);
  if (!has_estimate) return;
  const int coarse =
      denoise::coarse_texture(spread, change, picture.tables->weights.certainty[weight]);
  atomicAdd(&counts[(kSegments + segment) * kTextureBins + denoise::texture_bin(coarse)], 1U);
}

/// Noise curves of the first picture: a block for each component, a warp for each segment.
__global__ void __launch_bounds__(kCurveThreads)
    noise_curves_kernel(const __grid_constant__ DenoisePicture picture) {
  wait_then_release();
  make_noise_curves<kCurveThreads>(picture, static_cast<int>(blockIdx.x));
}

}  // namespace

void noise_count(const DenoisePicture& picture, const LaunchDevice& device, cudaStream_t stream) {
  if (!counts_noise(picture)) return;
  const Samples<const std::uint8_t>& most = picture.components[0].in;
  const int rows = most.rows / kNoiseBlock;
  const int blocks = (most.columns + kNoiseBlock) / (2 * kNoiseBlock);
  const auto turns = static_cast<int>(picture.before == 0 ? 1 : denoise::kNoiseTurns);
  const dim3 grid(parts(blocks * kNoiseBlock, kCountThreads), parts(rows, turns),
                  static_cast<unsigned>(picture.count));
  launch_early(device, "launching the noise's counts", noise_count_kernel, grid,
               dim3(kCountThreads), stream, picture);
}

void noise_curves(const DenoisePicture& picture, const LaunchDevice& device, cudaStream_t stream) {
  launch_early(device, "launching the noise's curves", noise_curves_kernel,
               dim3(static_cast<unsigned>(picture.count)), dim3(kCurveThreads), stream, picture);
}

LaunchDevice denoise_device() {
  return LaunchDevice::of(reinterpret_cast<const void*>(&noise_curves_kernel));
}

}  // namespace equalux::cuda
