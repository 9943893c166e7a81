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

/// Bins of texture of a lane, where a warp has a row. The first lane has those of no texture.
constexpr int kBinsOfLane = denoise::kTextureBins / kLanes;
constexpr int kUntoldBins = denoise::kKeptBin + 1;
static_assert(kUntoldBins <= kBinsOfLane && denoise::kNoResidualBin < kUntoldBins);

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

/// Loads a lane's counts of neighbouring bins.
__device__ __forceinline__ void load_pairs(const std::uint32_t* first,
                                           std::uint32_t (&counts)[kBinsOfLane]) {
  static_assert(kBinsOfLane % 2 == 0);
#pragma unroll
  for (int i = 0; i < kBinsOfLane; i += 2) {
    const uint2 pair = *reinterpret_cast<const uint2*>(first + i);
    counts[i] = pair.x;
    counts[i + 1] = pair.y;
  }
}

/// Finds what a row of texture bins tells, by a warp; denoise::kUnknown where too few blocks are
/// counted. Merges the counts of the picture before into those of all pictures and clears them for
/// the next one.
__device__ __forceinline__ void read_row(const DenoisePicture& picture,
                                         const DenoiseComponent& component, int row, int lane) {
  NoiseCounts& noise = *component.noise;
  NoiseSigmas& sigmas = noise.told;
  const int first = row * denoise::kTextureBins + lane * kBinsOfLane;
  std::uint32_t all[kBinsOfLane] = {};
  std::uint32_t last[kBinsOfLane] = {};
  if (picture.noise_known) load_pairs(noise.all + first, all);
  if (picture.noise_counted) load_pairs(noise.picture + first, last);
  std::uint64_t mine = 0;
  std::uint32_t bits = 0;
#pragma unroll
  for (int i = 0; i < kBinsOfLane; ++i) {
    bits |= all[i] | last[i];
    if (picture.noise_counted) all[i] = denoise::count_after(all[i], last[i]);
    mine += all[i];
  }
  const bool any = __any_sync(0xFFFFFFFFU, bits != 0);  // not of levels that no picture has
  if (picture.noise_counted && (any || !picture.noise_known)) {
#pragma unroll
    for (int i = 0; i < kBinsOfLane; ++i) {
      noise.all[first + i] = all[i];
      noise.picture[first + i] = 0;
    }
  }
  const bool changes = row >= denoise::kChangeRows;
  std::uint32_t untold = 0;  // blocks that do not tell how strong the noise is
  if (lane == 0) {
    const int told = denoise::first_texture_bin(row);
    if (changes) {
      sigmas.kept[row - denoise::kChangeRows] = all[denoise::kKeptBin];
      sigmas.turned[row - denoise::kChangeRows] = all[denoise::kTurnedBin];
    }
#pragma unroll
    for (int i = 0; i < kUntoldBins; ++i) {
      if (i >= told) continue;
      untold += all[i];
      all[i] = 0;
    }
    mine -= untold;
  }
  std::uint64_t below = 0;
  std::uint64_t sum = 0;
  if (any) sum = scan_counts(mine, lane, below);
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
  } else if (changes) {
    find(denoise::kTenth, sigmas.tenths[row - denoise::kChangeRows]);
  } else {
    find(denoise::kHalf, sigmas.halves[row - denoise::kResidualRows]);
    if (row < denoise::kSwingRows)
      find(denoise::kNineTenths, sigmas.nine_tenths[row - denoise::kResidualRows]);
  }
}

/// denoise::white_share() of the trends at all levels; chroma has none.
__device__ __forceinline__ int white_share(const NoiseSigmas& sigmas, bool chroma) {
  if (chroma) return 0;
  std::uint64_t kept = 0;
  std::uint64_t turned = 0;
#pragma unroll
  for (int i = 0; i < denoise::kSegments; ++i) {
    kept += __ldcg(sigmas.kept + i);
    turned += __ldcg(sigmas.turned + i);
  }
  return denoise::white_share(kept, turned);
}

/// Standard deviation of a segment's noise, or denoise::kUnknown.
__device__ __forceinline__ int sigma_of_segment(const NoiseSigmas& sigmas, int segment,
                                                bool chroma) {
  const int fine = __ldcg(sigmas.fifths + segment);
  const int coarse = __ldcg(sigmas.fifths + denoise::kCoarseRows + segment);
  const int share = denoise::residual_share(
      __ldcg(sigmas.counts + segment), __ldcg(sigmas.counts + denoise::kResidualRows + segment));
  const int told = denoise::segment_sigma(fine, coarse, __ldcg(sigmas.halves + segment),
                                          __ldcg(sigmas.nine_tenths + segment), share, chroma);
  const int floor = chroma ? denoise::kUnknown : __ldcg(sigmas.tenths + segment);
  const int swing = __ldcg(sigmas.halves + denoise::kSegments + segment);
  const int floor_share = min(white_share(sigmas, chroma), denoise::narrow_share(floor, swing));
  const int most = denoise::most_swinging_sigma(told, fine, coarse, floor, floor_share, chroma);
  return denoise::swinging_sigma(told, swing, most);
}

/// Interpolates unknown segments between known ones, by a warp.
__device__ __forceinline__ void fill_gaps(int (&sigma)[denoise::kSegments], int lane) {
  const bool exists = lane < denoise::kSegments;
  const int mine = exists ? sigma[lane] : denoise::kUnknown;
  const unsigned known = __ballot_sync(0xFFFFFFFFU, mine != denoise::kUnknown);
  if (!exists || mine != denoise::kUnknown) return;
  const unsigned below = known & ((1U << lane) - 1);
  const unsigned above = known >> lane;
  const int left = below == 0 ? denoise::kUnknown : kLanes - 1 - __clz(static_cast<int>(below));
  const int right = above == 0 ? denoise::kUnknown : lane + __ffs(static_cast<int>(above)) - 1;
  sigma[lane] = denoise::between_known(sigma, left, lane, right);
}

/// Makes the noise curves of all components by `blocks` blocks of kThreads threads, of which this
/// is number `block`, from the blocks of samples counted so far or from the given noise. All
/// threads must call it. Warps share the rows of all histograms, as each takes a long chain of
/// instructions; the block of threads that finishes last makes the lines of all segments.
template <int kThreads>
__device__ void make_noise_curves(const DenoisePicture& picture, int block, int blocks) {
  constexpr int kWarps = kThreads / kLanes;
  static_assert(kThreads % kLanes == 0 && kWarps >= kMostComponents);
  __shared__ int sigma[kMostComponents][denoise::kSegments];
  __shared__ bool is_last;
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kLanes;
  const int warp = thread / kLanes;
  if (picture.noise == 0) {
    for (int i = block * kWarps + warp; i < picture.count * denoise::kTextureRows;
         i += blocks * kWarps) {
      const int row = i / picture.count;
      const DenoiseComponent& component = picture.components[i % picture.count];
      if (!component.chroma || row < denoise::kChangeRows) read_row(picture, component, row, lane);
    }
    __threadfence();
  }
  __syncthreads();
  std::uint32_t& ready = picture.components[0].noise->ready;
  if (thread == 0) is_last = atomicAdd(&ready, 1U) + 1 == static_cast<std::uint32_t>(blocks);
  __syncthreads();
  if (!is_last || warp >= picture.count) return;
  if (thread == 0) ready = 0;
  __threadfence();
  const DenoiseComponent& component = picture.components[warp];
  if (lane < denoise::kSegments) {
    sigma[warp][lane] = picture.noise != 0
                            ? picture.noise
                            : sigma_of_segment(component.noise->told, lane, component.chroma);
  }
  __syncwarp();
  fill_gaps(sigma[warp], lane);
  __syncwarp();
  if (lane < denoise::kSegments) denoise::set_segment(sigma[warp], lane, component.noise->curves);
}

}  // namespace equalux::cuda
