#include "excluded_pixels.h"

#include <algorithm>
#include <vector>

#include "check.h"
#include "warp_sum.cuh"

namespace equalux::cuda {

using surround::Grid;
using surround::kMostSide;

namespace {

constexpr int kGridWords = kMostSide / 32;
using BlockBits = std::uint32_t[kMostSide][kGridWords];  // of a row of the grid, lowest bit first

constexpr int kThreads = 256;       // of a block of the kernels that read pixels
constexpr unsigned kMostReaders = 4096;
/// Words of 32 pixels that a warp looks at in turn: one whose pixels count costs nothing more.
constexpr unsigned kWarpWords = 8;
/// One thread a row and one a column of the grid.
constexpr int kFollowThreads = 2 * kMostSide;

}  // namespace

/// What is kept of a stream's surround.
struct SurroundState {
  BlockBits reached;
  BlockBits members;
  BlockBits marks;  ///< members and blocks that touch one
  std::uint16_t since[kMostSide * kMostSide];
  std::uint32_t marks_any;
};

namespace {

[[nodiscard]] __device__ __forceinline__ bool bit_of(const BlockBits& bits, int column, int row) {
  return (bits[row][column / 32] >> (column % 32) & 1) != 0;
}

/// A warp a block of the grid.
__global__ void __launch_bounds__(kThreads)
    code_blocks_kernel(const __grid_constant__ PixelValues values,
                       const __grid_constant__ Grid grid, int dark, std::uint8_t* codes) {
  const int block = static_cast<int>((blockIdx.x * kThreads + threadIdx.x) / kLanes);
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
    sums.values += static_cast<std::uint32_t>(v);
  }
  sums = {warp_sum(sums.pixels), warp_sum(sums.bright), warp_sum(sums.values)};
  if (lane == 0) codes[block] = surround::block_code(sums);
}

/// What the steps of follow_surround_kernel() hand to each other.
struct FollowScratch {
  BlockBits dark;
  BlockBits reached;
  std::uint32_t counts[2][kMostSide];  ///< of reached blocks in each row, in each column
  std::uint32_t ways[2];
  std::uint32_t least[2];
  surround::Shape shape;
  surround::Verdict verdict;
};

/// The end of a run that meets the picture, blocks in the order of the run.
__device__ void count_end(FollowScratch& s, int rise, std::uint8_t last, std::uint8_t end,
                          std::uint8_t behind) {
  atomicAdd(&s.shape.ends, 1U);
  if (surround::is_sharp(last, end, behind, rise)) atomicAdd(&s.shape.sharp_ends, 1U);
}

/// The lowest n bits of a word: none below 0, all above 32.
[[nodiscard]] __device__ __forceinline__ std::uint32_t low_bits(int n) {
  return n <= 0 ? 0 : (n >= 32 ? 0xFFFFFFFFU : (1U << n) - 1);
}

/// Reaches the dark blocks at both ends of a row.
__device__ void reach_row(FollowScratch& s, const Grid& grid, int rise, const std::uint8_t* codes,
                          int row) {
  const std::uint8_t* code = codes + row * grid.columns;
  int left = 0;
  while (left < grid.columns && bit_of(s.dark, left, row)) ++left;
  int right = grid.columns;
  while (right > left && bit_of(s.dark, right - 1, row)) --right;
  for (int w = 0; w < kGridWords; ++w) {
    const std::uint32_t bits = low_bits(left - w * 32) |
                               (low_bits(grid.columns - w * 32) & ~low_bits(right - w * 32));
    if (bits != 0) atomicOr(&s.reached[row][w], bits);
  }
  if (left == grid.columns) return;
  if (left > 0) {
    count_end(s, rise, code[left - 1], code[left],
              code[left + 1 < grid.columns ? left + 1 : left]);
  }
  if (right < grid.columns) {
    count_end(s, rise, code[right], code[right - 1], code[right >= 2 ? right - 2 : right - 1]);
  }
}

/// Reaches the dark blocks at both ends of a column.
__device__ void reach_column(FollowScratch& s, const Grid& grid, int rise,
                             const std::uint8_t* codes, int column) {
  const auto code = [&](int row) { return codes[row * grid.columns + column]; };
  const std::uint32_t bit = 1U << (column % 32);
  int top = 0;
  for (; top < grid.rows && bit_of(s.dark, column, top); ++top)
    atomicOr(&s.reached[top][column / 32], bit);
  if (top == grid.rows) return;
  int bottom = grid.rows;
  for (; bit_of(s.dark, column, bottom - 1); --bottom)
    atomicOr(&s.reached[bottom - 1][column / 32], bit);
  if (top > 0) {
    count_end(s, rise, code(top - 1), code(top), code(top + 1 < grid.rows ? top + 1 : top));
  }
  if (bottom < grid.rows) {
    count_end(s, rise, code(bottom), code(bottom - 1), code(bottom >= 2 ? bottom - 2 : bottom - 1));
  }
}

/// Marks the members of the surround and what touches one, in a row of the grid; true where there
/// are any.
__device__ bool mark_row(const BlockBits& members, const Grid& grid, int row, BlockBits& marks) {
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

/// SurroundTracker's steps on the blocks' codes, by one block of threads: the first half of them has
/// the rows of the grid, the other half the columns.
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
  const bool has_line = line < lines;

  const auto for_words = [&](auto work) {  // a warp a word of the grid's bits
    for (int i = thread / kLanes; i < grid.rows * kGridWords; i += kFollowThreads / kLanes)
      work(i / kGridWords, i % kGridWords, i % kGridWords * 32 + lane);
  };
  if (thread == 0) s.shape = {};
  if (thread < 2) {
    s.ways[thread] = 0;
    s.least[thread] = 0xFFFFFFFFU;
  }
  for_words([&](int row, int w, int column) {
    const bool dark = column < grid.columns && surround::is_dark(codes[row * grid.columns + column]);
    const std::uint32_t bits = __ballot_sync(0xFFFFFFFFU, dark);
    if (lane != 0) return;
    s.dark[row][w] = bits;
    s.reached[row][w] = 0;
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
      count += bit_of(s.reached, line, row) ? 1 : 0;
  }
  if (has_line) {
    s.counts[which][line] = count;
    atomicMin(&s.least[which], count);
  }
  if (thread < surround::kCornerBlocks) {
    const surround::CornerBlock block = surround::corner_block(grid, thread);
    if (bit_of(s.reached, block.column, block.row)) atomicOr(&s.shape.corners, block.corner);
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

  BlockBits& members = s.dark;  // which nobody reads any more
  for_words([&](int row, int w, int column) {
    surround::Block block;
    if (column < grid.columns) {
      std::uint16_t& since = state->since[row * kMostSide + column];
      if (!fresh) block = {bit_of(state->members, column, row), since};
      block = surround::next_block(block, bit_of(s.reached, column, row), s.verdict, step);
      since = block.since;
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

/// What a warp needs to know of the pixels that count_excluded_kernel() looks at.
struct Excluded {
  const std::uint32_t* outside;  ///< bits of the pixels outside the region, or null
  const SurroundState* surround;  ///< or null
  int dark;                      ///< largest value that is left out of the surround
};

/// Bits of the pixels in marked blocks among 32 from column `x` on. Blocks have 16 pixels a side, or
/// a multiple of 32.
__device__ __forceinline__ std::uint32_t marked_pixels(const SurroundState& surround,
                                                       const Grid& grid, int x, int y) {
  const int row = y / grid.side;
  const int column = x / grid.side;
  const std::uint32_t first = bit_of(surround.marks, column, row) ? 0xFFFFFFFFU : 0;
  if (grid.side >= 32) return first;
  const bool second = column + 1 < grid.columns && bit_of(surround.marks, column + 1, row);
  return (first & 0xFFFFU) | (second ? 0xFFFF0000U : 0);
}

/// Counts the excluded pixels of a frame by value. A warp looks at kWarpWords words of 32 pixels,
/// and reads those that have excluded ones: one word at a time, a lane a pixel.
__global__ void __launch_bounds__(kThreads)
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
  const unsigned step = gridDim.x * (kThreads / kLanes) * kWarpWords;
  for (unsigned first = (blockIdx.x * kThreads + threadIdx.x) / kLanes * kWarpWords; first < words;
       first += step) {
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
  constexpr std::uint64_t kWarps = kThreads / kLanes;
  return static_cast<unsigned>(std::min<std::uint64_t>((warps + kWarps - 1) / kWarps, kMostReaders));
}

}  // namespace

ExcludedPixels::ExcludedPixels(const EqualizeParams& params) : params_(params) {}

ExcludedPixels::~ExcludedPixels() = default;

void ExcludedPixels::configure(const ImageDesc& desc, const YuvWeights& weights) {
  desc_ = desc;
  weights_ = weights;
  grid_ = Grid::of(desc.width, desc.height);
  clock_.reset();
  fresh_ = true;
  outside_ = upload_outside(params_.region);
  surround_.reset();
  codes_.reset();
  if (params_.surround == Surround::ignore) allocate_surround();
}

void ExcludedPixels::update(const EqualizeParams& params) {
  if (desc_.width != 0) {
    if (params.region != params_.region) {
      DevicePointer<std::uint32_t> outside = upload_outside(params.region);
      check(cudaDeviceSynchronize(), "waiting for frames with the region before");
      outside_ = std::move(outside);
    }
    // What was not looked at in between is not known any more.
    if (params.surround != params_.surround) reset();
    if (params.surround == Surround::ignore && !surround_) allocate_surround();
  }
  params_ = params;
}

void ExcludedPixels::allocate_surround() {
  codes_ = allocate_device<std::uint8_t>(static_cast<std::size_t>(grid_.blocks()));
  surround_ = allocate_device<SurroundState>(1);
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
  check(cudaMemcpy(memory.get(), bits.data(), bits.size() * sizeof(std::uint32_t),
                   cudaMemcpyHostToDevice),
        "uploading the region");
  return memory;
}

void ExcludedPixels::enqueue(const ConstImageView& in, const FrameContext& context,
                             FusedState* state, cudaStream_t stream) {
  const PixelValues values =
      pixel_values(in, weights_, context.field_order != FieldOrder::progressive);
  const bool surrounds = params_.surround == Surround::ignore;
  if (surrounds) follow_surround(values, context.pts_ns, stream);
  if (!surrounds && !outside_) return;
  const Excluded of{outside_.get(), surrounds ? surround_.get() : nullptr,
                    surround::dark_level(weights_.luma_max)};
  const std::uint64_t words = (static_cast<std::uint64_t>(desc_.width) + 31) / 32 *
                              static_cast<std::uint64_t>(desc_.height);
  count_excluded_kernel<<<blocks_for((words + kWarpWords - 1) / kWarpWords), kThreads, 0, stream>>>(
      values, grid_, of, state);
  check(cudaGetLastError(), "counting the excluded pixels");
}

void ExcludedPixels::follow_surround(const PixelValues& values, std::int64_t pts_ns,
                                     cudaStream_t stream) {
  if (fresh_) clock_.reset();
  const std::uint32_t step = clock_.next(pts_ns);
  const auto blocks = static_cast<unsigned>(grid_.blocks());
  code_blocks_kernel<<<(blocks * kLanes + kThreads - 1) / kThreads, kThreads, 0, stream>>>(
      values, grid_, surround::dark_level(weights_.luma_max), codes_.get());
  follow_surround_kernel<<<1, kFollowThreads, 0, stream>>>(
      grid_, surround::edge_rise(weights_.luma_max), step, fresh_, codes_.get(), surround_.get());
  check(cudaGetLastError(), "following the surround");
  fresh_ = false;
}

}  // namespace equalux::cuda
