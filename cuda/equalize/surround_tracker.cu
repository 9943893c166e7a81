#include <memory>

#include "cuda/device/warp_sum.cuh"
#include "cuda/equalize/surround_tracker.h"
#include "cuda/runtime/check.h"
#include "cuda/runtime/device_copy.h"

namespace equalux::cuda {

using surround::Grid;
using surround::kMostSide;

namespace {

constexpr int kCodeThreads = 256;
/// Block size. The largest grid has a thread for each row and one for each column; the others help
/// where every block of the grid is looked at.
constexpr int kFollowThreads = 4 * kMostSide;

/// Computes the code of each block of the grid, one warp per block of pixels: lanes load
/// neighbouring pixels of a sample of its rows, and sums go over the warp.
__global__ void __launch_bounds__(kCodeThreads)
    code_blocks_kernel(const __grid_constant__ PixelValues values,
                       const __grid_constant__ Grid grid, int dark, int bits_of_level,
                       std::uint8_t* codes) {
  const int block = static_cast<int>((blockIdx.x * kCodeThreads + threadIdx.x) / kLanes);
  if (block >= grid.blocks()) return;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int row = block / grid.columns;
  const int left = block % grid.columns * grid.side;
  surround::BlockSums sums;
  for (int i = lane; i < surround::kSampledRows * grid.side; i += kLanes) {
    const int x = left + i % grid.side;
    const int y = surround::sampled_row(row, grid.side, i / grid.side);
    if (x >= grid.width || y >= grid.height) continue;
    const std::int32_t v = values(x, y);
    ++sums.pixels;
    sums.bright += v > dark ? 1 : 0;
    sums.values += static_cast<std::uint32_t>(v >> bits_of_level);
  }
  sums = {warp_sum(sums.pixels), warp_sum(sums.bright), warp_sum(sums.values)};
  if (lane == 0) codes[block] = surround::block_code(sums);
}

/// Shared memory of follow_surround_kernel().
struct FollowScratch {
  GridBits dark;
  GridBits reached;
  std::uint32_t counts[2][kMostSide];  ///< of reached blocks in each row, and in each column
  std::uint32_t ways[2];
  std::uint32_t least[2];
  surround::Shape shape;
  surround::Verdict verdict;
};

/// Counts the end of a dark run that meets the picture; arguments are the blocks there, in the
/// order of the run.
__device__ void count_end(FollowScratch& s, int rise, std::uint8_t last, std::uint8_t end,
                          std::uint8_t behind) {
  atomicAdd(&s.shape.ends, 1U);
  if (surround::is_sharp(last, end, behind, rise)) atomicAdd(&s.shape.sharp_ends, 1U);
}

/// Returns a word whose lowest n bits are set: none for n below 0, all for n above 32.
[[nodiscard]] __device__ __forceinline__ std::uint32_t low_bits(int n) {
  return n <= 0 ? 0 : (n >= 32 ? 0xFFFFFFFFU : (1U << n) - 1);
}

/// Marks the dark blocks at both ends of a row as reached.
__device__ void reach_row(FollowScratch& s, const Grid& grid, int rise, const std::uint8_t* codes,
                          int row) {
  const std::uint8_t* code = codes + row * grid.columns;
  int left = 0;
  while (left < grid.columns && grid_bit(s.dark, left, row))
    ++left;
  int right = grid.columns;
  while (right > left && grid_bit(s.dark, right - 1, row))
    --right;
  for (int w = 0; w < kGridWords; ++w) {
    const std::uint32_t bits =
        low_bits(left - w * 32) | (low_bits(grid.columns - w * 32) & ~low_bits(right - w * 32));
    if (bits != 0) atomicOr(&s.reached[row][w], bits);
  }
  if (left == grid.columns) return;
  if (left > 0) {
    count_end(s, rise, code[left - 1], code[left], code[left + 1 < grid.columns ? left + 1 : left]);
  }
  if (right < grid.columns) {
    count_end(s, rise, code[right], code[right - 1], code[right >= 2 ? right - 2 : right - 1]);
  }
}

/// Marks the dark blocks at both ends of a column as reached.
__device__ void reach_column(FollowScratch& s, const Grid& grid, int rise,
                             const std::uint8_t* codes, int column) {
  const auto code = [&](int row) { return codes[row * grid.columns + column]; };
  const std::uint32_t bit = 1U << (column % 32);
  int top = 0;
  for (; top < grid.rows && grid_bit(s.dark, column, top); ++top)
    atomicOr(&s.reached[top][column / 32], bit);
  if (top == grid.rows) return;
  int bottom = grid.rows;
  for (; grid_bit(s.dark, column, bottom - 1); --bottom)
    atomicOr(&s.reached[bottom - 1][column / 32], bit);
  if (top > 0) {
    count_end(s, rise, code(top - 1), code(top), code(top + 1 < grid.rows ? top + 1 : top));
  }
  if (bottom < grid.rows) {
    count_end(s, rise, code(bottom), code(bottom - 1), code(bottom >= 2 ? bottom - 2 : bottom - 1));
  }
}

/// Marks the members of the surround, and blocks that touch one, in a row of the grid. Returns true
/// where there are any.
__device__ bool mark_row(const GridBits& members, const Grid& grid, int row, GridBits& marks) {
  std::uint32_t rows[kGridWords];
  bool any = false;
  for (int w = 0; w < kGridWords; ++w) {
    rows[w] = members[row][w];
    if (row > 0) rows[w] |= members[row - 1][w];
    if (row + 1 < grid.rows) rows[w] |= members[row + 1][w];
    any = any || rows[w] != 0;
  }
  for (int w = 0; w < kGridWords; ++w) {
    std::uint32_t wide = rows[w] | rows[w] << 1 | rows[w] >> 1;
    if (w > 0) wide |= rows[w - 1] >> 31;
    if (w + 1 < kGridWords) wide |= rows[w + 1] << 31;
    marks[row][w] = wide;
  }
  return any;
}

/// Runs the steps of SurroundTracker on the codes of the blocks, in a single block of threads,
/// since the steps need barriers over the whole grid. The first quarter of the threads has its
/// rows, the second one its columns.
__global__ void __launch_bounds__(kFollowThreads)
    follow_surround_kernel(const __grid_constant__ Grid grid, int rise, std::uint32_t step,
                           bool fresh, const std::uint8_t* codes, SurroundState* state) {
  __shared__ FollowScratch s;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kLanes;
  const bool of_rows = thread < kMostSide;
  const int which = of_rows ? 0 : 1;
  const int line = thread % kMostSide;
  const int lines = of_rows ? grid.rows : grid.columns;
  const bool has_line = thread < 2 * kMostSide && line < lines;

  // A warp has words of the grid's bits. What several of them need is loaded before any of it is
  // used, so that only the first load is waited for; loads beyond the grid bring what is not used.
  const auto for_words = [&](auto load, auto work) {
    constexpr int kAtOnce = 8;
    constexpr int kWarps = kFollowThreads / kLanes;
    // Words in a row of the grid: 1, 2, 4 or 8.
    const int bits = grid.columns <= 32 ? 0 : grid.columns <= 64 ? 1 : grid.columns <= 128 ? 2 : 3;
    static_assert(kGridWords == 8);
    const int words = grid.rows << bits;
    const auto word = [&](int i) { return i & ((1 << bits) - 1); };
    const auto column = [&](int i) { return word(i) * 32 + lane; };
    for (int first = thread / kLanes; first < words; first += kAtOnce * kWarps) {
      decltype(load(0, 0)) loaded[kAtOnce];
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        const int i = min(first + j * kWarps, words - 1);
        loaded[j] = load(i >> bits, min(column(i), grid.columns - 1));
      }
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        const int i = first + j * kWarps;
        if (i < words) work(i >> bits, word(i), column(i), loaded[j]);
      }
    }
  };
  for (int i = thread; i < kMostSide * kGridWords; i += kFollowThreads)
    s.dark[i / kGridWords][i % kGridWords] = s.reached[i / kGridWords][i % kGridWords] = 0;
  if (thread == 0) s.shape = {};
  if (thread < 2) {
    s.ways[thread] = 0;
    s.least[thread] = 0xFFFFFFFFU;
  }
  __syncthreads();
  for_words([&](int row, int column) { return codes[row * grid.columns + column]; },
            [&](int row, int w, int column, std::uint8_t code) {
              const std::uint32_t bits =
                  __ballot_sync(0xFFFFFFFFU, column < grid.columns && surround::is_dark(code));
              if (lane == 0) s.dark[row][w] = bits;
            });
  __syncthreads();
  if (has_line && of_rows) reach_row(s, grid, rise, codes, line);
  if (has_line && !of_rows) reach_column(s, grid, rise, codes, line);
  __syncthreads();

  std::uint32_t count = 0;
  if (has_line && of_rows) {
    std::uint32_t changed = 0;
    std::uint32_t members = 0;
    std::uint32_t kept = 0;
    for (int w = 0; w < kGridWords; ++w) {
      const std::uint32_t now = s.reached[line][w];
      const std::uint32_t before = fresh ? 0 : state->reached[line][w];
      const std::uint32_t of_surround = fresh ? 0 : state->members[line][w];
      count += static_cast<std::uint32_t>(__popc(now));
      changed += static_cast<std::uint32_t>(__popc(now ^ before));
      members += static_cast<std::uint32_t>(__popc(of_surround));
      kept += static_cast<std::uint32_t>(__popc(of_surround & now));
      state->reached[line][w] = now;
    }
    atomicAdd(&s.shape.reached, count);
    atomicAdd(&s.shape.changed, changed);
    atomicAdd(&s.shape.members, members);
    atomicAdd(&s.shape.kept, kept);
  } else if (has_line) {
    for (int row = 0; row < grid.rows; ++row)
      count += grid_bit(s.reached, line, row) ? 1 : 0;
  }
  if (has_line) {
    s.counts[which][line] = count;
    atomicMin(&s.least[which], count);
  }
  if (thread < surround::kCornerBlocks) {
    const surround::CornerBlock block = surround::corner_block(grid, thread);
    if (grid_bit(s.reached, block.column, block.row)) atomicOr(&s.shape.corners, block.corner);
  }
  __syncthreads();
  if (has_line && line > 0) {
    const std::uint32_t before = s.counts[which][line - 1];
    atomicAdd(&s.ways[which], count > before ? count - before : before - count);
  }
  __syncthreads();
  if (thread == 0) {
    const auto excess = [&](int i, int last) {
      return surround::excess_of(s.ways[i], s.counts[i][0], s.counts[i][last], s.least[i]);
    };
    s.shape.row_excess = excess(0, grid.rows - 1);
    s.shape.column_excess = excess(1, grid.columns - 1);
    s.verdict = surround::verdict_of(grid, s.shape, fresh);
  }
  __syncthreads();

  GridBits& members = s.dark;  // dark blocks are no longer read
  struct Loaded {
    std::uint32_t members;
    std::uint16_t since;
  };
  for_words(
      [&](int row, int column) {
        return Loaded{state->members[row][column / 32], state->since[row * kMostSide + column]};
      },
      [&](int row, int w, int column, const Loaded& before) {
        surround::Block block;
        if (column < grid.columns) {
          if (!fresh) block = {(before.members >> lane & 1) != 0, before.since};
          block = surround::next_block(block, grid_bit(s.reached, column, row), s.verdict, step);
          state->since[row * kMostSide + column] = block.since;
        }
        const std::uint32_t bits = __ballot_sync(0xFFFFFFFFU, block.member);
        if (lane != 0) return;
        members[row][w] = bits;
        state->members[row][w] = bits;
      });
  __syncthreads();
  const bool any = has_line && of_rows && mark_row(members, grid, line, state->marks);
  const int any_at_all = __syncthreads_or(any ? 1 : 0);
  if (thread == 0) state->marks_any = any_at_all != 0 ? 1 : 0;
}

}  // namespace

void SurroundTracker::configure(int width, int height, int max_value, int depth) {
  grid_ = Grid::of(width, height);
  max_value_ = max_value;
  bits_of_level_ = depth - 8;
  codes_.reset();
  state_.reset();
  reset();
}

void SurroundTracker::reset() {
  fresh_ = true;
  clock_.reset();
}

void SurroundTracker::allocate() {
  if (state_) return;
  codes_ = allocate_device<std::uint8_t>(static_cast<std::size_t>(grid_.blocks()));
  state_ = allocate_device<SurroundState>(1);
  // Clears padding beyond the grid, too: it is read and never written.
  fill_device(state_.get(), 0, sizeof(SurroundState), "clearing the surround");
}

void SurroundTracker::follow(const PixelValues& values, std::int64_t pts_ns, cudaStream_t stream) {
  const std::uint32_t step = clock_.next(pts_ns);
  const unsigned threads = static_cast<unsigned>(grid_.blocks()) * kLanes;
  code_blocks_kernel<<<(threads + kCodeThreads - 1) / kCodeThreads, kCodeThreads, 0, stream>>>(
      values, grid_, surround::dark_level(max_value_), bits_of_level_, codes_.get());
  follow_surround_kernel<<<1, kFollowThreads, 0, stream>>>(
      grid_, surround::edge_rise(max_value_ >> bits_of_level_), step, fresh_, codes_.get(),
      state_.get());
  check(cudaGetLastError(), "following the surround");
  fresh_ = false;
}

std::optional<surround::State> SurroundTracker::state() const {
  if (fresh_) return std::nullopt;
  const auto known = std::make_unique<SurroundState>();
  check(cudaDeviceSynchronize(), "waiting for the frames under way");
  check(cudaMemcpy(known.get(), state_.get(), sizeof(SurroundState), cudaMemcpyDeviceToHost),
        "reading the surround");
  surround::State state;
  for (int row = 0; row < grid_.rows; ++row) {
    for (int column = 0; column < grid_.columns; ++column) {
      state.blocks.push_back(
          {grid_bit(known->members, column, row), known->since[row * kMostSide + column]});
      state.reached.push_back(grid_bit(known->reached, column, row) ? 1 : 0);
    }
  }
  state.clock = clock_;
  return state;
}

void SurroundTracker::go_on(const std::optional<surround::State>& state) {
  reset();
  if (!state) return;
  const auto known = std::make_unique<SurroundState>();
  for (int row = 0; row < grid_.rows; ++row) {
    for (int column = 0; column < grid_.columns; ++column) {
      const auto i = static_cast<std::size_t>(row * grid_.columns + column);
      const std::uint32_t bit = 1U << (column % 32);
      if (state->blocks[i].member) known->members[row][column / 32] |= bit;
      if (state->reached[i] != 0) known->reached[row][column / 32] |= bit;
      known->since[row * kMostSide + column] = state->blocks[i].since;
    }
  }
  check(cudaDeviceSynchronize(), "waiting for the frames under way");
  upload(state_.get(), known.get(), sizeof(SurroundState), "writing the surround");
  clock_ = state->clock;
  fresh_ = false;
}

}  // namespace equalux::cuda
