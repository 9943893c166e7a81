#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "fused_layouts.cuh"
#include "grid_histogram.cuh"
#include "partial_cells.cuh"

/// The fused chain as one kernel, one block a multiprocessor, all of them at the same time:
///
///   1. every warp brings its chunks into its ring of slots and counts their values;
///   2. the blocks add their histograms up in device memory, where each waits for all others';
///   3. every block makes the gains from the sum;
///   4. every warp scales its chunks, last one first: those of the end of pass 1 are still in its
///      slots, and those before come from L2 as long as they are there.
///
/// Over time, a further block without chunks makes what the next frame needs of the history in the
/// meantime.
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

/// Calls `work` with 0, 1 ... as constants.
template <int kCount, typename Work>
__device__ __forceinline__ void for_constants(Work work) {
  if constexpr (kCount > 0) {
    for_constants<kCount - 1>(work);
    work(std::integral_constant<int, kCount - 1>{});
  }
}

/// Where a chunk lies, counted in chunks.
struct ChunkPlace {
  std::uint32_t line;
  std::uint32_t column;
};

/// The chunks of one warp and their slots. All blocks together walk through the frame, which device
/// memory likes best, and those that have a chunk more have it in one warp at most more than
/// others; a step forward or back takes a few additions.
template <typename Layout, bool kAligned>
class WarpChunks {
 public:
  __device__ WarpChunks(const FusedParams& p, std::uint8_t* ring, int warp, int lane)
      : p_(p), slots_(ring + warp * (kConfig.slots * kChunkBytes)), lane_(lane) {
    const std::uint32_t first = static_cast<std::uint32_t>(warp) * p.workers + blockIdx.x;
    first_ = {first / p.columns, first % p.columns};
    const auto most = static_cast<int>(p.rounds + (first < p.rest ? 1 : 0));
    count_ = blockIdx.x < p.workers ? most : 0;
  }

  [[nodiscard]] __device__ int count() const { return count_; }
  [[nodiscard]] __device__ ChunkPlace first() const { return first_; }

  __device__ __forceinline__ void forward(ChunkPlace& at) const {
    at.line += p_.step.line;
    at.column += p_.step.column;
    if (at.column >= p_.columns) {
      at.column -= p_.columns;
      ++at.line;
    }
  }
  __device__ __forceinline__ void back(ChunkPlace& at) const {
    at.line -= p_.step.line;
    if (at.column < p_.step.column) {
      at.column += p_.columns;
      --at.line;
    }
    at.column -= p_.step.column;
  }

  [[nodiscard]] __device__ std::uint8_t* slot(int i) const {
    return slots_ + i % kConfig.slots * kChunkBytes;
  }
  [[nodiscard]] __device__ __forceinline__ std::uint8_t* slot_after(std::uint8_t* slot) const {
    return slot == slots_ + (kConfig.slots - 1) * kChunkBytes ? slots_ : slot + kChunkBytes;
  }
  [[nodiscard]] __device__ __forceinline__ std::uint8_t* slot_before(std::uint8_t* slot) const {
    return slot == slots_ ? slots_ + (kConfig.slots - 1) * kChunkBytes : slot - kChunkBytes;
  }

  [[nodiscard]] __device__ __forceinline__ Chunk chunk(const ChunkPlace& at) const {
    const std::uint32_t x = at.column * Layout::kPixels;
    const std::uint32_t left = p_.width - x;
    return {at.line, x, left < Layout::kPixels ? static_cast<int>(left) : Layout::kPixels};
  }

  /// Starts the copy of a chunk into a slot.
  __device__ __forceinline__ void load(const ChunkPlace& at, std::uint8_t* slot) const {
    const Chunk chunk = this->chunk(at);
    const bool whole = is_whole(chunk);
    for_constants<Layout::kSpans>([&](auto s) {
      const SpanPlace place = Layout::span(p_, s, chunk);
      const std::uint8_t* from = p_.in[place.plane] + offset(place, p_.in_stride[place.plane]);
      if (whole) {
        load_whole<Layout::capacity(s)>(slot + Layout::offset(s), from, lane_);
      } else {
        load_some<kAligned, Layout::capacity(s)>(slot + Layout::offset(s), from, place.bytes,
                                                 lane_);
      }
    });
  }

  /// Writes what a slot has of a chunk.
  __device__ __forceinline__ void store(const Chunk& chunk, const std::uint8_t* slot) const {
    const bool whole = is_whole(chunk);
    for_constants<Layout::kSpans>([&](auto s) {
      const SpanPlace place = Layout::span(p_, s, chunk);
      std::uint8_t* to = p_.out[place.plane] + offset(place, p_.out_stride[place.plane]);
      if (whole) {
        store_whole<Layout::capacity(s)>(to, slot + Layout::offset(s), lane_);
      } else {
        store_some<kAligned>(to, slot + Layout::offset(s), place.bytes, lane_);
      }
    });
  }

 private:
  [[nodiscard]] __device__ __forceinline__ bool is_whole(const Chunk& chunk) const {
    return kAligned && chunk.pixels == Layout::kPixels && !p_.lacks_rows;
  }
  static __device__ __forceinline__ std::int64_t offset(const SpanPlace& place,
                                                        std::int32_t stride) {
    return static_cast<std::int64_t>(static_cast<std::int32_t>(place.row)) * stride +
           place.first_byte;
  }

  const FusedParams& p_;
  std::uint8_t* slots_;
  int lane_;
  ChunkPlace first_;
  int count_;
};

using Counter = ValueCounter<kConfig.tables()>;

/// Pass 1, on slots of which the first are being filled; `ahead` is the place of the chunk after
/// those, and in the end of the one after the warp's last. Returns with this block's histogram
/// added to `histogram`.
template <typename Layout, bool kAligned>
__device__ __forceinline__ void count_chunks(const FusedParams& p,
                                             const WarpChunks<Layout, kAligned>& chunks,
                                             ChunkPlace& ahead, std::uint8_t* tables,
                                             GridHistogram& histogram) {
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kLanes;
  Counter counter(tables, thread / kLanes, lane);
  std::uint32_t sums[2] = {0, 0};
  constexpr int kEpoch = kMostCounts / Layout::kPixelsPerLane;
  const int most = static_cast<int>(p.rounds + (p.rest != 0 ? 1 : 0));
  ChunkPlace at = chunks.first();
  std::uint8_t* slot = chunks.slot(0);
  for (int begin = 0; begin < most; begin += kEpoch) {
    const int end = min(begin + kEpoch, chunks.count());
    for (int i = begin; i < end; ++i) {
      copies_wait<kConfig.slots - 1>();
      __syncwarp();
      Layout::count(p, slot, lane, counter);
      if constexpr (Layout::kChroma) {
        if (p.has_partial_cells) {
          uncount_missing<Layout>(p, slot, lane, chunks.chunk(at), counter);
          chunks.forward(at);
        }
      }
      __syncwarp();
      if (i + kConfig.slots < chunks.count()) {
        chunks.load(ahead, slot);
        chunks.forward(ahead);
      }
      copies_commit();
      slot = chunks.slot_after(slot);
    }
    __syncthreads();
    add_up<kConfig.tables()>(tables, thread, begin + kEpoch < most, sums);
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
  if (thread < 128) {
    uint2 sum{0, 0};
    for (int t = 0; t < kConfig.tables(); ++t) {
      const auto* pairs = reinterpret_cast<const uint2*>(block_sums + t * 256);
      sum.x += pairs[thread].x;
      sum.y += pairs[thread].y;
    }
    // Neighbouring lanes add to neighbouring words: whole lines go to L2.
    add_to_grid(histogram, thread, sum.x, sum.y);
  }
}

/// Pass 2, backwards from the chunk before `place`.
template <typename Layout, bool kAligned>
__device__ __forceinline__ void apply_chunks(const FusedParams& p,
                                             const WarpChunks<Layout, kAligned>& chunks,
                                             ChunkPlace place, const std::uint8_t* table,
                                             const std::uint64_t* chroma) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const GainTable<kConfig.gain_stride> gains(table, chroma, lane);
  int i = chunks.count() - 1;
  chunks.back(place);
  ChunkPlace behind = place;
  for (int k = 0; k < kConfig.slots; ++k)
    chunks.back(behind);
  std::uint8_t* slot = chunks.slot(max(i, 0));
  // Pass 1 left the last chunks in their slots; what it started for chunks past the end is empty.
  for (; i >= 0; --i) {
    copies_wait<kConfig.slots - 1>();
    __syncwarp();
    const Chunk chunk = chunks.chunk(place);
    std::uint8_t extra = 0;
    if constexpr (Layout::kChroma) {
      if (p.has_partial_cells) extra = mend_missing<Layout>(p, slot, lane, chunk);
    }
    Layout::apply(p, slot, lane, gains);
    if constexpr (Layout::kChroma) {
      if (Layout::kKeepsExtraLuma && p.has_partial_cells) {
        keep_extra_luma<Layout>(slot, lane, chunk, extra);
      }
    }
    __syncwarp();
    chunks.store(chunk, slot);
    __syncwarp();
    if (i >= kConfig.slots) {
      chunks.load(behind, slot);
      chunks.back(behind);
    }
    copies_commit();
    chunks.back(place);
    slot = chunks.slot_before(slot);
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

  // First what does not depend on earlier kernels.
  for (int v = thread; v < 256; v += kConfig.threads()) {
    scratch.ratio[v] = p.state->inverse[v];
    scratch.last_of_bin[v] = p.state->last_of_bin[v];
  }
  for (int i = thread; i < kConfig.table_bytes() / kVectorBytes; i += kConfig.threads()) {
    reinterpret_cast<uint4*>(tables)[i] = uint4{0, 0, 0, 0};
  }
  if (p.shapes_curve && thread == 0) set_up_curve(p, scratch.state);
  const WarpChunks<Layout, kAligned> chunks(p, ring, thread / kLanes, thread % kLanes);
  ChunkPlace place = chunks.first();
  wait_for_earlier_kernels();
  const bool keeps = p.tone.over_time && blockIdx.x == gridDim.x - 1;
  if (p.tone.over_time) {
    constexpr std::size_t kForGain = offsetof(CurveAhead, history.previous);
    CurveAhead& ahead = scratch.state.ahead;
    if (keeps)
      load_state<kConfig.threads()>(ahead, p.state->ahead);
    else
      load_state<kConfig.threads(), kForGain>(ahead, p.state->ahead);
    copies_commit();
  }
  // Before the frame's bytes, behind which it would wait.
  std::uint32_t frames = __ldcg(&p.state->frames);
#pragma unroll 1
  for (int i = 0; i < kConfig.slots; ++i) {
    if (i < chunks.count()) {
      chunks.load(place, chunks.slot(i));
      chunks.forward(place);
    }
    copies_commit();
  }
  asm volatile("" : "+r"(frames));  // Nobody waits for it before.
  const std::uint32_t parity = frames & 1;
  if (p.tone.over_time) copies_wait<kConfig.slots>();  // for what is ahead, the first of all copies
  __syncthreads();
  count_chunks(p, chunks, place, tables, p.state->counts[parity]);
  make_frame_curve<kConfig.threads()>(p, p.state->counts[parity], p.state->excluded[parity], keeps,
                                      scratch);
  const bool works = blockIdx.x < p.workers;
  if (works) {
    make_gain_table<kConfig.threads(), kConfig.gain_stride, Layout::kChroma>(p, scratch, tables);
  }
  if (blockIdx.x == 0) {
    // Everybody has read the frame's number, and the histogram of the next frame is not in use.
    GridCell* next = &p.state->counts[parity ^ 1][0][0];
    for (int i = thread; i < kGridCopies * 128; i += kConfig.threads())
      next[i] = 0;
    auto* next_excluded = reinterpret_cast<std::uint32_t*>(&p.state->excluded[parity ^ 1]);
    for (int i = thread; i <= 256; i += kConfig.threads())
      next_excluded[i] = 0;
    if (thread == 0) p.state->frames = frames + 1;
    if (p.collects_curve) collect_curve<kConfig.threads()>(p, scratch);
  }
  if (works) apply_chunks(p, chunks, place, tables, scratch.chroma);
  if (keeps) {
    __syncthreads();
    keep_curve<kConfig.threads()>(*p.state, scratch);
  }
}

/// The instance for a layout, for frames of which every plane is aligned or for any.
template <typename Layout>
const void* kernel_of(bool aligned) {
  return aligned ? reinterpret_cast<const void*>(&fused_kernel<Layout, true>)
                 : reinterpret_cast<const void*>(&fused_kernel<Layout, false>);
}

}  // namespace equalux::cuda
