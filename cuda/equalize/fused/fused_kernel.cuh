#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cuda/device/dependent_launch.cuh"
#include "cuda/device/value_counter.cuh"
#include "cuda/equalize/fused/exact_cells.cuh"
#include "cuda/equalize/fused/fused_curve.cuh"
#include "cuda/equalize/fused/fused_kernels.h"
#include "cuda/equalize/fused/grid_histogram.cuh"
#include "cuda/equalize/fused/saturation_table.cuh"
#include "cuda/equalize/fused/warp_chunks.cuh"

/// Fused chain: a frame's histogram, curve and scaling in one kernel, with one block on each
/// multiprocessor, all of them resident at the same time.
///
///   1. Each warp copies its chunks into its ring of slots and counts their values.
///   2. The blocks add their histograms in device memory, where each waits for all others.
///   3. Each block makes the gain table from the sum.
///   4. Each warp scales its chunks, last one first: those of the end of pass 1 are still in its
///      slots, and earlier ones come from L2 as long as they are there. Where saturation changes,
///      the block then decides what fast arithmetic has left open; see open_cells.cuh.
///
/// Over time, an extra block without chunks meanwhile makes what the next frame needs of the
/// history.
///
/// A chunk is three vectors of 16 bytes for each lane; which pixels those are is up to the layout.
/// Shared memory has the counters, later the gains, both with a copy for each lane, so that none
/// has bank conflicts, and the slots. Two to six slots for each warp hide the latency of copies
/// without registers; at most 16 warps leave a thread 128 registers for the words of a chunk. A
/// frame is read once where it fits the slots (19 MB on 132 multiprocessors of 9.0), and written
/// once. A chunk belongs to the same warp in both passes, so that a frame may be filtered in place.
/// Gains are in single precision, moved off the halves that they would round wrong at, so results
/// are those of the exact fractions; see fused_curve.cuh.
namespace equalux::cuda {

static_assert(kConfig.table_bytes() + kConfig.ring_bytes() + kConfig.open_cell_bytes() +
                  sizeof(std::uint32_t) + sizeof(CurveScratch) <=
              static_cast<std::size_t>(most_shared_kib(kArch)) * 1024);

using Counter = ValueCounter<kConfig.tables()>;

/// Pass 1: counts the chunks, of which the first are being copied into the slots, and starts the
/// copies of the others. `ahead` is the position of the first of those. All copies started before
/// the frame's are complete on return.
template <typename Chunks>
__device__ __forceinline__ void count_chunks(const Chunks& chunks, typename Chunks::Place at,
                                             typename Chunks::Place ahead, std::uint8_t* tables) {
  const int thread = static_cast<int>(threadIdx.x);
  const Counter counter(tables, thread / kLanes, thread % kLanes);
  std::uint8_t* slot = chunks.slot(0);
  for (int i = 0; i < chunks.count(); ++i) {
    copies_wait<kConfig.slots - 1>();
    chunks.count_values(at, slot, counter);
    if (i + kConfig.slots < chunks.count()) {
      chunks.load(ahead, slot);
      chunks.forward(ahead);
    }
    copies_commit();
    slot = chunks.slot_after(slot);
  }
  copies_wait<kConfig.slots>();
}

/// Adds the block's histogram to `histogram`.
__device__ __forceinline__ void hand_over_counts(std::uint8_t* tables, GridHistogram& histogram) {
  const int thread = static_cast<int>(threadIdx.x);
  __syncthreads();
  constexpr int kRowsEach = 256 * kConfig.tables() / kConfig.threads();
  static_assert(kRowsEach * kConfig.threads() == 256 * kConfig.tables());
  std::uint32_t sums[kRowsEach];
#pragma unroll
  for (int i = 0; i < kRowsEach; ++i) {
    const int row = thread + i * kConfig.threads();
    sums[i] = row_sum<kConfig.tables()>(tables, row / 256, row % 256);
  }
  __syncthreads();
  // The counters are done: their memory takes the sums of one table after another.
  auto* block_sums = reinterpret_cast<std::uint32_t*>(tables);
#pragma unroll
  for (int i = 0; i < kRowsEach; ++i)
    block_sums[thread + i * kConfig.threads()] = sums[i];
  __syncthreads();
  if (thread < 128) {
    uint2 sum{0, 0};
    for (int t = 0; t < kConfig.tables(); ++t) {
      const auto* pairs = reinterpret_cast<const uint2*>(block_sums + t * 256);
      sum.x += pairs[thread].x;
      sum.y += pairs[thread].y;
    }
    // Neighbouring lanes add to neighbouring words, so that whole cache lines go to L2.
    add_to_grid(histogram, thread, sum.x, sum.y);
  }
}

/// Pass 2: scales the warp's chunks backwards from the last one, at `to`. `from` is kConfig.slots
/// chunks before it.
template <typename Chunks, typename Gains>
__device__ __forceinline__ void apply_chunks(const Chunks& chunks, typename Chunks::Place to,
                                             typename Chunks::Place from, const Gains& gains) {
  int i = chunks.count() - 1;
  std::uint8_t* slot = chunks.slot(max(i, 0));
  // Pass 1 left the last chunks in their slots; copies that it started for chunks past the end are
  // empty.
  for (; i >= 0; --i) {
    copies_wait<kConfig.slots - 1>();
    chunks.scale(to, slot, gains);
    if (i >= kConfig.slots) {
      chunks.load(from, slot);
      chunks.input_back(from);
    }
    copies_commit();
    chunks.output_back(to);
    slot = chunks.slot_before(slot);
  }
}

/// Kernel for a layout and a kind of chunks, as the top of this file says. kSaturates: saturation
/// changes, too.
template <typename Layout, typename Chunks, bool kSaturates>
__global__ void __launch_bounds__(kConfig.threads(), 1)
    fused_kernel(const __grid_constant__ FusedParams p) {
  extern __shared__ __align__(128) std::uint8_t shared[];
  __shared__ CurveScratch scratch;
  std::uint8_t* tables = shared;
  std::uint8_t* ring = shared + kConfig.table_bytes();
  const int thread = static_cast<int>(threadIdx.x);

  // Work that does not depend on earlier kernels comes before the wait.
  for (int v = thread; v < 256; v += kConfig.threads()) {
    scratch.ratio[v] = p.state->inverse[v];
    scratch.last_of_bin[v] = p.state->last_of_bin[v];
  }
  for (int i = thread; i < kConfig.table_bytes() / kVectorBytes; i += kConfig.threads()) {
    reinterpret_cast<uint4*>(tables)[i] = uint4{0, 0, 0, 0};
  }
  if (p.shapes_curve && thread == 0) set_up_curve(p, scratch.state);
  __shared__ std::uint32_t open_count;
  if (kSaturates && thread == 0) open_count = 0;
  const Chunks chunks(p, ring);
  const auto first = chunks.input(0);
  const auto last = chunks.output(chunks.count() - 1);
  const auto refetched = chunks.input(chunks.count() - 1 - kConfig.slots);
  release_then_wait();
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
  // Issued before the frame's copies, behind which it would queue.
  std::uint32_t frames = 0;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(frames) : "l"(&p.state->frames) : "memory");
  auto ahead = first;
  std::uint8_t* slot = chunks.slot(0);
#pragma unroll 1
  for (int i = 0; i < kConfig.slots; ++i) {
    if (i < chunks.count()) {
      chunks.load(ahead, slot);
      chunks.forward(ahead);
    }
    copies_commit();
    slot += kChunkBytes;
  }
  __syncthreads();
  count_chunks(chunks, first, ahead, tables);
  asm volatile("" : "+r"(frames));  // first use: nothing waits for the load before
  const std::uint32_t parity = frames & 1;
  hand_over_counts(tables, p.state->counts[parity]);
  make_frame_curve<kConfig.threads()>(p, p.state->counts[parity], p.state->excluded[parity], keeps,
                                      scratch);
  const bool works = blockIdx.x < p.workers;
  if (works) {
    if constexpr (kSaturates) {
      make_saturation_table<kConfig.threads(), kConfig.gain_stride, Layout::kChroma>(p, scratch,
                                                                                     tables);
    } else {
      make_gain_table<kConfig.threads(), kConfig.gain_stride, Layout::kChroma>(p, scratch, tables);
    }
  }
  if (blockIdx.x == 0) {
    // All blocks have read the frame's number, and the next frame's histogram is not yet in use.
    GridCell* next = &p.state->counts[parity ^ 1][0][0];
    for (int i = thread; i < kGridCopies * 128; i += kConfig.threads())
      next[i] = 0;
    auto* next_excluded = reinterpret_cast<std::uint32_t*>(&p.state->excluded[parity ^ 1]);
    for (int i = thread; i <= 256; i += kConfig.threads())
      next_excluded[i] = 0;
    if (thread == 0) p.state->frames = frames + 1;
    if (p.collects_curve) collect_curve<kConfig.threads()>(p, scratch);
    if constexpr (Layout::kChroma && !kSaturates) {
      if (p.factors_of_results != nullptr) keep_factors_of_results<kConfig.threads()>(p, scratch);
    }
  }
  if (works) {
    const int lane = thread % kLanes;
    if constexpr (kSaturates) {
      using Table = std::conditional_t<Layout::kChroma, SlopeTable<kConfig.gain_stride>,
                                       LineTable<kConfig.gain_stride>>;
      auto* cells = reinterpret_cast<OpenCell*>(ring + kConfig.ring_bytes());
      const OpenCells open(cells, &open_count, kConfig.open_cells);
      const Table table(tables, scratch, lane, open);
      apply_chunks(chunks, last, refetched, table);
      __syncthreads();
      if constexpr (Layout::kChroma)
        close_cells<Layout, kConfig.warps>(p, chunks, table, open, thread);
      else
        close_pixels<Layout, kConfig.warps>(p, chunks, table, open, thread);
    } else {
      const GainTable<kConfig.gain_stride> gains(tables, scratch.chroma, lane);
      apply_chunks(chunks, last, refetched, gains);
    }
  }
  if (keeps) {
    __syncthreads();
    keep_curve<kConfig.threads()>(*p.state, scratch);
  }
}

/// Returns the kernel for a layout and an access; null where the layout does not have that.
template <typename Layout, bool kSaturates>
const void* kernel_of(Access access) {
  switch (access) {
    case Access::flat:
      if constexpr (Layout::kHasParts) {
        return reinterpret_cast<const void*>(&fused_kernel<Layout, FlatChunks<Layout>, kSaturates>);
      }
      return nullptr;
    case Access::spans:
      return reinterpret_cast<const void*>(
          &fused_kernel<Layout, SpanChunks<Layout, true>, kSaturates>);
    case Access::bytes:
      return reinterpret_cast<const void*>(
          &fused_kernel<Layout, SpanChunks<Layout, false>, kSaturates>);
  }
  return nullptr;
}

}  // namespace equalux::cuda
