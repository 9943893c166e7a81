#pragma once

#include "cuda/denoise/denoise_stages.h"
#include "cuda/device/warp_sum.cuh"

/// Noise curves from the histograms of a picture and of those before it: device functions, as they
/// run in a kernel of their own or in blocks of another one.
namespace equalux::cuda {

/// Inclusive sum over the warp's lanes. `before` becomes the sum of the lanes below this one.
__device__ __forceinline__ std::uint64_t scan_counts(std::uint64_t mine, int lane,
                                                     std::uint64_t& before) {
  unsigned long long sum = mine;
#pragma unroll
  for (int step = 1; step < kLanes; step *= 2) {
    const unsigned long long below = __shfl_up_sync(0xFFFFFFFFU, sum, step);
    if (lane >= step) sum += below;
  }
  before = sum - mine;
  return __shfl_sync(0xFFFFFFFFU, sum, kLanes - 1);
}

/// Finds the standard deviation that a row of texture bins tells, by a warp, in units of samples;
/// denoise::kUnknown where too few blocks are counted. A lane has kBinsOfLane neighbouring bins.
/// Merges the picture's counts into those of all pictures and clears them for the next picture.
__device__ __forceinline__ void find_sigma(bool noise_known, NoiseCounts& noise, int row, int lane,
                                           int& sigma) {
  constexpr int kBinsOfLane = denoise::kTextureBins / kLanes;
  const int first = row * denoise::kTextureBins + lane * kBinsOfLane;
  std::uint32_t all[kBinsOfLane];
  std::uint64_t mine = 0;
#pragma unroll
  for (int i = 0; i < kBinsOfLane; ++i) {
    all[i] =
        denoise::count_after(noise_known ? noise.all[first + i] : 0U, noise.picture[first + i]);
    noise.all[first + i] = all[i];
    noise.picture[first + i] = 0;
    mine += all[i];
  }
  std::uint64_t below = 0;
  const std::uint64_t sum = scan_counts(mine, lane, below);
  if (!denoise::has_enough_blocks(sum)) {
    if (lane == 0) sigma = denoise::kUnknown;
  } else {
#pragma unroll
    for (int i = 0; i < kBinsOfLane; ++i) {
      // Only one lane has the first bin that completes a fifth of the blocks.
      if (denoise::ends_fifth(below, all[i], sum) && !denoise::ends_fifth(below, 0, sum)) {
        sigma = denoise::sigma_of(
            denoise::texture_of_fifth(lane * kBinsOfLane + i, below, all[i], sum));
      }
      below += all[i];
    }
  }
}

/// Makes the noise curves of a component by a block of kThreads threads, all of which must call it,
/// from the blocks counted so far or from the given noise. Warps take rows of bins in turn; then
/// gaps are filled, and a thread makes the lines of one segment.
template <int kThreads>
__device__ void make_noise_curves(const DenoisePicture& picture, int component) {
  static_assert(kThreads % kLanes == 0 && kThreads >= denoise::kSegments);
  __shared__ int textures[denoise::kTextureRows];
  __shared__ int sigma[denoise::kSegments];
  const auto thread = static_cast<int>(threadIdx.x);
  NoiseCounts& noise = *picture.components[component].noise;
  for (int row = thread / kLanes; picture.noise == 0 && row < denoise::kTextureRows;
       row += kThreads / kLanes)
    find_sigma(picture.noise_known, noise, row, thread % kLanes, textures[row]);
  __syncthreads();
  if (thread < denoise::kSegments) {
    const int fine = textures[thread];
    const int coarse = textures[denoise::kSegments + thread];
    const bool both = fine != denoise::kUnknown && coarse != denoise::kUnknown;
    sigma[thread] = picture.noise != 0 ? picture.noise
                    : both             ? denoise::joined_sigma(fine, coarse)
                                       : fine;
  }
  __syncthreads();
  if (thread == 0) denoise::fill_gaps(sigma);
  __syncthreads();
  if (thread < denoise::kSegments) denoise::set_segment(sigma, thread, noise.curves);
}

}  // namespace equalux::cuda
