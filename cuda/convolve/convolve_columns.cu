#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cuda/convolve/convolve.h"
#include "cuda/convolve/convolve_taps.cuh"
#include "cuda/convolve/integer_mma.cuh"
#include "cuda/device/chunk_copy.cuh"
#include "cuda/device/dependent_launch.cuh"
#include "cuda/runtime/check.h"

/// Separable kernels of up to 15 x 15 in one pass. A warp walks down a column of 128 bytes, four
/// rows per step, and never waits for other warps.
///
/// Sums along x are matrix products on the tensor cores: rows · T, where row i of the left matrix
/// is 16 bytes of a row with their neighbours, and T(k, x) is the weight for the distance from k to
/// x. A lane gets the sums of the same four bytes of every row, so that the pass along y stays in
/// its registers, and a warp writes 128 neighbouring bytes.
namespace equalux::cuda {
namespace {

constexpr int kColumnWarps = 4;  // of a block; each has a column of its own
constexpr int kLeftRow = 16;     // bytes of a row of the left matrix, without their neighbours
constexpr int kTiles = 8;        // of a warp, side by side
constexpr int kWidth = kLeftRow * kTiles;
constexpr int kPairRows = 2;  // rows in the left matrix
constexpr int kPairs = 2;     // of rows per step
constexpr int kStepRows = kPairs * kPairRows;
constexpr int kStages = 4;  // steps in shared memory at a time
constexpr int kMostRadius = 7;
constexpr std::int64_t kGaussianDivisor = 1 << 24;

struct ColumnsParams {
  BytePlane plane;
  Outside outside;
  int size;
  int columns;  // of 128 bytes in a row
  int sides;    // of the columns, those that need pixels outside: the first and the last ones; or 0
  int side_warps;            // warps of the side columns, which come first
  int side_rows;             // results of each side warp
  int rows_each;             // results of each other warp
  std::uint32_t zero;        // always 0; a parameter, so that the compiler does not know it
  std::uint32_t outermost;   // half of a Gaussian's bias, added at both ends of a column
  std::uint32_t multiplier;  // for a box
  std::uint32_t bias;        // of a box, times the multiplier
  std::uint32_t down[kMostRadius + 1];  // weights by distance
  std::int16_t row[2 * kMostRadius + 1];
};

/// Sizes for sums that need kBlocks blocks of 16 bytes for each 16 results.
template <int kBlocks>
struct ColumnShape {
  static constexpr int kReach = (kBlocks - 1) * kLeftRow / 2;  // bytes to either side
  /// Offset of results: blocks begin at multiples of 16 bytes, and an even number of blocks moves
  /// results by 8 bytes.
  static constexpr int kShift = kReach % kLeftRow;
  static constexpr int kChunks = kTiles + kBlocks - 1;  // of a row that a warp reads
  static constexpr int kPitch = kChunks * kLeftRow;
  /// Position of distance 0 in the weights, which begin with distance -kZero bytes.
  static constexpr int kZero = kReach + kLeftRow;
  static constexpr int kBand = 2 * kZero;
};

/// Keeps a number in a register. The compiler would otherwise load the parameter that it comes from
/// again in each step and wait for it.
__device__ __forceinline__ void keep(int& number) {
  asm volatile("" : "+r"(number));
}

/// Returns the address `rows` rows after `from`.
template <typename Byte>
__device__ __forceinline__ Byte* rows_on(Byte* from, int stride, int rows) {
  return from + std::int64_t{stride} * rows;
}

/// Loads rows of a warp's column: a lane copies 16 bytes of every second row.
template <int kBlocks>
class ColumnLoader {
 public:
  using Shape = ColumnShape<kBlocks>;

  /// Prepares to load rows y to end - 1, some of which may be outside the plane.
  __device__ ColumnLoader(const ColumnsParams& p, int column, int y, int end, int lane)
      : plane_(p.plane),
        outside_(p.outside),
        begin_(column * kWidth - Shape::kShift - Shape::kReach),
        y_(y + lane / kLeftRow),
        end_(end),
        stride_(static_cast<int>(p.plane.in_stride)) {
    const int bytes = plane_.width * plane_.step;
    const int chunk = lane % kLeftRow;
    const int at = begin_ + chunk * kLeftRow;
    valid_ = at < 0 || chunk >= Shape::kChunks ? 0 : min(max(bytes - at, 0), kLeftRow);
    limit_ = valid_ == kLeftRow ? min(end, p.plane.rows) : 0;
    to_ = lane / kLeftRow * Shape::kPitch + chunk * kLeftRow;
    next_ = rows_on(plane_.in + at, stride_, y_);
    at_side_ = begin_ < 0 || begin_ + Shape::kPitch > bytes;
    plain_ = plane_.rows - (kPairs - 1) * kPairRows;
    if (bytes % kLeftRow != 0 && begin_ + Shape::kPitch > bytes) plain_ = 0;
    const int reach = p.size / 2 * plane_.step;
#pragma unroll
    for (int i = 0; i < kMends; ++i) {
      const int place = i * kLanes + lane;
      mends_[i] = at_side_ && place < 2 * reach
                      ? mend(place < reach ? -1 - place : bytes + place - reach)
                      : kNone;
    }
  }

  /// Starts the copies of the next step's rows.
  __device__ __forceinline__ void load(std::uint8_t* stage) {
    stage += to_;
#pragma unroll
    for (int pair = 0; pair < kPairs; ++pair) {
      const bool plain =
          static_cast<unsigned>(y_ + pair * kPairRows) < static_cast<unsigned>(limit_);
      copy_vector_async_if(plain, stage + pair * kPairRows * Shape::kPitch,
                           rows_on(next_, stride_, pair * kPairRows));
    }
    if (static_cast<unsigned>(y_) >= static_cast<unsigned>(plain_)) load_special(stage);
    y_ += kStepRows;
    next_ = rows_on(next_, stride_, kStepRows);
  }

  /// Returns true where results need pixels to the left or right of the plane; the same for all
  /// lanes.
  __device__ bool is_at_side() const {
    return at_side_;
  }
  /// Writes those pixels into rows that all lanes can see.
  __device__ __forceinline__ void mend_sides(std::uint8_t* stage) const {
#pragma unroll
    for (int i = 0; i < kMends; ++i) {
      const std::uint32_t to = mends_[i] & 0xFFFFU;
      const std::uint32_t from = mends_[i] >> 16;
      if (to == kNone) continue;
      std::uint8_t bytes[kStepRows];
#pragma unroll
      for (int row = 0; row < kStepRows; ++row)
        bytes[row] = from == kNone ? outside_.value : stage[row * Shape::kPitch + from];
#pragma unroll
      for (int row = 0; row < kStepRows; ++row)
        stage[row * Shape::kPitch + to] = bytes[row];
    }
  }

 private:
  static constexpr int kMends = (2 * Shape::kReach + kLanes - 1) / kLanes;  // of a lane
  static constexpr std::uint32_t kNone = 0xFFFF;  // no position; as a source, the constant

  /// Returns the position in the warp's row of byte `at`, which is outside the plane, and in the
  /// upper half the position of the byte that it repeats.
  __device__ std::uint32_t mend(int at) const {
    // A multiple of every step, added so that the division does not see a negative number.
    constexpr int kPositive = 192;
    const int pixel = (at + kPositive) / plane_.step - kPositive / plane_.step;
    const int index = border_index(pixel, plane_.width, outside_.border);
    const int to = at - begin_;
    const int from = to + (index - pixel) * plane_.step;
    if (to < 0 || to >= Shape::kPitch) return kNone;
    if (index < 0) return static_cast<std::uint32_t>(to) | kNone << 16;
    // A pixel that two warps' columns share is needed only in part.
    if (from < 0 || from >= Shape::kPitch) return kNone;
    return static_cast<std::uint32_t>(to | from << 16);
  }

  /// Loads what load() leaves out: rows outside the plane, and the last bytes of a row that are
  /// fewer than 16.
  __device__ void load_special(std::uint8_t* to) const {
#pragma unroll 1
    for (int row = y_; row < min(y_ + kStepRows, end_); row += kPairRows) {
      if (valid_ > 0 && static_cast<unsigned>(row) >= static_cast<unsigned>(limit_)) {
        // Reflects at most once, because rows are no further outside than the plane is tall.
        const int last = plane_.rows - 1;
        const int y = outside_.border == Border::replicate ? min(max(row, 0), last)
                                                           : last - abs(last - abs(row));
        if (outside_.border == Border::constant && y != row) {
          const std::uint32_t all = outside_.value * 0x01010101U;
          *reinterpret_cast<uint4*>(to) = {all, all, all, all};
        } else {
          copy_some_async(to, rows_on(next_, stride_, y - y_), valid_);
        }
      }
      to += kPairRows * Shape::kPitch;
    }
  }

  const BytePlane& plane_;
  Outside outside_;
  int begin_;  // the first byte of a row that is read
  int y_;      // row that is loaded next
  int end_;
  int limit_;  // end of the rows that need no special case
  int stride_;
  const std::uint8_t* next_;
  int valid_;  // of the lane's 16 bytes, those that the plane has
  int to_;
  bool at_side_;
  int plain_;  // steps that begin before this row have no rows or bytes outside
  std::uint32_t mends_[kMends];
};

/// Writes a lane's four results of each row. With kKept, one byte of each word may come from the
/// source.
template <bool kKept>
class ColumnResults {
 public:
  /// The first `before` rows lie above row `begin` and are not written.
  __device__ ColumnResults(const ColumnsParams& p, int x, int begin, int count, int before)
      : plane_(p.plane),
        stride_(static_cast<int>(p.plane.out_stride)),
        in_stride_(static_cast<int>(p.plane.in_stride)),
        row_(-before),
        count_(count),
        inside_(x >= 0 && x < p.plane.width * p.plane.step),
        to_(rows_on(p.plane.out + x, stride_, begin - before)),
        from_(rows_on(p.plane.in + x, in_stride_, begin - before)) {
    keep(stride_);
  }

  /// Returns true once a step contains rows that are written.
  __device__ bool begun() const { return row_ > -kStepRows; }

  /// Loads the source words of the rows that are stored next.
  __device__ __forceinline__ void fetch() {
    if constexpr (kKept) {
#pragma unroll
      for (int row = 0; row < kStepRows; ++row)
        if (writes(row))
          kept_[row] = *reinterpret_cast<const std::uint32_t*>(rows_on(from_, in_stride_, row));
    }
  }

  /// Writes a step's rows, as far as they are the warp's own.
  __device__ __forceinline__ void store(const std::uint32_t (&levels)[kStepRows]) {
#pragma unroll
    for (int row = 0; row < kStepRows; ++row) {
      if (!writes(row)) continue;
      std::uint32_t word = levels[row];
      if constexpr (kKept) {
        const std::uint32_t mask = plane_.kept < 0 ? 0 : 0xFFU << (8 * plane_.kept);
        word = (word & ~mask) | (kept_[row] & mask);
      }
      *reinterpret_cast<std::uint32_t*>(rows_on(to_, stride_, row)) = word;
    }
  }

  __device__ __forceinline__ void step() {
    to_ = rows_on(to_, stride_, kStepRows);
    if constexpr (kKept) from_ = rows_on(from_, in_stride_, kStepRows);
    row_ += kStepRows;
  }

 private:
  __device__ __forceinline__ bool writes(int row) const {
    return inside_ && static_cast<unsigned>(row_ + row) < static_cast<unsigned>(count_);
  }

  const BytePlane& plane_;
  int stride_;
  int in_stride_;
  int row_;  // row that is stored next
  int count_;
  bool inside_;
  std::uint8_t* to_;
  const std::uint8_t* from_;
  std::uint32_t kept_[kStepRows] = {};
};

/// Loads the operands of the tiles of two rows with their neighbours: a[block][row], as multiply()
/// takes the left matrix.
template <int kBlocks>
__device__ __forceinline__ void load_tiles(std::uint32_t (&a)[kBlocks][2],
                                           const std::uint8_t* stage, int lane) {
  // One ldmatrix loads four matrices of 8 rows of 16 bytes: the first block of both rows, then the
  // second.
  const std::uint32_t own = shared_address(stage) +
                            static_cast<std::uint32_t>(lane / 8 % 2 * ColumnShape<kBlocks>::kPitch +
                                                       (lane % 8 + lane / 16) * kLeftRow);
#pragma unroll
  for (int block = 0; block + 1 < kBlocks; block += 2) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[block][0]), "=r"(a[block][1]), "=r"(a[block + 1][0]),
                   "=r"(a[block + 1][1])
                 : "r"(own + static_cast<std::uint32_t>(block * kLeftRow))
                 : "memory");
  }
  if constexpr (kBlocks % 2 == 1) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(a[kBlocks - 1][0]), "=r"(a[kBlocks - 1][1])
                 : "r"(own + static_cast<std::uint32_t>((kBlocks - 1) * kLeftRow))
                 : "memory");
  }
}

/// Computes a * b + more once. Without `more`, which is mostly 0, the compiler would fuse the
/// multiplication into every addition of the product and repeat it each time, which takes twice as
/// long.
__device__ __forceinline__ std::uint32_t product(std::uint32_t a, std::uint32_t b,
                                                 std::uint32_t more) {
  std::uint32_t result;
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(more));
  return result;
}

/// Returns true where side warps, which also write the pixels outside, get fewer rows than others.
/// Small kernels are limited by memory and would gain nothing.
__host__ __device__ constexpr bool sides_differ(int radius) {
  return radius > 2;
}

/// The rows of a column that a warp computes.
struct Part {
  int column;
  int begin;
  int count;  // no rows where it is not positive
};

template <int kRadius>
__device__ __forceinline__ Part part_of(const ColumnsParams& p, int number) {
  if constexpr (!sides_differ(kRadius)) {
    const int band = number / p.columns;
    const int begin = band * p.rows_each;
    return {number - band * p.columns, begin, min(p.rows_each, p.plane.rows - begin)};
  }
  const bool side = number < p.side_warps;
  if (!side) number -= p.side_warps;
  const int beside = side ? p.sides : p.columns - p.sides;
  const int band = number / beside;
  int column = number - band * beside;
  if (!side) {
    column += p.sides > 0 ? 1 : 0;
  } else if (column > 0) {
    column += p.columns - p.sides;
  }
  const int rows = side ? p.side_rows : p.rows_each;
  return {column, band * rows, min(rows, p.plane.rows - band * rows)};
}

/// Blocks per multiprocessor that the register limit allows for.
__host__ __device__ constexpr int blocks_at_once(int radius) {
  return radius <= 2 ? 6 : radius <= 4 ? 4 : 3;
}

/// Convolves one part per warp. kPlanes is the number of bytes of a row weight: 2 for a Gaussian,
/// whose divisor is 2^24, and 1 for a box. Blocks have four warps that share only the weights in
/// shared memory; each has four steps of its rows there, three of them still being copied.
/// Registers hold T, a step's sums, and 2 kRadius rows of unfinished results. Exact: all sums are
/// integers below 2^32.
template <int kRadius, int kBlocks, int kPlanes, bool kKept>
__global__ void __launch_bounds__(kLanes* kColumnWarps, blocks_at_once(kRadius))
    convolve_columns_kernel(const __grid_constant__ ColumnsParams p) {
  using Shape = ColumnShape<kBlocks>;
  using Loader = ColumnLoader<kBlocks>;
  __shared__ alignas(16) std::uint8_t stages[kColumnWarps][kStages][kStepRows * Shape::kPitch];
  __shared__ std::uint8_t bands[kPlanes][Shape::kBand];

  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kLanes;
  const int g = lane / 4;
  const int t = lane % 4;
  make_bands<kLanes * kColumnWarps>(p.row, p.size, p.plane.step, Shape::kZero, bands);
  __syncthreads();
  // Column n of T is byte 4 (n / 2) + n % 2 of a tile, and two bytes further in the other half, so
  // that a lane gets four neighbours.
  std::uint32_t along[kPlanes][2][kBlocks];
#pragma unroll
  for (int plane = 0; plane < kPlanes; ++plane) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int block = 0; block < kBlocks; ++block) {
        const int x = 4 * (g / 2) + g % 2 + 2 * half;
        along[plane][half][block] =
            band_word(bands[plane], Shape::kZero + block * kLeftRow + 4 * t - Shape::kReach - x);
      }
    }
  }

  const int warp = thread / kLanes;
  const Part part = part_of<kRadius>(p, static_cast<int>(blockIdx.x) * kColumnWarps + warp);
  const int column = part.column;
  const int begin = part.begin;
  const int count = part.count;
  wait_for_results();
  if (count <= 0) return;
  Loader loader(p, column, begin - kRadius, begin + count + kRadius, lane);
  // A step's results lie kRadius rows above the rows that it reads.
  ColumnResults<kKept> results(p, column * kWidth - Shape::kShift + g * kLeftRow + 4 * t, begin,
                               count, 2 * kRadius);
  const int steps = (count + 2 * kRadius + kStepRows - 1) / kStepRows;
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) {
    loader.load(stages[warp][s]);
    copies_commit();
  }
  if (loader.is_at_side()) {
    copies_wait<kStages - 2>();
    __syncwarp();
    loader.mend_sides(stages[warp][0]);
  }

  // Unfinished results: what the rows read so far have added to rows y - kRadius and later.
  std::uint32_t pending[2 * kRadius][4] = {};
#pragma unroll 1
  for (int s = 0; s < steps; ++s) {
    copies_wait<kStages - 3>();
    // All lanes see the rows of this step and the next one, and have read those before.
    __syncwarp();
    loader.load(stages[warp][(s + kStages - 1) % kStages]);
    copies_commit();
    if (loader.is_at_side()) loader.mend_sides(stages[warp][(s + 1) % kStages]);
    if (results.begun()) results.fetch();
    const std::uint8_t* const rows = stages[warp][s % kStages];
    Sums sums[kPairs][2] = {};  // of both halves of the columns
    std::uint32_t around[kPairs][kBlocks][2];
#pragma unroll
    for (int pair = 0; pair < kPairs; ++pair)
      load_tiles<kBlocks>(around[pair], rows + pair * kPairRows * Shape::kPitch, lane);
#pragma unroll
    for (int plane = kPlanes - 1; plane >= 0; --plane) {
#pragma unroll
      for (int pair = 0; pair < kPairs; ++pair) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          if (plane < kPlanes - 1) shift_up(sums[pair][half]);
          multiply<kBlocks>(sums[pair][half], around[pair], along[plane][half]);
        }
      }
    }
    // The product of a sum with a weight is used above and below its row. Unfinished results move
    // up while they are added to.
    std::int32_t done[kStepRows][4];
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      std::uint32_t products[kStepRows][kRadius + 1];  // by distance
#pragma unroll
      for (int row = 0; row < kStepRows; ++row) {
#pragma unroll
        for (int k = 0; k <= kRadius; ++k) {
          products[row][k] = product(
              p.down[k], static_cast<std::uint32_t>(sums[row / 2][x / 2][2 * (row % 2) + x % 2]),
              k == kRadius ? p.outermost : p.zero);
        }
      }
      // Sums what this step adds to the result `at` rows below the first one.
      const auto next = [&](int at) {
        std::uint32_t total = at < 2 * kRadius ? pending[at][x] : 0;
#pragma unroll
        for (int row = 0; row < kStepRows; ++row) {
          const int distance = at < kRadius + row ? kRadius + row - at : at - kRadius - row;
          if (distance <= kRadius) total += products[row][distance];
        }
        return total;
      };
#pragma unroll
      for (int row = 0; row < kStepRows; ++row) {
        std::uint32_t total = next(row);
        if constexpr (kPlanes == 1) total = total * p.multiplier + p.bias;
        done[row][x] = static_cast<std::int32_t>(total);
      }
#pragma unroll
      for (int at = 0; at < 2 * kRadius; ++at)
        pending[at][x] = next(at + kStepRows);
    }
    if (results.begun()) {
      std::uint32_t levels[kStepRows];
#pragma unroll
      for (int row = 0; row < kStepRows; ++row)
        levels[row] = pack_byte<3>(done[row]);
      results.store(levels);
    }
    results.step();
  }
}

using ColumnsKernel = void (*)(ColumnsParams);

struct Choice {
  ColumnsKernel kernel;
  int radius;
  int before;  // bytes that a warp reads before its first result
  int shift;
  int pitch;  // bytes of a row that it reads
};

template <int kRadius, int kBlocks, bool kKept>
Choice choice(int planes) {
  return {planes == 1 ? &convolve_columns_kernel<kRadius, kBlocks, 1, kKept>
                      : &convolve_columns_kernel<kRadius, kBlocks, 2, kKept>,
          kRadius, ColumnShape<kBlocks>::kShift + ColumnShape<kBlocks>::kReach,
          ColumnShape<kBlocks>::kShift, ColumnShape<kBlocks>::kPitch};
}

/// Rounds sizes up to few kernels: blocks with weights of 0 cost little.
Choice choose(int radius, int step, int planes) {
  const bool four = step == 4;
  if (radius <= 2) return four ? choice<2, 2, true>(planes) : choice<2, 2, false>(planes);
  if (radius <= 4) return four ? choice<4, 3, true>(planes) : choice<4, 3, false>(planes);
  return four ? choice<7, 5, true>(planes) : choice<7, 4, false>(planes);
}

/// Returns the rows of each of `bands` bands, in whole steps.
int whole_steps(int rows, int bands) {
  return ((rows + bands - 1) / bands + kStepRows - 1) / kStepRows * kStepRows;
}

}  // namespace

bool fits_columns(const BytePlane& plane, const ExactKernel& kernel) {
  // For pixels of one byte, and for boxes on three, convolve_separable() is as fast with more than
  // 9 x 9.
  const bool longer = plane.step == 4 || (plane.step == 3 && kernel.divisor == kGaussianDivisor);
  return kernel.separable && kernel.radius() <= (longer ? kMostRadius : 4) &&
         plane.rows > 2 * kMostRadius && plane.width * plane.step % 4 == 0 &&
         plane.is_multiple(kLeftRow) && (plane.kept < 0 || plane.step == 4);
}

void convolve_columns(const BytePlane& plane, Outside outside, const ExactKernel& kernel,
                      const LaunchDevice& device, cudaStream_t stream) {
  const bool box = kernel.divisor != kGaussianDivisor;
  const int bytes = plane.width * plane.step;
  const Choice chosen = choose(kernel.radius(), plane.step, box ? 1 : 2);
  ColumnsParams p{};
  p.plane = plane;
  p.outside = outside;
  p.size = kernel.size;
  p.multiplier = top_byte_multiplier(kernel.divisor);
  p.bias = p.multiplier * static_cast<std::uint32_t>(kernel.bias);
  p.outermost = box ? 0 : static_cast<std::uint32_t>(kernel.bias / 2);
  std::copy(kernel.row.begin(), kernel.row.end(), p.row);
  for (int i = 0; i <= kernel.radius(); ++i) {
    p.down[i] =
        static_cast<std::uint32_t>(kernel.column[static_cast<std::size_t>(kernel.radius() - i)]);
  }
  p.columns = (bytes + chosen.shift + kWidth - 1) / kWidth;

  // One wave of blocks. Side warps need a fifth more time per row.
  const int slots = device.multiprocessors * blocks_at_once(chosen.radius) * kColumnWarps;
  const int bands = std::max(1, slots / p.columns);
  p.rows_each = whole_steps(plane.rows, bands);
  const int all_bands = (plane.rows + p.rows_each - 1) / p.rows_each;
  int last = p.columns - 1;  // first of the side columns on the right
  while (last > 1 && (last - 1) * kWidth - chosen.before + chosen.pitch > bytes)
    --last;
  const int sides = 1 + p.columns - last;
  if (last > 1 && sides_differ(chosen.radius)) {
    const int read = p.rows_each + 2 * chosen.radius;
    const int fewer = std::max(read * 5 / 6 - 2 * chosen.radius, kStepRows);
    const int room = (slots - (p.columns - sides) * all_bands) / sides;
    const int side_bands = std::clamp((plane.rows + fewer - 1) / fewer, 1, std::max(room, 1));
    p.side_rows = whole_steps(plane.rows, side_bands);
    if (side_bands >= all_bands) {
      p.sides = sides;
      p.side_warps = sides * ((plane.rows + p.side_rows - 1) / p.side_rows);
    }
  }
  const int warps = p.side_warps + (p.columns - p.sides) * all_bands;
  const dim3 grid(static_cast<unsigned>((warps + kColumnWarps - 1) / kColumnWarps));
  launch_early(device, "launching convolve", chosen.kernel, grid, dim3(kLanes * kColumnWarps),
               stream, p);
}

}  // namespace equalux::cuda
