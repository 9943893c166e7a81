#include <algorithm>

#include "cuda/runtime/check.h"
#include "cuda/runtime/pick_kernel.h"
#include "cuda/staged/staged_stages.h"
#include "cuda/staged/value_walk.cuh"
#include "src/equalize/tone/tone_curve.h"
#include "src/format/pixel_math.h"

namespace equalux::cuda {
namespace {

/// Finds the count of the first bin that is not empty, which is the first sum above 0, by binary
/// search. The search always ends, because the last sum is the number of pixels, which is never 0.
__device__ std::uint32_t first_nonempty(const std::uint32_t* cdf, std::uint32_t bins) {
  std::uint32_t low = 0;
  std::uint32_t high = bins - 1;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (cdf[middle] != 0) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return cdf[low];
}

/// Computes what the scaler subtracts and divides by; the cumulative sums alone determine it.
__device__ CurveScale scale_of(Scaler scaler, const std::uint32_t* cdf, std::uint32_t bins) {
  const std::uint32_t first =
      scaler == Scaler::min_max_nonzero ? first_nonempty(cdf, bins) : cdf[0];
  return curve_scale(scaler, first, first, cdf[bins - 1]);
}

/// Maps V with one division per pixel. Threads take values as replace_values() says; shared memory
/// has the bin of each level and the scale, which each block computes once. A scale without a span
/// is the identity and leaves every value as it is.
template <int kInFlight>
__global__ void __launch_bounds__(kMostThreads)
    equalize_divide_kernel(Scaler scaler, const std::uint32_t* cdf, std::uint32_t bins, float* v,
                           std::uint32_t pixels) {
  __shared__ std::uint32_t bin_of_level[kLevels];
  __shared__ CurveScale shared_scale;
  fill_bins(bin_of_level, bins);
  if (thread_in_block() == 0) shared_scale = scale_of(scaler, cdf, bins);
  __syncthreads();
  const CurveScale scale = shared_scale;
  if (scale.span == 0) return;
  replace_values<kInFlight>(v, pixels, [&](float value) {
    const std::int32_t level = level_of(value);
    return level == 0 ? value : curve_value(scale, cdf[bin_of_level[level]]);
  });
}

/// Computes T of every bin, one thread a bin: the only divisions of EqualizeVariant::curve.
__global__ void __launch_bounds__(kMostThreads)
    make_curve_kernel(Scaler scaler, const std::uint32_t* cdf, std::uint32_t bins, float* curve) {
  __shared__ CurveScale shared_scale;
  if (thread_in_block() == 0) shared_scale = scale_of(scaler, cdf, bins);
  __syncthreads();
  const CurveScale scale = shared_scale;
  if (scale.span == 0) return;
  walk_in_flight<1>(
      interleaved_walk(bins), [&](std::uint32_t b) { return cdf[b]; },
      [&](std::uint32_t b, std::uint32_t sum) { curve[b] = curve_value(scale, sum); });
}

/// Maps V with one table look-up per pixel. The block's table in shared memory has only the 256
/// bins that 8-bit levels fall into, however many bins there are.
template <int kInFlight>
__global__ void __launch_bounds__(kMostThreads)
    apply_curve_kernel(Scaler scaler, const std::uint32_t* cdf, const float* curve,
                       std::uint32_t bins, float* v, std::uint32_t pixels) {
  __shared__ float curve_of_level[kLevels];
  __shared__ bool identity;
  if (thread_in_block() == 0) identity = scale_of(scaler, cdf, bins).span == 0;
  __syncthreads();
  if (identity) return;  // make_curve_kernel wrote no curve
  for (std::uint32_t level = thread_in_block(); level < kLevels; level += threads_of_block()) {
    curve_of_level[level] = curve[bin_of(level, bins, 255)];
  }
  __syncthreads();
  replace_values<kInFlight>(v, pixels, [&](float value) {
    const std::int32_t level = level_of(value);
    return level == 0 ? value : curve_of_level[level];
  });
}

}  // namespace

void equalize(EqualizeVariant variant, const LaunchShape& shape, Scaler scaler,
              const std::uint32_t* cdf, int bins, float* v, std::uint32_t pixels, float* curve,
              cudaStream_t stream) {
  const auto n = static_cast<std::uint32_t>(bins);
  if (variant == EqualizeVariant::divide) {
    const auto kernel = with_pixels_in_flight(shape.pixels_per_thread, [](auto in_flight) {
      return &equalize_divide_kernel<decltype(in_flight)::value>;
    });
    kernel<<<shape.grid, shape.block, 0, stream>>>(scaler, cdf, n, v, pixels);
  } else {
    // More threads than bins would have nothing to do.
    const std::uint64_t threads = shape.threads_of_block();
    const auto curve_blocks =
        static_cast<unsigned>(std::min(shape.blocks(), (n + threads - 1) / threads));
    make_curve_kernel<<<curve_blocks, shape.block, 0, stream>>>(scaler, cdf, n, curve);
    check(cudaGetLastError(), "launching equalize");
    const auto kernel = with_pixels_in_flight(shape.pixels_per_thread, [](auto in_flight) {
      return &apply_curve_kernel<decltype(in_flight)::value>;
    });
    kernel<<<shape.grid, shape.block, 0, stream>>>(scaler, cdf, curve, n, v, pixels);
  }
  check(cudaGetLastError(), "launching equalize");
}

}  // namespace equalux::cuda
