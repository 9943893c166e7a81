#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cuda/convolve/convolve.h"
#include "cuda/convolve/integer_mma.cuh"
#include "cuda/device/chunk_copy.cuh"
#include "cuda/runtime/check.h"

/// Common parts of convolve_separable() and convolve_direct(): a block's part of a plane in shared
/// memory, rows of a kernel as banded matrices, and stores of results.
///
/// A convolution along a row is a matrix product: result x is the sum over bytes i of T(x, i)
/// in(i), where T(x, i) is the weight for the distance i - x, or 0. For 16 results of eight rows it
/// takes as many blocks of 16 bytes as the kernel reaches into, and all tiles share one T.
namespace equalux::cuda {

constexpr int kChunk = 16;       // bytes that one copy moves, and bytes of a block of T
constexpr int kWindowWarps = 8;  // of a thread block, side by side
constexpr int kWindowThreads = 32 * kWindowWarps;
constexpr int kTilesOfWarp = 2;        // of 16 bytes
constexpr int kTileStep = 2 * kChunk;  // between a warp's tiles; the middle one is another warp's
constexpr int kWindowBytes = kWindowWarps * kTilesOfWarp * kChunk;  // of a row of a thread block

constexpr int kBlocksAtOnce = 2;  // thread blocks per multiprocessor, for most kernels

/// Returns where a warp's first tile begins.
__device__ __forceinline__ int first_tile(int warp) {
  return warp / 2 * (kTilesOfWarp * kTileStep) + warp % 2 * kChunk;
}

/// Returns the number of blocks on either side that a kernel reaches into.
__host__ __device__ constexpr int halo_blocks(int reach) {
  return reach == 0 ? 1 : (reach + kChunk - 1) / kChunk;
}

/// Sizes of a window with kHalo blocks on either side.
template <int kHalo>
struct WindowShape {
  static constexpr int kBlocks = 2 * kHalo + 1;  // that 16 results need
  /// Blocks that a warp's tiles need. Pairs of them begin at an even one for both tiles.
  static constexpr int kOfWarp = kBlocks + kTileStep / kChunk;
  /// Bytes between rows in shared memory: an odd number of chunks, so that eight rows lie in
  /// different banks.
  static constexpr int kPitch = kWindowBytes + (2 * kHalo + 1) * kChunk;
  /// Position of distance 0 in the weights, which begin with distance -16 (kHalo + 1) bytes.
  static constexpr int kZero = kChunk * (kHalo + 1);
  static constexpr int kBand = 2 * kZero;
};

/// A thread block's part of a plane: kWindowBytes of each row from byte `begin` on, and kHalo
/// chunks on either side. Each thread copies the same chunk of every kRowsAtOnce-th row.
template <int kHalo>
class Window {
 public:
  using Shape = WindowShape<kHalo>;

  /// Addresses and strides are multiples of `granule`: 16, 4 or 1. `reach` is in bytes.
  __device__ Window(const BytePlane& plane, Outside outside, int granule, int begin, int reach)
      : plane_(plane),
        outside_(outside),
        granule_(granule),
        begin_(begin),
        reach_(reach),
        bytes_(plane.width * plane.step),
        stride_(static_cast<int>(plane.in_stride)) {
    const int thread = static_cast<int>(threadIdx.x);
    own_ = part(thread / kOwn, kHalo + thread % kOwn);
    const int side = thread % kSides;
    side_ = part(thread / kSides, side < kHalo ? side : side + kOwn);
    if (thread >= kSideRows * kSides) side_.valid = 0;
    const int k = thread % kSideBytes;
    if (k < reach && thread / kSideBytes < kMendRows) {
      if (begin == 0) left_ = mend(-1 - k);
      if (bytes_ + k < begin + kWindowBytes + reach) right_ = mend(bytes_ + k);
    }
  }

  /// Starts to copy `rows` rows from row y on, which may be outside the plane, to `to`. Bytes to
  /// the left and right of the plane are not written.
  __device__ __forceinline__ void load(std::uint8_t* to, int y, int rows) const {
    if (own_.valid > 0) load(own_, to, y, rows, kOwnRows);
    if (side_.valid > 0) load(side_, to, y, rows, kSideRows);
  }
  /// Starts to copy as many rows as all threads copy at once.
  static constexpr int kRowsAtOnce = kWindowThreads / (kWindowBytes / kChunk);
  __device__ __forceinline__ void load(std::uint8_t* to, int y) const {
    static_assert(kRowsAtOnce <= kSideRows);
    if (own_.valid > 0) load_row(own_, to + own_.to, y + own_.row);
    if (side_.valid > 0 && side_.row < kRowsAtOnce) load_row(side_, to + side_.to, y + side_.row);
  }

  /// Returns true where results of this block need pixels to the left or right of the plane; the
  /// same for all threads.
  __device__ bool is_at_side() const {
    return begin_ == 0 || begin_ + kWindowBytes + reach_ > bytes_;
  }

  /// Writes the pixels to the left and right of the plane into rows that have arrived. Other
  /// threads see them after a barrier.
  __device__ void mend_sides(std::uint8_t* rows, int count) const {
    for (int y = static_cast<int>(threadIdx.x) / kSideBytes; y < count; y += kMendRows) {
      std::uint8_t* row = rows + y * Shape::kPitch;
      if (left_.to >= 0) row[left_.to] = left_.from < 0 ? outside_.value : row[left_.from];
      if (right_.to >= 0) row[right_.to] = right_.from < 0 ? outside_.value : row[right_.from];
    }
  }

 private:
  static constexpr int kOwn = kWindowBytes / kChunk;
  static constexpr int kOwnRows = kRowsAtOnce;
  static constexpr int kSides = 2 * kHalo;
  static constexpr int kSideRows = kWindowThreads / kSides;
  static constexpr int kSideBytes = kHalo * kChunk;
  static constexpr int kMendRows = kWindowThreads / kSideBytes;  // rows at once

  /// The chunk that a thread copies of a row.
  struct Part {
    const std::uint8_t* from;  // in row 0 of the plane
    int row;                   // the first row
    int to;                    // offset from the window's first byte
    int valid;                 // bytes of the chunk that the plane has
  };

  /// The position in the window's row of a byte outside the plane, and of the byte that it repeats;
  /// -1 for the constant.
  struct Mend {
    int to = -1;
    int from = -1;
  };

  __device__ Part part(int row, int chunk) const {
    const int at = begin_ + (chunk - kHalo) * kChunk;
    return {plane_.in + at, row, row * Shape::kPitch + chunk * kChunk,
            at < 0 ? 0 : min(max(bytes_ - at, 0), kChunk)};
  }

  __device__ __forceinline__ void load(const Part& part, std::uint8_t* to, int y, int rows,
                                       int rows_at_once) const {
    to += part.to;
    for (int row = part.row; row < rows; row += rows_at_once, to += rows_at_once * Shape::kPitch)
      load_row(part, to, y + row);
  }

  __device__ __forceinline__ void load_row(const Part& part, std::uint8_t* to, int y) const {
    if (static_cast<unsigned>(y) >= static_cast<unsigned>(plane_.rows)) {
      y = border_index(y, plane_.rows, outside_.border);
      if (y < 0) {
        const std::uint32_t all = outside_.value * 0x01010101U;
        *reinterpret_cast<uint4*>(to) = {all, all, all, all};
        return;
      }
    }
    const std::uint8_t* from = part.from + static_cast<std::int64_t>(y) * stride_;
    if (granule_ == kChunk && part.valid == kChunk) {
      copy_vector_async(to, from);
    } else if (granule_ == kChunk) {
      copy_some_async(to, from, part.valid);
    } else {
      load_pieces(to, from, part.valid);
    }
  }

  __device__ void load_pieces(std::uint8_t* to, const std::uint8_t* from, int valid) const {
    if (granule_ == 4 && valid == kChunk) {
#pragma unroll
      for (int i = 0; i < kChunk; i += 4)
        copy_word_async(to + i, from + i);
    } else {
#pragma unroll
      for (int i = 0; i < kChunk; ++i) {
        if (i < valid) to[i] = from[i];
      }
    }
  }

  /// Finds the positions for byte `at` of a row, which is outside the plane.
  __device__ Mend mend(int at) const {
    // A multiple of every step, added so that the division does not see a negative number.
    constexpr int kShift = 192;
    const int pixel = (at + kShift) / plane_.step - kShift / plane_.step;
    const int from = border_index(pixel, plane_.width, outside_.border);
    const int to = at - begin_ + kSideBytes;
    return {to, from < 0 ? -1 : to + (from - pixel) * plane_.step};
  }

  const BytePlane& plane_;
  Outside outside_;
  int granule_;
  int begin_;
  int reach_;
  int bytes_;  // of a row
  int stride_;
  Part own_;
  Part side_;
  Mend left_;
  Mend right_;
};

/// Way from sums to levels in convolve_separable() and convolve_direct(): results are those of
/// LevelOfSum, by the cheapest way that a kernel allows.
struct SumFinish {
  enum class How : std::uint8_t {
    top,      ///< not negative, divisor 2^24: the highest byte of sum + bias
    plain,    ///< divisor 1: the sum, clamped
    product,  ///< divisor at most 4095: clamped, then the upper word of a product
    any,
  };
  How how = How::any;
  std::uint32_t bias = 0;
  std::int32_t most = 0;         ///< the largest sum + bias that is not clamped
  std::uint32_t multiplier = 0;  ///< ceil(2^32 / divisor)
  LevelOfSum levels;

  static SumFinish of(const ExactKernel& kernel) {
    SumFinish finish;
    finish.levels = LevelOfSum::of(kernel);
    finish.bias = finish.levels.bias;
    // Sums that need all 32 bits cannot be compared as signed numbers; only a separable kernel has
    // such sums.
    std::int64_t across = 0;
    std::int64_t down = 0;
    for (const std::int32_t weight : kernel.row)
      across += weight;
    for (const std::int32_t weight : kernel.column)
      down += weight;
    const bool fits = !kernel.separable || 255 * across * down + kernel.bias < 1LL << 31;
    if (kernel.separable && kernel.divisor == 1 << 24) {
      finish.how = How::top;
    } else if (kernel.divisor == 1 && fits) {
      finish.how = How::plain;
    } else if (kernel.divisor < 4096 && fits) {
      // Exact, because floor(n m / 2^32) is floor(n / d) where n (m d - 2^32) < 2^32, and m d -
      // 2^32 < d.
      finish.how = How::product;
      finish.most = static_cast<std::int32_t>(256 * kernel.divisor - 1);
      finish.multiplier =
          static_cast<std::uint32_t>(((1LL << 32) + kernel.divisor - 1) / kernel.divisor);
    }
    return finish;
  }

  /// Computes the levels of tiles, in the order that ResultRows::store() takes.
  template <int kCount>
  __device__ __forceinline__ void pairs(const Sums (&sums)[kCount],
                                        std::uint32_t (&pairs)[kCount]) const {
    if (how == How::top) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const auto value = [&](int k) { return biased(sums[i][k]); };
        pairs[i] = __byte_perm(__byte_perm(value(0), value(2), 0x0073),
                               __byte_perm(value(1), value(3), 0x0073), 0x5410);
      }
    } else if (how == How::product) {
      pack(sums, pairs, [&](std::int32_t sum) {
        const auto clamped = min(max(static_cast<std::int32_t>(biased(sum)), 0), most);
        return __umulhi(static_cast<std::uint32_t>(clamped), multiplier);
      });
    } else if (how == How::plain) {
      pack(sums, pairs, [&](std::int32_t sum) {
        return static_cast<std::uint32_t>(min(max(static_cast<std::int32_t>(biased(sum)), 0), 255));
      });
    } else {
      pack(sums, pairs, [&](std::int32_t sum) -> std::uint32_t {
        return levels.level(static_cast<std::uint32_t>(sum));
      });
    }
  }

 private:
  /// Packs levels 2g of rows 2t and 2t + 1, then levels 2g + 1 of both.
  template <int kCount, typename Level>
  static __device__ __forceinline__ void pack(const Sums (&sums)[kCount],
                                              std::uint32_t (&pairs)[kCount], Level level) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const std::uint32_t levels[4] = {level(sums[i][0]), level(sums[i][1]), level(sums[i][2]),
                                       level(sums[i][3])};
      pairs[i] = __byte_perm(__byte_perm(levels[0], levels[2], 0x0040),
                             __byte_perm(levels[1], levels[3], 0x0040), 0x5410);
    }
  }
  __device__ __forceinline__ std::uint32_t biased(std::int32_t sum) const {
    return static_cast<std::uint32_t>(sum) + bias;
  }
};

/// Writes a warp's results. Everything but the row is computed before the first of them.
class ResultRows {
 public:
  /// Prepares to write `count` rows from row `begin` on, the first tile from byte x on.
  __device__ ResultRows(const BytePlane& plane, int granule, int x, int begin, int count, int lane)
      : plane_(plane),
        x_(x + lane % 4 * 4),
        begin_(begin),
        row_(lane / 4),
        count_(count),
        stride_(static_cast<int>(plane.out_stride)),
        to_(plane.out + static_cast<std::int64_t>(begin + row_) * stride_ + x_),
        words_(granule >= 4 && (plane.kept < 0 || plane.step == 4) &&
               x + kTileStep + kChunk <= plane.width * plane.step) {}

  /// Writes a warp's tiles of 16 bytes, eight rows from row `row` on, a multiple of 8 that counts
  /// from the first row. Rows outside the warp's part, above or below, are left out. `pairs` holds
  /// results 2g and 2g + 1 of row 2t, then of row 2t + 1.
  __device__ __forceinline__ void store(int row, const std::uint32_t (&pairs)[kTilesOfWarp]) const {
    std::uint32_t levels[kTilesOfWarp];
#pragma unroll
    for (int tile = 0; tile < kTilesOfWarp; ++tile)
      levels[tile] = transpose_pairs(pairs[tile]);
    if (static_cast<unsigned>(row + row_) >= static_cast<unsigned>(count_)) return;
    std::uint8_t* to = to_ + static_cast<std::int64_t>(row) * stride_;
    const auto source = [&] {
      return plane_.in + static_cast<std::int64_t>(begin_ + row + row_) * plane_.in_stride + x_;
    };
    if (words_) {
      if (plane_.kept >= 0) {
        const std::uint32_t kept = 0xFFU << (8 * plane_.kept);
        const std::uint8_t* from = source();
#pragma unroll
        for (int tile = 0; tile < kTilesOfWarp; ++tile) {
          const std::uint32_t own =
              *reinterpret_cast<const std::uint32_t*>(from + tile * kTileStep);
          levels[tile] = (levels[tile] & ~kept) | (own & kept);
        }
      }
#pragma unroll
      for (int tile = 0; tile < kTilesOfWarp; ++tile)
        *reinterpret_cast<std::uint32_t*>(to + tile * kTileStep) = levels[tile];
      return;
    }
    const std::uint8_t* from = source();
#pragma unroll 1
    for (int tile = 0; tile < kTilesOfWarp; ++tile, to += kTileStep, from += kTileStep) {
      const int valid = min(plane_.width * plane_.step - x_ - tile * kTileStep, 4);
      const std::uint32_t word = tile == 0 ? levels[0] : levels[1];
#pragma unroll 1
      for (int i = 0; i < valid; ++i)
        to[i] = i == plane_.kept ? from[i] : static_cast<std::uint8_t>(word >> (8 * i));
    }
  }

 private:
  const BytePlane& plane_;
  int x_;
  int begin_;
  int row_;
  int count_;
  int stride_;
  std::uint8_t* to_;
  bool words_;  // results are stored as whole words
};

/// Returns which byte of a tile is the result in row g of a matrix (half 0) or row g + 8 (half 1).
/// So a lane has two neighbours, and transpose_pairs() makes them words of the plane's rows.
__device__ __forceinline__ int result_of(int g, int half) {
  return 2 * g + half;
}

/// Returns the number of blocks side by side that cover a plane.
[[nodiscard]] inline int blocks_across(const BytePlane& plane) {
  return (plane.width * plane.step + kWindowBytes - 1) / kWindowBytes;
}

/// Returns the rows of results of a block, a multiple of `unit`. A block reads `extra` rows more.
/// Of one to four waves of blocks it chooses the number that ends first.
[[nodiscard]] inline int rows_of_block(const BytePlane& plane, const LaunchDevice& device, int unit,
                                       int extra, int blocks_at_once = kBlocksAtOnce) {
  const int slots = device.multiprocessors * blocks_at_once;
  int best = 0;
  int best_cost = 0;
  for (int waves = 1; waves <= 4; ++waves) {
    const int bands = std::max(1, slots * waves / blocks_across(plane));
    const int each = ((plane.rows + bands - 1) / bands + unit - 1) / unit * unit;
    const int cost = waves * (each + extra);
    if (best == 0 || cost < best_cost) {
      best = each;
      best_cost = cost;
    }
  }
  return best;
}

/// Launches a kernel whose blocks compute `rows_each` rows of results each.
template <typename Params>
void launch_windows(void (*kernel)(Params), const Params& params, int rows_each,
                    std::size_t shared_bytes, const LaunchDevice& device, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(blocks_across(params.plane)),
                  static_cast<unsigned>((params.plane.rows + rows_each - 1) / rows_each));
  launch_early(device, "launching convolve", kernel, grid, dim3(kWindowThreads), shared_bytes,
               stream, params);
}

/// Returns the widest copies that a plane's alignment allows.
[[nodiscard]] inline int granule_of(const BytePlane& plane) {
  return plane.is_multiple(16) ? 16 : plane.is_multiple(4) ? 4 : 1;
}

}  // namespace equalux::cuda
