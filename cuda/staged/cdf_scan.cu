#include <algorithm>
#include <cstdio>
#include <exception>

#include <cub/device/device_scan.cuh>

#include "cuda/device/linear_thread.cuh"
#include "cuda/runtime/check.h"
#include "cuda/runtime/shared_memory.h"
#include "cuda/staged/staged_stages.h"

// The scans of the report's section 3.4; docs/algorithm.md draws them on ten numbers. A step that
// combines elements of several blocks ends with its launch, because the next launch is the only
// barrier of the whole grid.
namespace equalux::cuda {
namespace {

using Element = std::uint32_t;

__device__ Element sum_of(const Element* from, std::uint32_t begin, std::uint32_t end) {
  Element sum = 0;
  for (std::uint32_t i = begin; i < end; ++i)
    sum += from[i];
  return sum;
}

/// Section 3.4.1, baseline: the thread of an element adds up all counts before it. A bin costs as
/// many loads as it has bins before it, n^2 / 2 in all, but the scan has no step that waits for
/// another.
__global__ void __launch_bounds__(kMostThreads)
    baseline_kernel(const Element* counts, Element* cdf, std::uint32_t n) {
  walk_in_flight<1>(
      interleaved_walk(n), [&](std::uint32_t i) { return sum_of(counts, 0, i + 1); },
      [&](std::uint32_t i, Element sum) { cdf[i] = sum; });
}

/// Section 3.4.2: adds up the counts from the nearer end, because the sum of all counts is the
/// number of pixels. This halves the loads of the baseline.
__global__ void __launch_bounds__(kMostThreads)
    two_ended_kernel(const Element* counts, Element* cdf, std::uint32_t n, Element total) {
  walk_in_flight<1>(
      interleaved_walk(n),
      [&](std::uint32_t i) {
        return i < n / 2 ? sum_of(counts, 0, i + 1) : total - sum_of(counts, i + 1, n);
      },
      [&](std::uint32_t i, Element sum) { cdf[i] = sum; });
}

/// Section 3.4.2 with the counts in each block's shared memory, `segment` by segment. Every block
/// loads every segment, coalesced, so that the many reads of a count are of shared memory. Between
/// segments an element's partial sum waits in `cdf`, which only its own thread reads.
__global__ void __launch_bounds__(kMostThreads)
    two_ended_shared_kernel(const Element* counts, Element* cdf, std::uint32_t n, Element total,
                            std::uint32_t segment) {
  extern __shared__ Element shared[];
  const std::uint32_t thread = thread_in_block();
  const std::uint32_t threads = threads_of_block();
  for (std::uint32_t first = 0; first < n; first += segment) {
    const std::uint32_t size = min(segment, n - first);
    for (std::uint32_t i = thread; i < size; i += threads)
      shared[i] = counts[first + i];
    __syncthreads();
    walk_in_flight<1>(
        interleaved_walk(n),
        [&](std::uint32_t i) {
          const bool front = i < n / 2;
          const std::uint32_t begin = max(front ? 0 : i + 1, first);
          const std::uint32_t end = min(front ? i + 1 : n, first + size);
          const Element before = first == 0 ? 0 : cdf[i];
          const Element sum =
              begin < end ? before + sum_of(shared, begin - first, end - first) : before;
          return front || first + size < n ? sum : total - sum;
        },
        [&](std::uint32_t i, Element sum) { cdf[i] = sum; });
    __syncthreads();  // all threads have read the segment before the next one replaces it
  }
}

/// Section 3.4.3, one step of Kogge and Stone: a thread adds to its element the one `distance` to
/// the left. It reads one array and writes another, so that no element is overwritten before it is
/// read. log2 n launches of n additions each.
__global__ void __launch_bounds__(kMostThreads)
    kogge_stone_kernel(const Element* from, Element* to, std::uint32_t n, std::uint32_t distance) {
  walk_in_flight<1>(
      interleaved_walk(n),
      [&](std::uint32_t i) { return from[i] + (i >= distance ? from[i - distance] : 0); },
      [&](std::uint32_t i, Element sum) { to[i] = sum; });
}

/// Section 3.4.4, one step of Brent and Kung in place: elements first, first + 2 distance ... each
/// add the element `distance` to their left, which this step does not write. Twice as many launches
/// as Kogge and Stone, but fewer than 2 n additions in all; accesses are strided and coalesce badly
/// at large distances.
__global__ void __launch_bounds__(kMostThreads)
    brent_kung_kernel(Element* cdf, std::uint32_t first, std::uint32_t distance,
                      std::uint32_t elements) {
  walk_in_flight<1>(
      interleaved_walk(elements),
      [&](std::uint32_t k) {
        const std::uint32_t i = first + 2 * distance * k;
        return cdf[i] + cdf[i - distance];
      },
      [&](std::uint32_t k, Element sum) { cdf[first + 2 * distance * k] = sum; });
}

/// Scans `size` elements in shared memory of twice as many, and returns where the sums are. All
/// threads of the block call it; `from` is filled and the block synchronised before, and the block
/// is synchronised after.
__device__ Element* kogge_stone_block(Element* from, Element* to, std::uint32_t size) {
  for (std::uint32_t distance = 1; distance < size; distance *= 2) {
    for (std::uint32_t i = thread_in_block(); i < size; i += threads_of_block()) {
      to[i] = from[i] + (i >= distance ? from[i - distance] : 0);
    }
    __syncthreads();
    Element* const sums = to;
    to = from;
    from = sums;
  }
  return from;
}

/// Scans `size` elements of shared memory in place; called and synchronised as kogge_stone_block().
__device__ Element* brent_kung_block(Element* sums, std::uint32_t size) {
  const std::uint32_t thread = thread_in_block();
  const std::uint32_t threads = threads_of_block();
  std::uint32_t distance = 1;
  for (; distance < size; distance *= 2) {
    const std::uint32_t apart = 2 * distance;
    for (std::uint32_t i = apart - 1 + apart * thread; i < size; i += apart * threads) {
      sums[i] += sums[i - distance];
    }
    __syncthreads();
  }
  for (; distance >= 1; distance /= 2) {
    const std::uint32_t apart = 2 * distance;
    for (std::uint32_t i = apart + distance - 1 + apart * thread; i < size; i += apart * threads) {
      sums[i] += sums[i - distance];
    }
    __syncthreads();
  }
  return sums;
}

enum class BlockScan { kogge_stone, brent_kung };

/// Section 3.4.5: each block scans whole segments in its shared memory, two elements of shared
/// memory for each of a segment with Kogge and Stone, one with Brent and Kung. `totals` gets each
/// segment's sum, which add_totals_kernel adds to the segments after it.
template <BlockScan kScan>
__global__ void __launch_bounds__(kMostThreads)
    scan_segments_kernel(const Element* counts, Element* cdf, std::uint32_t n,
                         std::uint32_t segment, Element* totals) {
  extern __shared__ Element shared[];
  const std::uint32_t thread = thread_in_block();
  const std::uint32_t threads = threads_of_block();
  const std::uint32_t segments = (n + segment - 1) / segment;
  for (std::uint64_t at = block_in_grid(); at < segments; at += blocks_of_grid()) {
    const auto index = static_cast<std::uint32_t>(at);
    const std::uint32_t first = index * segment;
    const std::uint32_t size = min(segment, n - first);
    for (std::uint32_t i = thread; i < size; i += threads)
      shared[i] = counts[first + i];
    __syncthreads();
    const Element* sums = kScan == BlockScan::kogge_stone
                              ? kogge_stone_block(shared, shared + segment, size)
                              : brent_kung_block(shared, size);
    for (std::uint32_t i = thread; i < size; i += threads)
      cdf[first + i] = sums[i];
    if (thread == 0) totals[index] = sums[size - 1];
    __syncthreads();  // all threads have read the sums before the next segment replaces them
  }
}

/// Adds the totals of all segments before it to each element. Few additions: 65,536 bins, the most
/// there are, make only some segments of the size of a block's shared memory.
__global__ void __launch_bounds__(kMostThreads)
    add_totals_kernel(Element* cdf, std::uint32_t n, std::uint32_t segment, const Element* totals) {
  walk_in_flight<1>(
      interleaved_walk(n), [&](std::uint32_t i) { return cdf[i] + sum_of(totals, 0, i / segment); },
      [&](std::uint32_t i, Element sum) { cdf[i] = sum; });
}

void kogge_stone(const LaunchShape& shape, const ScanMemory& memory, std::uint32_t n,
                 cudaStream_t stream) {
  int steps = 0;
  while ((std::uint32_t{1} << steps) < n)
    ++steps;
  // Takes scratch and result in turn such that the last step writes the result.
  auto* const scratch = static_cast<Element*>(memory.scratch);
  const Element* from = memory.counts;
  for (int step = 0; step < steps; ++step) {
    Element* const to = (steps - step) % 2 == 1 ? memory.cdf : scratch;
    kogge_stone_kernel<<<shape.grid, shape.block, 0, stream>>>(from, to, n,
                                                               std::uint32_t{1} << step);
    check(cudaGetLastError(), "launching cdf_scan");
    from = to;
  }
}

void brent_kung(const LaunchShape& shape, const ScanMemory& memory, std::uint32_t n,
                cudaStream_t stream) {
  check(cudaMemcpyAsync(memory.cdf, memory.counts, n * sizeof(Element), cudaMemcpyDeviceToDevice,
                        stream),
        "copying the histogram");
  const auto step = [&](std::uint32_t first, std::uint32_t distance) {
    if (first >= n) return;
    const std::uint32_t elements = (n - 1 - first) / (2 * distance) + 1;
    brent_kung_kernel<<<shape.grid, shape.block, 0, stream>>>(memory.cdf, first, distance,
                                                              elements);
    check(cudaGetLastError(), "launching cdf_scan");
  };
  std::uint32_t distance = 1;
  for (; distance < n; distance *= 2)
    step(2 * distance - 1, distance);
  for (; distance >= 1; distance /= 2)
    step(3 * distance - 1, distance);
}

template <BlockScan kScan>
void scan_segments(const LaunchShape& shape, const ScanMemory& memory, std::uint32_t n,
                   std::size_t shared_bytes, cudaStream_t stream) {
  constexpr std::size_t kArrays = kScan == BlockScan::kogge_stone ? 2 : 1;
  const auto segment = static_cast<std::uint32_t>(
      std::min<std::size_t>(n, shared_bytes / (kArrays * sizeof(Element))));
  auto* const totals = static_cast<Element*>(memory.scratch);
  scan_segments_kernel<kScan>
      <<<shape.grid, shape.block, kArrays * segment * sizeof(Element), stream>>>(
          memory.counts, memory.cdf, n, segment, totals);
  check(cudaGetLastError(), "launching cdf_scan");
  if (segment >= n) return;
  add_totals_kernel<<<shape.grid, shape.block, 0, stream>>>(memory.cdf, n, segment, totals);
  check(cudaGetLastError(), "launching cdf_scan");
}

void two_ended_shared(const LaunchShape& shape, const ScanMemory& memory, std::uint32_t n,
                      Element total, std::size_t shared_bytes, cudaStream_t stream) {
  const auto segment =
      static_cast<std::uint32_t>(std::min<std::size_t>(n, shared_bytes / sizeof(Element)));
  two_ended_shared_kernel<<<shape.grid, shape.block, segment * sizeof(Element), stream>>>(
      memory.counts, memory.cdf, n, total, segment);
  check(cudaGetLastError(), "launching cdf_scan");
}

/// Calls CUB and turns its exceptions, such as "cudaError 46: ...", into ours. The runtime is asked
/// first whether it answers: where it does not answer CUB's first call, later calls hang in CUB's
/// cache of device attributes.
template <typename Call>
void check_cub(const Call& call, const char* what) {
  int number = 0;
  check(cudaGetDevice(&number), what);
  try {
    check(call(), what);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    const bool numbered = std::sscanf(error.what(), "cudaError %d", &number) == 1;
    throw cuda_error(numbered ? static_cast<cudaError_t>(number) : cudaErrorUnknown, what);
  }
}

}  // namespace

std::size_t prepare_cdf_scan() {
  return std::min({allow_shared_memory(&two_ended_shared_kernel),
                   allow_shared_memory(&scan_segments_kernel<BlockScan::kogge_stone>),
                   allow_shared_memory(&scan_segments_kernel<BlockScan::brent_kung>)});
}

std::size_t scan_scratch_bytes(ScanVariant variant, int bins) {
  std::size_t bytes = 0;
  switch (variant) {
    case ScanVariant::baseline:
    case ScanVariant::two_ended:
    case ScanVariant::two_ended_shared:
    case ScanVariant::brent_kung:
      break;
    case ScanVariant::kogge_stone:
    case ScanVariant::kogge_stone_shared:  // one total per segment, at most one per element
    case ScanVariant::brent_kung_shared:
      bytes = static_cast<std::size_t>(bins) * sizeof(Element);
      break;
    case ScanVariant::cub:
      check_cub(
          [&] {
            return cub::DeviceScan::InclusiveSum(nullptr, bytes,
                                                 static_cast<const Element*>(nullptr),
                                                 static_cast<Element*>(nullptr), bins);
          },
          "asking for the scan's memory");
      break;
  }
  return bytes;
}

void cdf_scan(ScanVariant variant, const LaunchShape& shape, const ScanMemory& memory, int bins,
              std::uint32_t total, std::size_t shared_bytes, cudaStream_t stream) {
  const auto n = static_cast<std::uint32_t>(bins);
  switch (variant) {
    case ScanVariant::baseline:
      baseline_kernel<<<shape.grid, shape.block, 0, stream>>>(memory.counts, memory.cdf, n);
      return check(cudaGetLastError(), "launching cdf_scan");
    case ScanVariant::two_ended:
      two_ended_kernel<<<shape.grid, shape.block, 0, stream>>>(memory.counts, memory.cdf, n, total);
      return check(cudaGetLastError(), "launching cdf_scan");
    case ScanVariant::two_ended_shared:
      return two_ended_shared(shape, memory, n, total, shared_bytes, stream);
    case ScanVariant::kogge_stone:
      return kogge_stone(shape, memory, n, stream);
    case ScanVariant::kogge_stone_shared:
      return scan_segments<BlockScan::kogge_stone>(shape, memory, n, shared_bytes, stream);
    case ScanVariant::brent_kung:
      return brent_kung(shape, memory, n, stream);
    case ScanVariant::brent_kung_shared:
      return scan_segments<BlockScan::brent_kung>(shape, memory, n, shared_bytes, stream);
    case ScanVariant::cub: {
      std::size_t bytes = scan_scratch_bytes(variant, bins);
      check_cub(
          [&] {
            return cub::DeviceScan::InclusiveSum(memory.scratch, bytes, memory.counts, memory.cdf,
                                                 bins, stream);
          },
          "scanning by CUB");
      return;
    }
  }
}

}  // namespace equalux::cuda
