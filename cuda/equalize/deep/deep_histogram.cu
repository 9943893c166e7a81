#include <algorithm>
#include <cstddef>

#include "cuda/device/dependent_launch.cuh"
#include "cuda/device/value_counter.cuh"
#include "cuda/equalize/deep/deep_cells.cuh"
#include "cuda/equalize/deep/deep_pixels.cuh"
#include "cuda/equalize/deep/deep_strips.cuh"
#include "cuda/runtime/check.h"
#include "cuda/runtime/shared_memory.h"

namespace equalux::cuda {
namespace {

/// Blocks per multiprocessor: enough to hide the latency of loads, and not more, since each block
/// clears and adds up a table of its own.
constexpr unsigned kCountBlocksEach = 8;
/// Block size for counting strips and spans. One or two large blocks per multiprocessor, so that
/// few tables are added up.
constexpr unsigned kCountBlock = 1024;

/// Bytes of a 16-bit counter for each of 2^16 values.
constexpr std::size_t kWideBytes = 65536 * sizeof(std::uint16_t);
/// Block size where a block has these counters, and the most values of a thread: few enough that no
/// counter can overflow.
constexpr unsigned kWideBlock = 992;
constexpr unsigned kWideValues = 64;
static_assert(kWideBlock * kWideValues < 65536);

/// Copies the history that all blocks of the shaped curve read while the first of them writes the
/// new one.
__device__ __forceinline__ void keep_history(const DeepCount& count) {
  if (count.history == nullptr || blockIdx.x != 0) return;
  constexpr unsigned kWords = sizeof(tone::History) / sizeof(std::uint32_t);
  for (unsigned i = threadIdx.x; i < kWords; i += blockDim.x) {
    reinterpret_cast<std::uint32_t*>(count.history_before)[i] =
        reinterpret_cast<const std::uint32_t*>(count.history)[i];
  }
}

/// Adds a block's counts, `own(v)`, to those of the frame. Blocks begin at different values, so
/// that their atomics do not collide.
template <typename Own>
__device__ __forceinline__ void hand_over(const DeepCount& count, const Own& own) {
  const std::uint32_t begin = blockIdx.x * blockDim.x;
  for (std::uint32_t i = threadIdx.x; i < count.levels; i += blockDim.x) {
    const std::uint32_t v = (begin + i) % count.levels;
    if (const std::uint32_t sum = own(v); sum != 0) atomicAdd(&count.counts[v], sum);
  }
}

/// Counts up to 4096 levels in each block's shared memory, one cell per thread, and adds the
/// block's counts to device memory at the end.
template <Sampling kSampling, bool kAligned>
__global__ void __launch_bounds__(kDeepBlock)
    deep_histogram_shared_kernel(DeepFrame frame, DeepCount count) {
  __shared__ std::uint32_t own[kDeepSharedLevels];
  for (std::uint32_t v = threadIdx.x; v < count.levels; v += kDeepBlock)
    own[v] = 0;
  wait_then_release();
  keep_history(count);
  __syncthreads();
  for_each_deep_cell(frame, [&](std::uint32_t row, std::uint32_t column) {
    for_deep_values<kSampling, kAligned>(frame, row, column, [&](std::int32_t v) {
      atomicAdd(&own[static_cast<std::uint32_t>(v) >> count.shift], 1U);
    });
  });
  __syncthreads();
  hand_over(count, [&](std::uint32_t v) { return own[v]; });
}

/// Counts 16-bit values with atomics in device memory, since 65,536 counters of 32 bits exceed
/// shared memory. Blocks take several copies of the histogram in turn, so that in a flat frame not
/// all of them wait for one word.
template <Sampling kSampling, bool kAligned>
__global__ void __launch_bounds__(kDeepBlock)
    deep_histogram_global_kernel(DeepFrame frame, DeepCount count) {
  wait_then_release();
  std::uint32_t* own = count.counts + std::size_t{blockIdx.x % count.copies} * count.levels;
  for_each_deep_cell(frame, [&](std::uint32_t row, std::uint32_t column) {
    for_deep_values<kSampling, kAligned>(frame, row, column,
                                         [&](std::int32_t v) { atomicAdd(&own[v], 1U); });
  });
}

/// Calls use(v) for all values of a frame that is read in strips; kWide: 16 bits.
template <Sampling kSampling, bool kPaired, bool kWide, typename Use>
__device__ __forceinline__ void for_strip_values(const DeepFrame& frame, const Use& use) {
  constexpr bool kShared = cell_columns(kSampling) == 2;
  const DeepSamples& form = frame.form;
  const DeepCodes codes(form);
  for_each_strip<kSampling>(
      frame,
      [&](std::uint32_t row, const LumaRows& lines, std::uint32_t at) {
        YuvStrip<kSampling, kPaired> strip;
        strip.load(frame, row, lines, at);
#pragma unroll
        for (int word = 0; word < 4; ++word) {
          // Difference between luma code and v, for the left and the right sample.
          std::int32_t above[2];
#pragma unroll
          for (int i = 0; i < (kShared ? 1 : 2); ++i) {
            const int cell = kShared ? word : 2 * word + i;
            const auto chroma = [&](int c) {
              const std::uint32_t words = strip.chroma[c][cell / 2];
              const std::uint32_t code =
                  cell % 2 == 0 ? codes.code<0>(words) : codes.code<1>(words);
              return static_cast<std::int32_t>(code) - form.chroma_middle;
            };
            above[i] =
                deep_value_above_luma<StripProduct<kWide>>(form.weights, chroma(0), chroma(1)) -
                form.weights.luma_offset;
          }
          if constexpr (kShared) above[1] = above[0];
#pragma unroll
          for (int line = 0; line < cell_rows(kSampling); ++line) {
            const std::uint32_t words = strip.luma[line][word];
            const auto value = [&](std::uint32_t code, std::int32_t more) {
              return static_cast<std::uint32_t>(__viaddmin_s32_relu(static_cast<std::int32_t>(code),
                                                                    more, form.weights.luma_max));
            };
            use(value(codes.code<0>(words), above[0]));
            use(value(codes.code<1>(words), above[1]));
          }
        }
      },
      [&](std::uint32_t row, std::uint32_t column) {
        for_deep_values<kSampling, true>(
            frame, row, column, [&](std::int32_t v) { use(static_cast<std::uint32_t>(v)); });
      });
}

/// Counts all values of up to 12 bits from strips, with one table per block in shared memory.
template <Sampling kSampling, bool kPaired>
__global__ void __launch_bounds__(kCountBlock)
    strip_histogram_kernel(const __grid_constant__ DeepFrame frame, const DeepCount count) {
  __shared__ std::uint32_t own[kDeepSharedLevels];
  for (std::uint32_t v = threadIdx.x; v < count.levels; v += kCountBlock)
    own[v] = 0;
  wait_then_release();
  __syncthreads();
  for_strip_values<kSampling, kPaired, false>(frame,
                                              [&](std::uint32_t v) { atomicAdd(&own[v], 1U); });
  __syncthreads();
  hand_over(count, [&](std::uint32_t v) { return own[v]; });
}

/// Calls use(v) for all pixels of a frame that is read in spans.
template <DeepPixels kPixels, typename Use>
__device__ __forceinline__ void for_pixel_values(const DeepFrame& frame, const Use& use) {
  using Strip = PixelStrip<kPixels>;
  for_each_span(
      frame,
      [&](const PixelSpan& span, int lane) {
        Strip strip;
        strip.load_values(frame, span, lane);
#pragma unroll
        for (int pixel = 0; pixel < kStripColumns; ++pixel) {
          if (Strip::has(span, lane, pixel)) use(strip.value(pixel));
        }
      },
      [&](std::uint32_t row, std::uint32_t column) {
        for_deep_values<sampling_of(kPixels), true>(
            frame, row, column, [&](std::int32_t v) { use(static_cast<std::uint32_t>(v)); });
      });
}

/// Counts coarse levels in shared memory without bank conflicts (value_counter.cuh); visit(use)
/// calls use(v) for all values.
template <typename Visit>
__device__ __forceinline__ void count_coarse_levels(const DeepCount& count, const Visit& visit) {
  using Counter = ValueCounter<1>;
  __shared__ __align__(128) std::uint8_t table[256 * Counter::kRowBytes];
  for (std::uint32_t i = threadIdx.x; i < sizeof(table) / 16; i += blockDim.x)
    reinterpret_cast<uint4*>(table)[i] = uint4{0, 0, 0, 0};
  wait_then_release();
  keep_history(count);
  __syncthreads();
  const Counter counter(table, 0, static_cast<int>(threadIdx.x % kLanes));
  visit([&](std::uint32_t v) { counter.add(v >> count.shift); });
  __syncthreads();
  hand_over(count, [&](std::uint32_t v) { return row_sum<1>(table, 0, static_cast<int>(v)); });
}

/// Counts coarse levels of a frame of YCbCr, one strip per thread.
template <Sampling kSampling, bool kPaired, bool kWide>
__global__ void __launch_bounds__(kCountBlock)
    strip_coarse_kernel(const __grid_constant__ DeepFrame frame, const DeepCount count) {
  count_coarse_levels(
      count, [&](const auto& use) { for_strip_values<kSampling, kPaired, kWide>(frame, use); });
}

/// Counts coarse levels of packed pixels or gray, one span per warp.
template <DeepPixels kPixels>
__global__ void __launch_bounds__(kCountBlock)
    pixel_coarse_kernel(const __grid_constant__ DeepFrame frame, const DeepCount count) {
  count_coarse_levels(count, [&](const auto& use) { for_pixel_values<kPixels>(frame, use); });
}

/// Counts all values of 16 bits in a block's shared memory, where that has kWideBytes: two counters
/// of 16 bits share a word, and neither can overflow. visit(use) calls use(v) for all values.
template <typename Visit>
__device__ __forceinline__ void count_wide_values(const DeepCount& count, const Visit& visit) {
  extern __shared__ __align__(16) std::uint32_t pairs[];  // counters of values 2 i and 2 i + 1
  constexpr std::uint32_t kPairs = kWideBytes / sizeof(std::uint32_t);
  for (std::uint32_t i = threadIdx.x; i < kPairs / 4; i += kWideBlock)
    reinterpret_cast<uint4*>(pairs)[i] = uint4{0, 0, 0, 0};
  wait_then_release();
  __syncthreads();
  visit([&](std::uint32_t v) { atomicAdd(&pairs[v / 2], v % 2 == 0 ? 1U : 0x10000U); });
  __syncthreads();
  // Adds both counters of a pair with one atomic; no sum reaches 2^32.
  auto* const sums = reinterpret_cast<unsigned long long*>(
      count.counts + std::size_t{blockIdx.x % count.copies} * count.levels);
  const std::uint32_t begin = blockIdx.x * kWideBlock;
  for (std::uint32_t i = threadIdx.x; i < kPairs; i += kWideBlock) {
    const std::uint32_t at = (begin + i) % kPairs;
    const std::uint64_t pair = pairs[at];
    if (pair != 0) atomicAdd(&sums[at], (pair & 0xFFFF) | pair >> 16 << 32);
  }
}

/// Counts all values of packed pixels or gray, one span per warp.
template <DeepPixels kPixels>
__global__ void __launch_bounds__(kWideBlock)
    pixel_wide_kernel(const __grid_constant__ DeepFrame frame, const DeepCount count) {
  count_wide_values(count, [&](const auto& use) { for_pixel_values<kPixels>(frame, use); });
}

/// Counts all values of a frame of YCbCr of 16 bits, one strip per thread.
template <Sampling kSampling, bool kPaired>
__global__ void __launch_bounds__(kWideBlock)
    strip_wide_kernel(const __grid_constant__ DeepFrame frame, const DeepCount count) {
  count_wide_values(
      count, [&](const auto& use) { for_strip_values<kSampling, kPaired, true>(frame, use); });
}

unsigned blocks_for(unsigned items, unsigned each) {
  return (items + each - 1) / each;
}

/// Returns the number of blocks of `each` items, at most `most` for a multiprocessor.
unsigned blocks_on(const LaunchDevice& device, unsigned most, unsigned items, unsigned each) {
  return std::min(blocks_for(items, each), most * static_cast<unsigned>(device.multiprocessors));
}
/// Returns the number of blocks that count 16-bit values: one on each multiprocessor, or more where
/// a thread would count more than kWideValues. A block has `each` items at a time, of `values`
/// values for a thread.
unsigned wide_blocks_on(const LaunchDevice& device, unsigned items, unsigned each,
                        unsigned values) {
  return std::max(blocks_on(device, 1, items, each),
                  blocks_for(items, each * (kWideValues / values)));
}

}  // namespace

bool allow_wide_counters() {
  bool allowed = true;
  const auto allow = [&](auto kernel) {
    allowed = allowed && allow_shared_memory(kernel) >= kWideBytes;
  };
  allow(pixel_wide_kernel<DeepPixels::gray>);
  allow(pixel_wide_kernel<DeepPixels::colours>);
  allow(pixel_wide_kernel<DeepPixels::colours_then_alpha>);
  allow(pixel_wide_kernel<DeepPixels::alpha_then_colours>);
  allow(strip_wide_kernel<Sampling::s420, true>);
  allow(strip_wide_kernel<Sampling::s444, false>);
  return allowed;
}

void deep_histogram(const DeepFrame& frame, const DeepCount& count, const LaunchDevice& device,
                    cudaStream_t stream) {
  constexpr const char* kWhat = "launching deep_histogram";
  const bool counts_wide = count.shift == 0 && count.levels > kDeepSharedLevels;
  const bool in_strips = !counts_wide || count.wide_counters;
  if (in_strips && reads_yuv_strips(frame)) {
    return with_yuv_strips(frame, [&](auto sampling, auto paired, auto wide) {
      constexpr Sampling kSampling = decltype(sampling)::value;
      constexpr bool kPaired = decltype(paired)::value;
      constexpr bool kWide = decltype(wide)::value;
      const unsigned strips = strips_across<kSampling>(frame) * frame.rows;
      // Two blocks where a thread has few registers.
      constexpr unsigned kBlocksEach = kSampling == Sampling::s420 && !kWide ? 2 : 1;
      const dim3 blocks(blocks_on(device, kBlocksEach, strips, kCountBlock));
      if (count.shift != 0) {
        launch_early(device, kWhat, strip_coarse_kernel<kSampling, kPaired, kWide>, blocks,
                     dim3(kCountBlock), stream, frame, count);
      } else if constexpr (kWide) {
        constexpr unsigned kValues = kStripColumns * cell_rows(kSampling);
        launch_early(device, kWhat, strip_wide_kernel<kSampling, kPaired>,
                     dim3(wide_blocks_on(device, strips, kWideBlock, kValues)), dim3(kWideBlock),
                     kWideBytes, stream, frame, count);
      } else {
        launch_early(device, kWhat, strip_histogram_kernel<kSampling, kPaired>, blocks,
                     dim3(kCountBlock), stream, frame, count);
      }
    });
  }
  if (in_strips && reads_pixel_strips(frame)) {
    return with_pixel_strips(frame, [&](auto pixels) {
      constexpr DeepPixels kPixels = decltype(pixels)::value;
      const unsigned spans = spans_across(frame) * frame.rows;
      if (count.shift != 0) {
        return launch_early(device, kWhat, pixel_coarse_kernel<kPixels>,
                            dim3(blocks_on(device, 2, spans, kCountBlock / kLanes)),
                            dim3(kCountBlock), stream, frame, count);
      }
      launch_early(device, kWhat, pixel_wide_kernel<kPixels>,
                   dim3(wide_blocks_on(device, spans, kWideBlock / kLanes, kStripColumns)),
                   dim3(kWideBlock), kWideBytes, stream, frame, count);
    });
  }
  const dim3 grid(deep_grid(frame, device.multiprocessors, kCountBlocksEach));
  with_deep_cells(frame, [&](auto sampling, auto aligned) {
    constexpr Sampling kSampling = decltype(sampling)::value;
    constexpr bool kAligned = decltype(aligned)::value;
    if (!counts_wide) {
      launch_early(device, kWhat, deep_histogram_shared_kernel<kSampling, kAligned>, grid,
                   dim3(kDeepBlock), stream, frame, count);
    } else {
      launch_early(device, kWhat, deep_histogram_global_kernel<kSampling, kAligned>, grid,
                   dim3(kDeepBlock), stream, frame, count);
    }
  });
}

}  // namespace equalux::cuda
