#pragma once

#include <cstdint>

#include "fused_layouts.cuh"
#include "fused_yuv.cuh"
#include "grid_barrier.cuh"

/// The fused chain as one cooperative kernel, one block a multiprocessor:
///
///   1. every warp brings its chunks into its ring of slots and counts their values;
///   2. the blocks add their histograms up in device memory and meet at a barrier;
///   3. every block makes the gains from the sum;
///   4. every warp scales its chunks, last one first: those of the end of pass 1 are still in its
///      slots, and those before come from L2 as long as they are there.
///
/// A frame is read once where it fits the slots (all of 1920x1080 and more), and chunks belong to
/// the same warp in both passes, so that a frame may be filtered in place.
namespace equalux::cuda {

#if defined(__CUDA_ARCH__)
inline constexpr int kArch = __CUDA_ARCH__;
#else
inline constexpr int kArch = 900;
#endif
inline constexpr FusedConfig kConfig = fused_config(kArch);
static_assert(kConfig.table_bytes() + kConfig.ring_bytes() + sizeof(CurveScratch) <=
              static_cast<std::size_t>(most_shared_kib(kArch)) * 1024);

/// The chunks of one warp, by a number from 0, and their slots.
template <typename Layout, bool kAligned>
class WarpChunks {
 public:
  __device__ WarpChunks(const FusedParams& p, std::uint8_t* ring, int warp, int lane)
      : p_(p), slots_(ring + warp * (kConfig.slots * kChunkBytes)), lane_(lane) {
    // All blocks together walk through the frame, which device memory likes best.
    step_ = gridDim.x * kConfig.warps;
    first_ = blockIdx.x * kConfig.warps + static_cast<std::uint32_t>(warp);
    count_ = p.chunks > first_ ? static_cast<int>((p.chunks - first_ - 1) / step_ + 1) : 0;
    most_ = static_cast<int>((p.chunks - 1) / step_ + 1);
  }

  [[nodiscard]] __device__ int count() const { return count_; }
  /// Of the warp that has most.
  [[nodiscard]] __device__ int most() const { return most_; }

  [[nodiscard]] __device__ std::uint8_t* slot(int i) const {
    return slots_ + i % kConfig.slots * kChunkBytes;
  }

  [[nodiscard]] __device__ Chunk chunk(int i) const {
    const std::uint32_t index = first_ + static_cast<std::uint32_t>(i) * step_;
    const std::uint32_t line = p_.chunks_per_line.quotient(index);
    const std::uint32_t x = (index - line * p_.chunks_per_line.divisor) * Layout::kPixels;
    const std::uint32_t left = p_.width - x;
    return {line, x, left < Layout::kPixels ? static_cast<int>(left) : Layout::kPixels};
  }

  /// Starts the copy of chunk i into its slot, if there is one, as one group.
  __device__ __forceinline__ void load(int i) const {
    if (i >= 0 && i < count_) {
      const Chunk at = chunk(i);
      std::uint8_t* to = slot(i);
      load_one<0>(at, to);
      if constexpr (Layout::kSpans > 1) load_one<1>(at, to);
      if constexpr (Layout::kSpans > 2) load_one<2>(at, to);
      if constexpr (Layout::kSpans > 3) load_one<3>(at, to);
    }
    copies_commit();
  }

  __device__ __forceinline__ void store(const Chunk& at, const std::uint8_t* from) const {
    store_one<0>(at, from);
    if constexpr (Layout::kSpans > 1) store_one<1>(at, from);
    if constexpr (Layout::kSpans > 2) store_one<2>(at, from);
    if constexpr (Layout::kSpans > 3) store_one<3>(at, from);
  }

 private:
  template <int kSpan>
  __device__ __forceinline__ void load_one(const Chunk& at, std::uint8_t* slot) const {
    const SpanPlace place = Layout::span(p_, kSpan, at);
    const auto row = static_cast<std::int64_t>(place.row) * p_.in_stride[place.plane];
    load_span<kAligned, Layout::capacity(kSpan)>(
        slot + Layout::offset(kSpan),
        {p_.in[place.plane] + row + place.first_byte, place.bytes}, lane_);
  }

  template <int kSpan>
  __device__ __forceinline__ void store_one(const Chunk& at, const std::uint8_t* slot) const {
    const SpanPlace place = Layout::span(p_, kSpan, at);
    const auto row = static_cast<std::int64_t>(place.row) * p_.out_stride[place.plane];
    store_span<kAligned, Layout::capacity(kSpan)>(
        {p_.out[place.plane] + row + place.first_byte, place.bytes},
        slot + Layout::offset(kSpan), lane_);
  }

  const FusedParams& p_;
  std::uint8_t* slots_;
  int lane_;
  std::uint32_t first_;
  std::uint32_t step_;
  int count_;
  int most_;
};

/// Pass 1. Returns with this block's histogram added to `counts`.
template <typename Layout, bool kAligned>
__device__ __forceinline__ void count_chunks(const FusedParams& p,
                                             const WarpChunks<Layout, kAligned>& chunks,
                                             std::uint8_t* tables, std::uint32_t* counts) {
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kLanes;
  for (int i = 0; i < kConfig.slots; ++i) chunks.load(i);

  ValueCounter counter(tables, thread / kLanes, lane);
  std::uint32_t sums[2] = {0, 0};
  constexpr int kEpoch = kMostCounts / Layout::kPixelsPerLane;
  for (int begin = 0; begin < chunks.most(); begin += kEpoch) {
    const int end = min(begin + kEpoch, chunks.count());
    for (int i = begin; i < end; ++i) {
      copies_wait<kConfig.slots - 1>();
      __syncwarp();
      Layout::count(p, chunks.slot(i), lane, chunks.chunk(i), counter);
      __syncwarp();
      chunks.load(i + kConfig.slots);
    }
    __syncthreads();
    add_up(tables, thread, begin + kEpoch < chunks.most(), sums);
    __syncthreads();
  }

  // The tables are free: one table's sums after another's.
  auto* block_sums = reinterpret_cast<std::uint32_t*>(tables);
  constexpr int kTableThreads = kWarpsPerTable * kLanes;
  const int table = thread / kTableThreads;
  const int within = thread % kTableThreads;
  block_sums[table * 256 + within] = sums[0];
  block_sums[table * 256 + kTableThreads + within] = sums[1];
  __syncthreads();
  for (int v = thread; v < 256; v += kConfig.threads()) {
    std::uint32_t sum = 0;
    for (int t = 0; t < kConfig.tables(); ++t) sum += block_sums[t * 256 + v];
    // Neighbouring lanes add to neighbouring words: whole lines go to L2.
    if (__any_sync(__activemask(), sum != 0)) atomicAdd(counts + v, sum);
  }
}

/// Pass 2.
template <typename Layout, bool kAligned>
__device__ __forceinline__ void apply_chunks(const FusedParams& p,
                                             const WarpChunks<Layout, kAligned>& chunks,
                                             const std::uint8_t* table,
                                             const std::uint64_t* chroma) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const GainTable<kConfig.gain_stride> gains(table, chroma, lane);
  // Pass 1 left the last chunks in their slots; what it started for chunks past the end is empty.
  for (int i = chunks.count() - 1; i >= 0; --i) {
    copies_wait<kConfig.slots - 1>();
    __syncwarp();
    const Chunk at = chunks.chunk(i);
    std::uint8_t* slot = chunks.slot(i);
    Layout::apply(p, slot, lane, at, gains);
    __syncwarp();
    chunks.store(at, slot);
    __syncwarp();
    chunks.load(i - kConfig.slots);
  }
}

/// With programmatic dependent launch a kernel starts while the one before it still runs: its
/// blocks take their places as they become free, and wait here until the other's results stand.
__device__ __forceinline__ void wait_for_earlier_kernels() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
}

template <typename Layout, bool kAligned>
__global__ void __launch_bounds__(kConfig.threads(), 1)
    fused_kernel(const __grid_constant__ FusedParams p) {
  extern __shared__ __align__(128) std::uint8_t shared[];
  __shared__ CurveScratch scratch;
  std::uint8_t* tables = shared;
  std::uint8_t* ring = shared + kConfig.table_bytes();
  const int thread = static_cast<int>(threadIdx.x);

  for (int i = thread; i < kConfig.table_bytes() / kVectorBytes; i += kConfig.threads()) {
    reinterpret_cast<uint4*>(tables)[i] = uint4{0, 0, 0, 0};
  }
  wait_for_earlier_kernels();
  __syncthreads();
  const std::uint32_t parity = *static_cast<volatile std::uint32_t*>(&p.state->frames) & 1;
  const std::uint32_t barrier = read_barrier(&p.state->arrived);
  for (int v = thread; v < 256; v += kConfig.threads()) {
    scratch.last_of_bin[v] = p.state->last_of_bin[v];
  }
  const WarpChunks<Layout, kAligned> chunks(p, ring, thread / kLanes, thread % kLanes);
  count_chunks(p, chunks, tables, p.state->counts[parity]);
  grid_barrier(&p.state->arrived, barrier);
  if (blockIdx.x == 0) {
    // Everybody has read the frame's number, and the histogram of the next frame is not in use.
    for (int v = thread; v < 256; v += kConfig.threads()) p.state->counts[parity ^ 1][v] = 0;
    if (thread == 0) p.state->frames += 1;
  }
  make_gain_table<kConfig.threads(), kConfig.gain_stride, Layout::kChroma>(
      p, p.state->counts[parity], scratch, tables);
  apply_chunks(p, chunks, tables, scratch.chroma);
}

/// The instance for a layout, for frames of which every plane is aligned or for any.
template <typename Layout>
const void* kernel_of(bool aligned) {
  return aligned ? reinterpret_cast<const void*>(&fused_kernel<Layout, true>)
                 : reinterpret_cast<const void*>(&fused_kernel<Layout, false>);
}

}  // namespace equalux::cuda
