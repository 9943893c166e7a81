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
constexpr unsigned kMostReaders = 4096;  // blocks
/// Words of 32 pixels that a warp tests at a time, one per lane; a word without excluded pixels
/// costs nothing more.
constexpr unsigned kWarpWords = 8;

/// Tells count_excluded_kernel() which pixels are excluded.
struct Excluded {
  const std::uint32_t* outside;   ///< bits of the pixels outside the region, or null
  const SurroundState* surround;  ///< null where the surround counts
  int dark;                       ///< largest value of the surround that is left out
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

/// Counts the excluded pixels of a frame by value. A warp tests kWarpWords words of 32 bits, then
/// reads the pixels of words that have excluded ones: one word at a time, one pixel per lane. The
/// block counts in shared memory and adds its counts to device memory at the end.
__global__ void __launch_bounds__(kMaskThreads)
    count_excluded_kernel(const __grid_constant__ PixelValues values,
                          const __grid_constant__ Grid grid, const __grid_constant__ Excluded of,
                          FusedState* state) {
  const bool surrounds = of.surround != nullptr && of.surround->marks_any != 0;
  if (of.outside == nullptr && !surrounds) return;
  __shared__ std::uint32_t counts[256];
  counts[threadIdx.x] = 0;
  __syncthreads();
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
      if (column >= grid.width || !(is_outside || is_around)) continue;
      const std::int32_t v = values(column, row);
      if (is_outside || v <= of.dark) atomicAdd(&counts[v], 1U);
    }
  }
  __syncthreads();
  const std::uint32_t mine = counts[threadIdx.x];
  ExcludedCounts& excluded = state->excluded[state->frames & 1];
  if (mine != 0) atomicAdd(&excluded.counts[threadIdx.x], mine);
  const std::uint32_t sum = warp_sum(mine);
  if (lane == 0 && sum != 0) atomicAdd(&excluded.total, sum);
}

unsigned blocks_for(std::uint64_t warps) {
  constexpr std::uint64_t kWarps = kMaskThreads / kLanes;
  return static_cast<unsigned>(
      std::min<std::uint64_t>((warps + kWarps - 1) / kWarps, kMostReaders));
}

}  // namespace

void ExcludedPixels::configure(const ImageDesc& desc, const YuvWeights& weights) {
  desc_ = desc;
  weights_ = weights;
  outside_ = upload_outside(params_.region);
  surround_.configure(desc.width, desc.height, weights.luma_max);
  if (params_.surround == Surround::ignore) surround_.allocate();
}

void ExcludedPixels::update(const EqualizeParams& params) {
  if (desc_.width != 0) {
    if (params.region != params_.region) outside_ = upload_outside(params.region);
    // Forgets the surround: frames in between were not looked at.
    if (params.surround != params_.surround) surround_.reset();
    if (params.surround == Surround::ignore) surround_.allocate();
  }
  params_ = params;
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

void ExcludedPixels::enqueue(const ConstImageView& in, const FrameContext& context,
                             FusedState* state, cudaStream_t stream) {
  const PixelValues values =
      pixel_values(in, weights_, context.field_order != FieldOrder::progressive);
  const bool surrounds = params_.surround == Surround::ignore;
  if (surrounds) surround_.follow(values, context.pts_ns, stream);
  if (!surrounds && !outside_) return;
  const Excluded of{outside_.get(), surrounds ? surround_.on_device() : nullptr,
                    surround::dark_level(weights_.luma_max)};
  const std::uint64_t words = (static_cast<std::uint64_t>(desc_.width) + 31) / 32 *
                              static_cast<std::uint64_t>(desc_.height);
  count_excluded_kernel<<<blocks_for((words + kWarpWords - 1) / kWarpWords), kMaskThreads, 0,
                          stream>>>(values, surround_.grid(), of, state);
  check(cudaGetLastError(), "counting the excluded pixels");
}

}  // namespace equalux::cuda
