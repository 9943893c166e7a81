#include <algorithm>
#include <vector>

#include "cuda/device/warp_sum.cuh"
#include "cuda/equalize/excluded_pixels.h"
#include "cuda/runtime/check.h"
#include "cuda/runtime/device_copy.h"

namespace equalux::cuda {

using surround::Grid;

namespace {

constexpr int kMaskThreads = 256;
/// Blocks that count, at most: each clears counters of its own and adds them up.
constexpr unsigned kMostReaders = 1056;
/// Words of 32 pixels that a warp tests at a time, one per lane; a word without excluded pixels
/// costs nothing more.
constexpr unsigned kWarpWords = 8;

/// Tells which pixels are excluded.
struct Excluded {
  const std::uint32_t* outside;   ///< bits of the pixels outside the region, or null
  const SurroundState* surround;  ///< null where the surround counts
  int dark;                       ///< largest value of the surround that is left out

  [[nodiscard]] __device__ bool surrounds() const {
    return surround != nullptr && surround->marks_any != 0;
  }
  [[nodiscard]] __device__ bool any() const { return outside != nullptr || surrounds(); }
};

/// Returns bits of the 32 pixels from column `x` on that are in marked blocks. Blocks have 16
/// pixels a side, or a multiple of 32.
__device__ __forceinline__ std::uint32_t marked_pixels(const SurroundState& surround,
                                                       const Grid& grid, int x, int y) {
  const int row = y / grid.side;
  const int column = x / grid.side;
  const std::uint32_t first = grid_bit(surround.marks, column, row) ? 0xFFFFFFFFU : 0;
  if (grid.side >= 32) return first;
  const bool second = column + 1 < grid.columns && grid_bit(surround.marks, column + 1, row);
  return (first & 0xFFFFU) | (second ? 0xFFFF0000U : 0);
}

/// Calls use(v, excluded) for 32 pixels at a time, some of which may be excluded; v is that of the
/// lane's pixel, if it is excluded. A warp tests kWarpWords words of 32 bits, then reads the pixels
/// of words that have excluded ones: one word at a time, one pixel per lane.
template <typename Use>
__device__ __forceinline__ void for_excluded(const PixelValues& values, const Grid& grid,
                                             const Excluded& of, const Use& use) {
  const bool surrounds = of.surrounds();
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned row_words = (static_cast<unsigned>(grid.width) + 31) / 32;
  const unsigned words = row_words * static_cast<unsigned>(grid.height);
  const unsigned step = gridDim.x * (kMaskThreads / kLanes) * kWarpWords;
  for (unsigned first = (blockIdx.x * kMaskThreads + threadIdx.x) / kLanes * kWarpWords;
       first < words; first += step) {
    const unsigned word = first + lane;
    const bool mine = lane < kWarpWords && word < words;
    const int y = static_cast<int>(word / row_words);
    const int x = static_cast<int>(word % row_words * 32);
    const std::uint32_t outside = mine && of.outside != nullptr ? of.outside[word] : 0;
    const std::uint32_t around = mine && surrounds ? marked_pixels(*of.surround, grid, x, y) : 0;
    unsigned todo = __ballot_sync(0xFFFFFFFFU, (outside | around) != 0);
    for (; todo != 0; todo &= todo - 1) {
      const int from = __ffs(static_cast<int>(todo)) - 1;
      const bool is_outside = (__shfl_sync(0xFFFFFFFFU, outside, from) >> lane & 1) != 0;
      const bool is_around = (__shfl_sync(0xFFFFFFFFU, around, from) >> lane & 1) != 0;
      const int column = __shfl_sync(0xFFFFFFFFU, x, from) + static_cast<int>(lane);
      const int row = __shfl_sync(0xFFFFFFFFU, y, from);
      bool excluded = column < grid.width && (is_outside || is_around);
      const std::int32_t v = excluded ? values(column, row) : 0;
      excluded = excluded && (is_outside || v <= of.dark);
      use(v, excluded);
    }
  }
}

/// Counters of a block in shared memory. Neighbouring pixels are often equal, and atomics on one
/// word wait for each other, so lanes count in several copies of the counters, which lie next to
/// each other.
template <unsigned kWords>
struct BlockCounts {
  std::uint32_t words[kWords];

  /// Clears the first `used` counters. A barrier must follow.
  __device__ void clear(unsigned used) {
    for (unsigned i = threadIdx.x; i < used; i += kMaskThreads)
      words[i] = 0;
  }
  __device__ void add(std::uint32_t v, std::uint32_t copies) {
    atomicAdd(&words[v * copies + threadIdx.x % copies], 1U);
  }
  [[nodiscard]] __device__ std::uint32_t sum(std::uint32_t v, std::uint32_t copies) const {
    std::uint32_t all = 0;
    for (std::uint32_t copy = 0; copy < copies; ++copy)
      all += words[v * copies + (threadIdx.x + copy) % copies];
    return all;
  }
};

/// Counts the excluded pixels of a frame of 8 bits by value. A block adds its counts to device
/// memory at the end.
__global__ void __launch_bounds__(kMaskThreads)
    count_excluded_kernel(const __grid_constant__ PixelValues values,
                          const __grid_constant__ Grid grid, const __grid_constant__ Excluded of,
                          FusedState* state) {
  if (!of.any()) return;
  constexpr std::uint32_t kCopies = 8;
  __shared__ BlockCounts<256 * kCopies> counts;
  counts.clear(256 * kCopies);
  __syncthreads();
  for_excluded(values, grid, of, [&](std::int32_t v, bool excluded) {
    if (excluded) counts.add(static_cast<std::uint32_t>(v), kCopies);
  });
  __syncthreads();
  const std::uint32_t mine = counts.sum(threadIdx.x, kCopies);
  ExcludedCounts& excluded = state->excluded[state->frames & 1];
  if (mine != 0) atomicAdd(&excluded.counts[threadIdx.x], mine);
  const std::uint32_t sum = warp_sum(mine);
  if (threadIdx.x % kLanes == 0 && sum != 0) atomicAdd(&excluded.total, sum);
}

/// Counts the excluded pixels of a frame of more than 8 bits by v >> shift, and their sum behind
/// the counts. Up to 12 bits a block counts in shared memory, as often as that has room for, else
/// in device memory, where lanes with the same value add it once.
template <bool kShared>
__global__ void __launch_bounds__(kMaskThreads)
    count_deep_excluded_kernel(const __grid_constant__ PixelValues values,
                               const __grid_constant__ Grid grid,
                               const __grid_constant__ Excluded of, std::uint32_t levels,
                               std::uint32_t shift, std::uint32_t* counts) {
  if (!of.any()) return;
  std::uint32_t sum = 0;
  if constexpr (kShared) {
    __shared__ BlockCounts<kDeepSharedLevels> own;
    const std::uint32_t copies = levels <= 256 ? 8 : 1;
    own.clear(levels * copies);
    __syncthreads();
    for_excluded(values, grid, of, [&](std::int32_t v, bool excluded) {
      if (!excluded) return;
      own.add(static_cast<std::uint32_t>(v) >> shift, copies);
      ++sum;
    });
    __syncthreads();
    for (std::uint32_t v = threadIdx.x; v < levels; v += kMaskThreads) {
      if (const std::uint32_t count = own.sum(v, copies); count != 0) atomicAdd(&counts[v], count);
    }
  } else {
    for_excluded(values, grid, of, [&](std::int32_t v, bool excluded) {
      const unsigned lanes = __ballot_sync(0xFFFFFFFFU, excluded);
      if (!excluded) return;
      ++sum;
      const unsigned same = __match_any_sync(lanes, v);
      if (__ffs(static_cast<int>(same)) - 1 != static_cast<int>(threadIdx.x % kLanes)) return;
      atomicAdd(&counts[static_cast<std::uint32_t>(v) >> shift],
                static_cast<std::uint32_t>(__popc(same)));
    });
    __syncwarp();
  }
  sum = warp_sum(sum);
  if (threadIdx.x % kLanes == 0 && sum != 0) atomicAdd(&counts[levels], sum);
}

/// Subtracts the excluded pixels from a frame's counts, unless they are all of its `samples`, and
/// clears them; one thread a value. Where the frame has several copies of its counts, the first one
/// may wrap below 0, which their sum makes good.
__global__ void __launch_bounds__(kMaskThreads)
    leave_out_kernel(std::uint32_t* counts, std::uint32_t levels, std::uint32_t samples,
                     std::uint32_t* excluded) {
  const bool subtracts = excluded[levels] != samples;
  const std::uint32_t v = blockIdx.x * kMaskThreads + threadIdx.x;
  if (v >= levels) return;
  const std::uint32_t less = excluded[v];
  if (less == 0) return;
  if (subtracts) counts[v] -= less;
  excluded[v] = 0;
}

unsigned blocks_for(std::uint64_t warps) {
  constexpr std::uint64_t kWarps = kMaskThreads / kLanes;
  return static_cast<unsigned>(
      std::min<std::uint64_t>((warps + kWarps - 1) / kWarps, kMostReaders));
}

}  // namespace

/// A frame as the kernels that count see it.
struct ExcludedPixels::Frame {
  PixelValues values;
  Excluded of;
  unsigned blocks;

  [[nodiscard]] bool excludes() const { return of.outside != nullptr || of.surround != nullptr; }
};

void ExcludedPixels::configure(const ImageDesc& desc, const YuvWeights& weights) {
  desc_ = desc;
  weights_ = weights;
  counts_.reset();
  outside_ = upload_outside(params_.region);
  surround_.configure(desc.width, desc.height, weights.luma_max, traits(desc.format).depth);
  allocate();
}

void ExcludedPixels::update(const EqualizeParams& params) {
  if (desc_.width != 0) {
    if (params.region != params_.region) outside_ = upload_outside(params.region);
    // Forgets the surround: frames in between were not looked at.
    if (params.surround != params_.surround) surround_.reset();
  }
  params_ = params;
  if (desc_.width != 0) allocate();
}

void ExcludedPixels::allocate() {
  if (params_.surround == Surround::ignore) surround_.allocate();
  if (!active() || counts_ || !has_deep_samples(desc_.format)) return;
  const auto words = static_cast<std::size_t>(weights_.luma_max) + 2;
  counts_ = allocate_device<std::uint32_t>(words);
  fill_device(counts_.get(), 0, words * sizeof(std::uint32_t), "clearing the excluded pixels");
}

DevicePointer<std::uint32_t> ExcludedPixels::upload_outside(const std::string& region) const {
  const RegionOutside outside(region, desc_);
  if (outside.empty()) return nullptr;
  const auto row_words = (static_cast<std::size_t>(desc_.width) + 31) / 32;
  std::vector<std::uint32_t> bits(row_words * static_cast<std::size_t>(desc_.height));
  for (int y = 0; y < desc_.height; ++y) {
    std::uint32_t* row = bits.data() + row_words * static_cast<std::size_t>(y);
    for (const Columns& run : outside.row(y)) {
      for (std::int32_t x = run.begin; x < run.end; ++x)
        row[x / 32] |= 1U << (x % 32);
    }
  }
  DevicePointer<std::uint32_t> memory = allocate_device<std::uint32_t>(bits.size());
  upload(memory.get(), bits.data(), bits.size() * sizeof(std::uint32_t), "uploading the region");
  check(cudaDeviceSynchronize(), "waiting for the region, and for frames with the one before");
  return memory;
}

ExcludedPixels::Frame ExcludedPixels::look(const ConstImageView& in, const FrameContext& context,
                                           cudaStream_t stream) {
  const PixelValues values =
      pixel_values(in, weights_, context.field_order != FieldOrder::progressive);
  const bool surrounds = params_.surround == Surround::ignore;
  if (surrounds) surround_.follow(values, context.pts_ns, stream);
  const std::uint64_t words = (static_cast<std::uint64_t>(desc_.width) + 31) / 32 *
                              static_cast<std::uint64_t>(desc_.height);
  return {values,
          {outside_.get(), surrounds ? surround_.on_device() : nullptr,
           surround::dark_level(weights_.luma_max)},
          blocks_for((words + kWarpWords - 1) / kWarpWords)};
}

void ExcludedPixels::enqueue(const ConstImageView& in, const FrameContext& context,
                             FusedState* state, cudaStream_t stream) {
  const Frame frame = look(in, context, stream);
  if (!frame.excludes()) return;
  count_excluded_kernel<<<frame.blocks, kMaskThreads, 0, stream>>>(frame.values, surround_.grid(),
                                                                   frame.of, state);
  check(cudaGetLastError(), "counting the excluded pixels");
}

void ExcludedPixels::leave_out(const ConstImageView& in, const FrameContext& context,
                               const DeepCount& count, cudaStream_t stream) {
  const Frame frame = look(in, context, stream);
  if (!frame.excludes()) return;
  const auto kernel = count.levels <= kDeepSharedLevels ? count_deep_excluded_kernel<true>
                                                        : count_deep_excluded_kernel<false>;
  kernel<<<frame.blocks, kMaskThreads, 0, stream>>>(frame.values, surround_.grid(), frame.of,
                                                    count.levels, count.shift, counts_.get());
  check(cudaGetLastError(), "counting the excluded pixels");
  const auto samples =
      static_cast<std::uint32_t>(desc_.width) * static_cast<std::uint32_t>(desc_.height);
  leave_out_kernel<<<(count.levels + kMaskThreads - 1) / kMaskThreads, kMaskThreads, 0, stream>>>(
      count.counts, count.levels, samples, counts_.get());
  check(cudaGetLastError(), "leaving out the excluded pixels");
  check(cudaMemsetAsync(counts_.get() + count.levels, 0, sizeof(std::uint32_t), stream),
        "clearing the sum of the excluded pixels");
}

}  // namespace equalux::cuda
