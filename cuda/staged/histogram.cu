#include <algorithm>

#include "cuda/runtime/check.h"
#include "cuda/runtime/pick_kernel.h"
#include "cuda/runtime/shared_memory.h"
#include "cuda/staged/staged_stages.h"
#include "cuda/staged/value_walk.cuh"
#include "src/format/pixel_math.h"

namespace equalux::cuda {
namespace {

/// Counts with atomics in device memory: increments of the same bin are serialised. The simplest
/// variant, which the report compares others with; threads take values as visit_values() says.
template <int kInFlight>
__global__ void __launch_bounds__(kMostThreads)
    histogram_global_kernel(const float* v, std::uint32_t pixels, std::uint32_t* counts,
                            std::uint32_t bins) {
  __shared__ std::uint32_t bin_of_level[kLevels];
  fill_bins(bin_of_level, bins);
  __syncthreads();
  visit_values<kInFlight>(
      v, pixels, [&](float value) { atomicAdd(&counts[bin_of_level[level_of(value)]], 1U); });
}

/// Counts in each block's shared memory and adds the block's counts to device memory at the end, so
/// that most atomics stay within a multiprocessor. Where the bins exceed shared memory, each
/// `segment` of bins takes another pass over the values. Blocks are few and large, because each
/// clears and adds up its counters.
template <int kInFlight>
__global__ void __launch_bounds__(kMostThreads)
    histogram_shared_kernel(const float* v, std::uint32_t pixels, std::uint32_t* counts,
                            std::uint32_t bins, std::uint32_t segment) {
  extern __shared__ std::uint32_t own[];
  __shared__ std::uint32_t bin_of_level[kLevels];
  const std::uint32_t thread = thread_in_block();
  const std::uint32_t threads = threads_of_block();
  fill_bins(bin_of_level, bins);
  for (std::uint32_t first = 0; first < bins; first += segment) {
    const std::uint32_t size = min(segment, bins - first);
    // Cleared without a barrier before it: the thread that clears a counter is the one that added
    // it up in the segment before.
    for (std::uint32_t i = thread; i < size; i += threads)
      own[i] = 0;
    __syncthreads();
    visit_values<kInFlight>(v, pixels, [&](float value) {
      const std::uint32_t bin = bin_of_level[level_of(value)] - first;  // wraps below the segment
      if (bin < size) atomicAdd(&own[bin], 1U);
    });
    __syncthreads();
    for (std::uint32_t i = thread; i < size; i += threads) {
      const std::uint32_t count = own[i];
      if (count != 0) atomicAdd(&counts[first + i], count);
    }
  }
}

}  // namespace

std::size_t prepare_histogram() {
  std::size_t bytes = SIZE_MAX;
  for (const int pixels : {1, 2, 4, 8}) {
    const std::size_t allowed = with_pixels_in_flight(pixels, [](auto in_flight) {
      return allow_shared_memory(&histogram_shared_kernel<decltype(in_flight)::value>);
    });
    bytes = std::min(bytes, allowed);
  }
  return bytes;
}

void histogram(HistogramVariant variant, const LaunchShape& shape, const float* v,
               std::uint32_t pixels, std::uint32_t* counts, int bins, std::size_t shared_bytes,
               cudaStream_t stream) {
  const auto n = static_cast<std::uint32_t>(bins);
  check(cudaMemsetAsync(counts, 0, n * sizeof *counts, stream), "clearing the histogram");
  if (variant == HistogramVariant::global) {
    const auto kernel = with_pixels_in_flight(shape.pixels_per_thread, [](auto in_flight) {
      return &histogram_global_kernel<decltype(in_flight)::value>;
    });
    kernel<<<shape.grid, shape.block, 0, stream>>>(v, pixels, counts, n);
  } else {
    const auto kernel = with_pixels_in_flight(shape.pixels_per_thread, [](auto in_flight) {
      return &histogram_shared_kernel<decltype(in_flight)::value>;
    });
    const auto segment =
        static_cast<std::uint32_t>(std::min<std::size_t>(n, shared_bytes / sizeof *counts));
    kernel<<<shape.grid, shape.block, segment * sizeof *counts, stream>>>(v, pixels, counts, n,
                                                                          segment);
  }
  check(cudaGetLastError(), "launching histogram");
}

}  // namespace equalux::cuda
