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
/// rows at a step, by itself. Sums along the rows are products of matrices on the tensor cores:
/// rows · T, where row i of the left one is what lies around 16 bytes of a row, and T(k, x) the
/// weight for the distance from k to x. A lane gets the sums of the same four bytes of every row,
/// so that what goes down the columns stays in its registers, and a warp writes 128 bytes beside
/// each other.
namespace equalux::cuda {
namespace {

constexpr int kWarpLanes = 32;
constexpr int kColumnWarps = 4;  // of a block; each has a column of its own
constexpr int kLeftRow = 16;     // bytes of a row of the left matrix, without what lies around them
constexpr int kTiles = 8;        // of a warp, beside each other
constexpr int kWidth = kLeftRow * kTiles;
constexpr int kPairRows = 2;  // the left matrix has the tiles of two rows
constexpr int kPairs = 2;     // of rows at a step
constexpr int kStepRows = kPairs * kPairRows;
constexpr int kStages = 4;  // steps in shared memory
constexpr int kMostRadius = 7;
constexpr std::int64_t kGaussianDivisor = 1 << 24;

struct ColumnsParams {
  BytePlane plane;
  Outside outside;
  int size;
  int columns;               // of warps
  int sides;                 // of these the first one and the last ones, or none
  int side_warps;            // theirs, which come first
  int side_rows;             // of each of these
  int rows_each;             // of each of the others
  std::uint32_t zero;        // 0
  std::uint32_t outermost;   // half of a Gaussian's bias, added at either end of a column
  std::uint32_t multiplier;  // of a box
  std::uint32_t bias;        // of a box, times that
  std::uint32_t down[kMostRadius + 1];  // by distance
  std::int16_t row[2 * kMostRadius + 1];
};

/// kBlocks blocks of 16 bytes are what the sums of 16 bytes come from.
template <int kBlocks>
struct ColumnShape {
  static constexpr int kReach = (kBlocks - 1) * kLeftRow / 2;  // bytes to either side
  /// Blocks begin at multiples of 16 bytes. Where their number is even, results begin 8 bytes off.
  static constexpr int kShift = kReach % kLeftRow;
  static constexpr int kChunks = kTiles + kBlocks - 1;  // of a row that a warp reads
  static constexpr int kPitch = kChunks * kLeftRow;
  /// Weights by distance in bytes, -kZero first.
  static constexpr int kZero = kReach + kLeftRow;
  static constexpr int kBand = 2 * kZero;
};

/// Keeps a number in a register, where the compiler would load the parameter that it comes from
/// again in each step and wait for it.
__device__ __forceinline__ void keep(int& number) {
  asm volatile("" : "+r"(number));
}

/// What lies `rows` rows on from there.
template <typename Byte>
__device__ __forceinline__ Byte* rows_on(Byte* from, int stride, int rows) {
  return from + std::int64_t{stride} * rows;
}

/// A lane's part in loading rows of a warp's column: 16 bytes of every second row.
template <int kBlocks>
class ColumnLoader {
 public:
  using Shape = ColumnShape<kBlocks>;

  /// Rows y to end - 1, of which some may be outside.
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
      const int place = i * kWarpLanes + lane;
      mends_[i] = at_side_ && place < 2 * reach
                      ? mend(place < reach ? -1 - place : bytes + place - reach)
                      : kNone;
    }
  }

  /// Starts to copy the rows of the next step.
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

  /// Whether results need what lies to the left or right of the plane. The same for all lanes.
  __device__ bool is_at_side() const {
    return at_side_;
  }
  /// Writes the pixels there, in rows that are here for all lanes.
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
  static constexpr int kMends = (2 * Shape::kReach + kWarpLanes - 1) / kWarpLanes;  // of a lane
  static constexpr std::uint32_t kNone = 0xFFFF;  // no place; as what stands there, the constant

  /// For byte `at` of a row, which is outside: its place in the warp's row, and above it that of
  /// the one that stands for it.
  __device__ std::uint32_t mend(int at) const {
    // A multiple of every step is added so that the division is one of positive numbers.
    constexpr int kPositive = 192;
    const int pixel = (at + kPositive) / plane_.step - kPositive / plane_.step;
    const int index = border_index(pixel, plane_.width, outside_.border);
    const int to = at - begin_;
    const int from = to + (index - pixel) * plane_.step;
    if (to < 0 || to >= Shape::kPitch) return kNone;
    if (index < 0) return static_cast<std::uint32_t>(to) | kNone << 16;
    // A pixel that lies in two columns of warps is needed in part.
    if (from < 0 || from >= Shape::kPitch) return kNone;
    return static_cast<std::uint32_t>(to | from << 16);
  }

  /// What load() leaves: rows that are outside, and the end of a row whose last 16 bytes are fewer.
  __device__ void load_special(std::uint8_t* to) const {
#pragma unroll 1
    for (int row = y_; row < min(y_ + kStepRows, end_); row += kPairRows) {
      if (valid_ > 0 && static_cast<unsigned>(row) >= static_cast<unsigned>(limit_)) {
        // No further outside than the plane is tall.
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
  int y_;      // what is loaded next
  int end_;
  int limit_;  // rows before that are copied plainly
  int stride_;
  const std::uint8_t* next_;
  int valid_;  // bytes of the 16 that the plane has
  int to_;
  bool at_side_;
  int plain_;  // what is loaded before that row has no rows or bytes outside
  std::uint32_t mends_[kMends];
};

/// Where a lane's four results of each row go. With kKept, a byte of each word is the source's, or
/// none.
template <bool kKept>
class ColumnResults {
 public:
  /// The first rows are `before` rows above row `begin` and not written.
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

  /// Whether some of the next rows are written.
  __device__ bool begun() const { return row_ > -kStepRows; }

  /// Asks for what is kept of the rows that are stored next.
  __device__ __forceinline__ void fetch() {
    if constexpr (kKept) {
#pragma unroll
      for (int row = 0; row < kStepRows; ++row)
        if (writes(row))
          kept_[row] = *reinterpret_cast<const std::uint32_t*>(rows_on(from_, in_stride_, row));
    }
  }

  /// Writes a step's rows, as far as they are a warp's.
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
  int row_;  // what is stored next
  int count_;
  bool inside_;
  std::uint8_t* to_;
  const std::uint8_t* from_;
  std::uint32_t kept_[kStepRows] = {};
};

/// Loads what lies around the tiles of two rows: a[block][row], as multiply() wants the left
/// matrix.
template <int kBlocks>
__device__ __forceinline__ void load_tiles(std::uint32_t (&a)[kBlocks][2],
                                           const std::uint8_t* stage, int lane) {
  // Four matrices of 8 rows of 16 bytes: the first block of either row, then the second.
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

/// a · b + more, made once. Without `more`, which is mostly 0, the compiler would fuse every
/// addition of the product with the multiplication, done again for each, which takes twice as long.
__device__ __forceinline__ std::uint32_t product(std::uint32_t a, std::uint32_t b,
                                                 std::uint32_t more) {
  std::uint32_t result;
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(more));
  return result;
}

/// Whether warps at the sides, which write the pixels outside, have fewer rows than others. Where
/// memory is what limits, that is no gain.
__host__ __device__ constexpr bool sides_differ(int radius) {
  return radius > 2;
}

/// What a warp makes: rows of a column.
struct Part {
  int column;
  int begin;
  int count;  // none where it is not positive
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

/// Thread blocks of a multiprocessor, as far as registers go.
__host__ __device__ constexpr int blocks_at_once(int radius) {
  return radius <= 2 ? 6 : radius <= 4 ? 4 : 3;
}

/// kPlanes bytes make a weight of a row: 2 for those of a Gaussian, whose divisor is 2^24; 1 for
/// those of a box.
template <int kRadius, int kBlocks, int kPlanes, bool kKept>
__global__ void __launch_bounds__(kWarpLanes* kColumnWarps, blocks_at_once(kRadius))
    convolve_columns_kernel(const __grid_constant__ ColumnsParams p) {
  using Shape = ColumnShape<kBlocks>;
  using Loader = ColumnLoader<kBlocks>;
  __shared__ alignas(16) std::uint8_t stages[kColumnWarps][kStages][kStepRows * Shape::kPitch];
  __shared__ std::uint8_t bands[kPlanes][Shape::kBand];

  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kWarpLanes;
  const int g = lane / 4;
  const int t = lane % 4;
  for (int i = thread; i < Shape::kBand; i += kWarpLanes * kColumnWarps) {
    const int distance = i - Shape::kZero;
    const int tap = distance / p.plane.step + p.size / 2;
    const bool counts = distance % p.plane.step == 0 && tap >= 0 && tap < p.size;
    const int weight = counts ? p.row[tap] : 0;
#pragma unroll
    for (int plane = 0; plane < kPlanes; ++plane)
      bands[plane][i] = static_cast<std::uint8_t>(weight >> (8 * plane));
  }
  __syncthreads();
  // Column n of T is byte 4 (n / 2) + n % 2 of a tile, and the one two bytes on in the other half:
  // so that a lane has four neighbours.
  std::uint32_t along[kPlanes][2][kBlocks];
#pragma unroll
  for (int plane = 0; plane < kPlanes; ++plane) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int block = 0; block < kBlocks; ++block) {
        const int x = 4 * (g / 2) + g % 2 + 2 * half;
        const std::uint8_t* const band =
            &bands[plane][Shape::kZero + block * kLeftRow + 4 * t - Shape::kReach - x];
        along[plane][half][block] =
            static_cast<std::uint32_t>(band[0]) | static_cast<std::uint32_t>(band[1]) << 8 |
            static_cast<std::uint32_t>(band[2]) << 16 | static_cast<std::uint32_t>(band[3]) << 24;
      }
    }
  }

  const int warp = thread / kWarpLanes;
  const Part part = part_of<kRadius>(p, static_cast<int>(blockIdx.x) * kColumnWarps + warp);
  const int column = part.column;
  const int begin = part.begin;
  const int count = part.count;
  wait_for_results();
  if (count <= 0) return;
  Loader loader(p, column, begin - kRadius, begin + count + kRadius, lane);
  // A step makes the results that lie kRadius rows above what it reads.
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

  // Results under way: what the rows up to here have added to those of rows y - kRadius on.
  std::uint32_t pending[2 * kRadius][4] = {};
#pragma unroll 1
  for (int s = 0; s < steps; ++s) {
    copies_wait<kStages - 3>();
    // Rows of this step and the next are here for all lanes, and all have read those before.
    __syncwarp();
    loader.load(stages[warp][(s + kStages - 1) % kStages]);
    copies_commit();
    if (loader.is_at_side()) loader.mend_sides(stages[warp][(s + 1) % kStages]);
    if (results.begun()) results.fetch();
    const std::uint8_t* const rows = stages[warp][s % kStages];
    Sums sums[kPairs][2] = {};  // of either half of the columns
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
    // A row's product with a weight is the same above and below it. Results under way move up while
    // they are added to.
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
      // Of the result `at` rows below the first.
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
  int before;  // bytes that a warp reads before its first result's place
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

/// Blocks that are not needed cost little.
Choice choose(int radius, int step, int planes) {
  const bool four = step == 4;
  if (radius <= 2) return four ? choice<2, 2, true>(planes) : choice<2, 2, false>(planes);
  if (radius <= 4) return four ? choice<4, 3, true>(planes) : choice<4, 3, false>(planes);
  return four ? choice<7, 5, true>(planes) : choice<7, 4, false>(planes);
}

/// Rows of each of so many bands, in whole steps.
int whole_steps(int rows, int bands) {
  return ((rows + bands - 1) / bands + kStepRows - 1) / kStepRows * kStepRows;
}

}  // namespace

bool fits_columns(const BytePlane& plane, const ExactKernel& kernel) {
  // Longer ones of one byte a pixel, and boxes of three, take no less time than elsewhere.
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
  // floor(n m / 2^24) is floor(n / divisor) for n below 256 times a divisor of at most 256.
  p.multiplier = static_cast<std::uint32_t>(((1 << 24) + kernel.divisor - 1) / kernel.divisor);
  p.bias = p.multiplier * static_cast<std::uint32_t>(kernel.bias);
  p.outermost = box ? 0 : static_cast<std::uint32_t>(kernel.bias / 2);
  std::copy(kernel.row.begin(), kernel.row.end(), p.row);
  for (int i = 0; i <= kernel.radius(); ++i) {
    p.down[i] =
        static_cast<std::uint32_t>(kernel.column[static_cast<std::size_t>(kernel.radius() - i)]);
  }
  p.columns = (bytes + chosen.shift + kWidth - 1) / kWidth;

  // One wave. Warps at the sides take a fifth longer over a row.
  const int slots = device.multiprocessors * blocks_at_once(chosen.radius) * kColumnWarps;
  const int bands = std::max(1, slots / p.columns);
  p.rows_each = whole_steps(plane.rows, bands);
  const int all_bands = (plane.rows + p.rows_each - 1) / p.rows_each;
  int last = p.columns - 1;  // the first of the last ones that are sides
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
  EarlyLaunch early(device);
  const cudaLaunchConfig_t config =
      early.config(dim3(static_cast<unsigned>((warps + kColumnWarps - 1) / kColumnWarps)),
                   dim3(kWarpLanes * kColumnWarps), stream);
  check(cudaLaunchKernelEx(&config, chosen.kernel, p), "launching convolve");
}

}  // namespace equalux::cuda
