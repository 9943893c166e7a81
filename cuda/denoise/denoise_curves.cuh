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

/// Bins of texture of a lane, where a warp has a row.
constexpr int kBinsOfLane = denoise::kTextureBins / kLanes;

/// Finds the standard deviation that so many tenths of a row's blocks tell, by a warp, in units of
/// samples. A lane has the counts of kBinsOfLane neighbouring bins, `below` of the bins before;
/// `sum` is not 0.
__device__ __forceinline__ void find_sigma(const std::uint32_t (&counts)[kBinsOfLane],
                                           std::uint64_t below, std::uint64_t sum, int tenths,
                                           int lane, int& sigma) {
#pragma unroll
  for (int i = 0; i < kBinsOfLane; ++i) {
    // Only one lane has the first bin that completes the tenths of the blocks.
    if (denoise::ends_tenths(tenths, below, counts[i], sum) &&
        !denoise::ends_tenths(tenths, below, 0, sum)) {
      sigma = denoise::sigma_of(
          denoise::texture_of_tenths(tenths, lane * kBinsOfLane + i, below, counts[i], sum));
    }
    below += counts[i];
  }
}

/// Counts of the rows of a component's histogram, and standard deviations that they tell.
struct NoiseSigmas {
  std::uint64_t counts[denoise::kTextureRows];
  int fifths[denoise::kResidualRows];   ///< by fine, then by coarse textures
  int halves[2 * denoise::kSegments];   ///< by half of the residuals, then by half of the swings
  int nine_tenths[denoise::kSegments];  ///< by nine tenths of the residuals
};

/// Finds what a row of texture bins tells, by a warp; denoise::kUnknown where too few blocks are
/// counted. Merges the counts of the picture before into those of all pictures and clears them for
/// the next one.
__device__ __forceinline__ void read_row(const DenoisePicture& picture,
                                         const DenoiseComponent& component, int row, int lane,
                                         NoiseSigmas& sigmas) {
  NoiseCounts& noise = *component.noise;
  const int first = row * denoise::kTextureBins + lane * kBinsOfLane;
  std::uint32_t all[kBinsOfLane];
  std::uint64_t mine = 0;
#pragma unroll
  for (int i = 0; i < kBinsOfLane; ++i) {
    all[i] = picture.noise_known ? noise.all[first + i] : 0U;
    if (picture.noise_counted) {
      all[i] = denoise::count_after(all[i], noise.picture[first + i]);
      noise.all[first + i] = all[i];
      noise.picture[first + i] = 0;
    }
    mine += all[i];
  }
  std::uint32_t untold = 0;  // blocks that do not tell how strong the noise is
  const bool residuals = row >= denoise::kResidualRows && row < denoise::kSwingRows;
  if (residuals && lane == 0) {
    static_assert(denoise::kNoResidualBin < kBinsOfLane);
    untold = all[denoise::kNoResidualBin];
    mine -= untold;
    all[denoise::kNoResidualBin] = 0;
  }
  std::uint64_t below = 0;
  const std::uint64_t sum = scan_counts(mine, lane, below);
  if (lane == 0) sigmas.counts[row] = sum + untold;
  const bool enough = sum >= denoise::least_count(row, component.in.columns, component.in.rows);
  const auto find = [&](int tenths, int& sigma) {
    if (enough) {
      find_sigma(all, below, sum, tenths, lane, sigma);
    } else if (lane == 0) {
      sigma = denoise::kUnknown;
    }
  };
  if (row < denoise::kResidualRows) {
    find(denoise::kFifth, sigmas.fifths[row]);
  } else {
    find(denoise::kHalf, sigmas.halves[row - denoise::kResidualRows]);
    if (residuals) find(denoise::kNineTenths, sigmas.nine_tenths[row - denoise::kResidualRows]);
  }
}

/// Makes the noise curves of a component by a block of kThreads threads, all of which must call it,
/// from the blocks counted so far or from the given noise. Warps take rows of bins in turn; then
/// gaps are filled, and a thread makes the lines of one segment.
template <int kThreads>
__device__ void make_noise_curves(const DenoisePicture& picture, int component) {
  static_assert(kThreads % kLanes == 0 && kThreads >= denoise::kSegments);
  __shared__ NoiseSigmas sigmas;
  __shared__ int sigma[denoise::kSegments];
  const auto thread = static_cast<int>(threadIdx.x);
  const DenoiseComponent& measured = picture.components[component];
  for (int row = thread / kLanes; picture.noise == 0 && row < denoise::kTextureRows;
       row += kThreads / kLanes)
    read_row(picture, measured, row, thread % kLanes, sigmas);
  __syncthreads();
  if (thread < denoise::kSegments) {
    sigma[thread] = picture.noise;
    if (picture.noise == 0) {
      const int share = denoise::residual_share(sigmas.counts[thread],
                                                sigmas.counts[denoise::kResidualRows + thread]);
      const int fine = sigmas.fifths[thread];
      const int coarse = sigmas.fifths[denoise::kCoarseRows + thread];
      const int told = denoise::segment_sigma(fine, coarse, sigmas.halves[thread],
                                              sigmas.nine_tenths[thread], share, measured.chroma);
      sigma[thread] = denoise::swinging_sigma(
          told, sigmas.halves[denoise::kSegments + thread],
          denoise::most_swinging_sigma(told, fine, coarse, measured.chroma));
    }
  }
  __syncthreads();
  if (thread == 0) denoise::fill_gaps(sigma);
  __syncthreads();
  if (thread < denoise::kSegments) denoise::set_segment(sigma, thread, measured.noise->curves);
}

}  // namespace equalux::cuda
