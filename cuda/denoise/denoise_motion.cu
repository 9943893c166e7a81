#include "cuda/denoise/denoise_curves.cuh"
#include "cuda/denoise/denoise_samples.cuh"
#include "cuda/device/warp_sum.cuh"
#include "cuda/runtime/check.h"

namespace equalux::cuda {
namespace {

using denoise::kAround;
using denoise::kBlock;
using denoise::kCoarse;
using denoise::kCoarseReach;
using denoise::kParts;
using denoise::kTaps;
using denoise::kWindow;
using denoise::Vector;

/// Samples a side of the tile that a block of threads halves three times.
constexpr int kPyramidTile = 64;
constexpr int kPyramidThreads = 256;
/// Least blocks of kPyramidThreads that a multiprocessor holds at a time: the kernel is bound by
/// loads, whose latency other warps hide.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int kPyramidBlocks = 4;  // multiprocessors of 7.5 hold 1,024 threads
#else
constexpr int kPyramidBlocks = 6;
#endif
/// Threads of a block of the search: a warp for each of the motion blocks that share a coarse
/// search.
constexpr int kFindThreads = kCoarse * kCoarse * kLanes;
/// Warps of a block of threads, and motion blocks that they share: of these few move, and whichever
/// do are spread over the warps.
constexpr int kMoveWarps = 8;
constexpr int kMoveBlocks = 16;
/// Rows of the estimate from which the rows of a block are interpolated.
constexpr int kTapRows = kBlock + kTaps - 1;

/// Offset in whole samples of a pyramid level.
struct Step {
  int x;
  int y;
};

/// Mean of 2 x 2 numbers. `at` repeats the last one beyond the plane's edge.
template <typename At>
__device__ __forceinline__ int mean_of_four(int x, int y, At at) {
  return (at(2 * x, 2 * y) + at(2 * x + 1, 2 * y) + at(2 * x, 2 * y + 1) +
          at(2 * x + 1, 2 * y + 1) + 2) >>
         2;
}

/// Mean of four numbers from the sums of two rows, in both halves of a word.
__device__ __forceinline__ std::uint32_t mean_of_pairs(std::uint32_t pairs) {
  static_assert(2 * denoise::kSampleMost < 1 << 16);  // sums of words do not carry
  return ((pairs & 0xFFFF) + (pairs >> 16) + 2) >> 2;
}

/// Stores four halves of a thread and the eighths made of them. A warp has four rows of halves,
/// eight threads each, and adds rows up by shuffles. `left` and `right` are two halves each, from
/// column u and row v on.
__device__ __forceinline__ void store_halves(const DenoisePyramid& to, int u, int v,
                                             std::uint32_t left, std::uint32_t right) {
  constexpr std::uint32_t kAll = 0xFFFFFFFFU;
  constexpr int kThreadsOfRow = 8;
  const auto lane = static_cast<int>(threadIdx.x) % kLanes;
  *reinterpret_cast<uint2*>(to.half.row(v) + u) = uint2{left, right};
  const std::uint32_t fourths = mean_of_pairs(left + __shfl_down_sync(kAll, left, kThreadsOfRow)) |
                                mean_of_pairs(right + __shfl_down_sync(kAll, right, kThreadsOfRow))
                                    << 16;
  const std::uint32_t eighth =
      mean_of_pairs(fourths + __shfl_down_sync(kAll, fourths, 2 * kThreadsOfRow));
  if (lane < kThreadsOfRow) to.eighth.row(v / 4)[u / 4] = static_cast<std::int16_t>(eighth);
}

/// Halves a tile three times without shared memory, where all of its samples exist: a thread has 8
/// x 2 of them. Returns false, having done nothing, where the frame's samples are not adjacent
/// bytes at aligned addresses.
__device__ __forceinline__ bool halve_whole_tile(const DenoisePicture& picture, bool estimate,
                                                 int thread, int x, int y) {
  constexpr int kColumns = 8;  // columns of a thread
  static_assert(kPyramidTile * kPyramidTile == 2 * kColumns * kPyramidThreads);
  constexpr int kAcross = kPyramidTile / kColumns;
  const DenoiseComponent& luma = picture.components[0];
  const int column = x + thread % kAcross * kColumns;
  const int row = y + thread / kAcross * 2;
  if (estimate) {
    const auto above = *reinterpret_cast<const uint4*>(luma.known.estimate.row(row) + column);
    const auto below = *reinterpret_cast<const uint4*>(luma.known.estimate.row(row + 1) + column);
    store_halves(picture.estimates, column / 2, row / 2,
                 mean_of_pairs(above.x + below.x) | mean_of_pairs(above.y + below.y) << 16,
                 mean_of_pairs(above.z + below.z) | mean_of_pairs(above.w + below.w) << 16);
    return true;
  }
  const auto place =
      reinterpret_cast<std::uintptr_t>(luma.in.first) | static_cast<std::uintptr_t>(luma.in.stride);
  if (picture.in_words.depth != 8 || luma.in.step != 1 || place % kColumns != 0) return false;
  const auto above = *reinterpret_cast<const uint2*>(luma.in.at(column, row));
  const auto below = *reinterpret_cast<const uint2*>(luma.in.at(column, row + 1));
  const auto halves = [](std::uint32_t a, std::uint32_t b) {
    constexpr std::uint32_t kEven = 0x00FF00FF;
    // The mean of four bytes is exact in units of samples, so it needs no rounding.
    static_assert(denoise::kSampleBits >= 8 + 2);
    return ((a & kEven) + (a >> 8 & kEven) + (b & kEven) + (b >> 8 & kEven))
           << (denoise::kSampleBits - 8 - 2);
  };
  store_halves(picture.samples, column / 2, row / 2, halves(above.x, below.x),
               halves(above.y, below.y));
  return true;
}

/// Halves and fourths of a tile in shared memory, a bank apart from row to row.
struct PyramidTile {
  static constexpr int kHalf = kPyramidTile / 2;
  static constexpr int kFourth = kPyramidTile / 4;
  std::int16_t halves[kHalf][kHalf + 2];
  std::int16_t fourths[kFourth][kFourth + 2];
};

/// Halves any tile three times, through shared memory: at the edges of the picture, and of any
/// depth and step. `x0` and `y0` count tiles.
__device__ __forceinline__ void halve_tile(const DenoisePicture& picture, bool estimate, int thread,
                                           int x0, int y0, PyramidTile& tile) {
  constexpr int kHalf = PyramidTile::kHalf;
  constexpr int kFourth = PyramidTile::kFourth;
  constexpr int kEighth = kPyramidTile / 8;
  const DenoiseComponent& luma = picture.components[0];
  const DenoisePyramid& to = estimate ? picture.estimates : picture.samples;
  auto& halves = tile.halves;
  auto& fourths = tile.fourths;
  const PictureSamples samples{luma.in, picture.in_words};
  const PlaneNumbers estimates{luma.known.estimate};
  const int up = denoise::kSampleBits - picture.in_words.depth;
  // Numbers beyond a plane's edge are computed but never read.
  for (int i = thread; i < kHalf * kHalf / 2; i += kPyramidThreads) {
    const int x = i % (kHalf / 2) * 2;
    const int y = i / (kHalf / 2);
    const int u = x0 * kHalf + x;
    const int v = y0 * kHalf + y;
    int left = 0;
    int right = 0;
    if (2 * u + kFour <= luma.in.columns && 2 * v + 2 <= luma.in.rows) {
      int above[kFour];
      int below[kFour];
      if (estimate) {
        load_four(luma.known.estimate.row(2 * v) + 2 * u, above);
        load_four(luma.known.estimate.row(2 * v + 1) + 2 * u, below);
      } else {
        load_codes(luma.in, picture.in_words, 2 * u, 2 * v, above);
        load_codes(luma.in, picture.in_words, 2 * u, 2 * v + 1, below);
      }
      const int scale = estimate ? 0 : up;
      left = (((above[0] + above[1] + below[0] + below[1]) << scale) + 2) >> 2;
      right = (((above[2] + above[3] + below[2] + below[3]) << scale) + 2) >> 2;
    } else {
      left = estimate ? mean_of_four(u, v, estimates) : mean_of_four(u, v, samples);
      right = estimate ? mean_of_four(u + 1, v, estimates) : mean_of_four(u + 1, v, samples);
    }
    halves[y][x] = static_cast<std::int16_t>(left);
    halves[y][x + 1] = static_cast<std::int16_t>(right);
    if (u + 1 < to.half.columns && v < to.half.rows) {
      *reinterpret_cast<std::uint32_t*>(to.half.row(v) + u) =
          static_cast<std::uint32_t>(left | right << 16);
    } else if (u < to.half.columns && v < to.half.rows) {
      to.half.row(v)[u] = static_cast<std::int16_t>(left);
    }
  }
  __syncthreads();
  for (int i = thread; i < kFourth * kFourth; i += kPyramidThreads) {
    const int x = i % kFourth;
    const int y = i / kFourth;
    const int last_x = to.half.columns - 1 - x0 * kHalf;
    const int last_y = to.half.rows - 1 - y0 * kHalf;
    const int mean = mean_of_four(
        x, y, [&](int a, int b) { return halves[max(min(b, last_y), 0)][max(min(a, last_x), 0)]; });
    fourths[y][x] = static_cast<std::int16_t>(mean);
  }
  __syncthreads();
  for (int i = thread; i < kEighth * kEighth; i += kPyramidThreads) {
    const int x = i % kEighth;
    const int y = i / kEighth;
    const int last_x = (to.half.columns - 1) / 2 - x0 * kFourth;
    const int last_y = (to.half.rows - 1) / 2 - y0 * kFourth;
    const int mean = mean_of_four(x, y, [&](int a, int b) {
      return fourths[max(min(b, last_y), 0)][max(min(a, last_x), 0)];
    });
    const int u = x0 * kEighth + x;
    const int v = y0 * kEighth + y;
    if (u < to.eighth.columns && v < to.eighth.rows)
      to.eighth.row(v)[u] = static_cast<std::int16_t>(mean);
  }
}

/// Pyramids of the picture (z = 0) and of its estimate (z = 1), and noise curves beside them.
///
/// Each block of threads halves a tile of 64 x 64 samples three times; the first row of blocks
/// makes the noise curves instead, as the search needs both and a launch is saved. 256 threads take
/// a whole tile at one step of 8 x 2 samples a thread, in registers; tiles at the edges, and those
/// of other than adjacent bytes, go through 2.7 KiB of shared memory. Reads each sample once, 1 or
/// 2 bytes, and writes 2 bytes for each 4 samples: memory-bound. Sums are of whole numbers, rounded
/// at each level.
__global__ void __launch_bounds__(kPyramidThreads, kPyramidBlocks)
    motion_pyramid_kernel(const __grid_constant__ DenoisePicture picture) {
  __shared__ PyramidTile tile;
  wait_then_release();
  if (blockIdx.y == 0) {
    make_noise_curves<kPyramidThreads>(picture,
                                       static_cast<int>(blockIdx.z * gridDim.x + blockIdx.x),
                                       static_cast<int>(gridDim.z * gridDim.x));
    return;
  }
  const DenoiseComponent& luma = picture.components[0];
  const bool estimate = blockIdx.z == 1;
  const auto thread = static_cast<int>(threadIdx.x);
  const auto x0 = static_cast<int>(blockIdx.x);
  const auto y0 = static_cast<int>(blockIdx.y) - 1;
  if ((x0 + 1) * kPyramidTile <= luma.in.columns && (y0 + 1) * kPyramidTile <= luma.in.rows &&
      halve_whole_tile(picture, estimate, thread, x0 * kPyramidTile, y0 * kPyramidTile))
    return;
  halve_tile(picture, estimate, thread, x0, y0, tile);
}

/// Part of a window of kWindow x kWindow in a lane: eight samples of one column. Half a warp reads
/// a row of 16 samples at a time, from one or two cache lines.
constexpr int kSpan = kWindow * kWindow / kLanes;
static_assert(kSpan * 2 == kWindow);
__device__ __forceinline__ int lane_of_warp() {
  return static_cast<int>(threadIdx.x) % kLanes;
}
__device__ __forceinline__ int span_row() {
  return lane_of_warp() / kWindow * kSpan;
}
__device__ __forceinline__ int span_column() {
  return lane_of_warp() % kWindow;
}

/// Loads the lane's part of the window at column x and row y.
template <typename At>
__device__ __forceinline__ void load_span(At at, int x, int y, int (&span)[kSpan]) {
#pragma unroll
  for (int i = 0; i < kSpan; ++i)
    span[i] = at(x + span_column(), y + span_row() + i);
}

/// Loads the lane's part of a window of a plane. Where all rows exist, its samples are a pitch
/// apart and need no clamp of their own.
__device__ __forceinline__ void load_span(const NumberPlane<std::int16_t>& plane, int x, int y,
                                          int (&span)[kSpan]) {
  const int column = nearest_place(x + span_column(), plane.columns);
  if (y >= 0 && y + kWindow <= plane.rows) {
    const std::int16_t* const first = plane.row(y + span_row()) + column;
#pragma unroll
    for (int i = 0; i < kSpan; ++i)
      span[i] = first[i * plane.pitch];
  } else {
#pragma unroll
    for (int i = 0; i < kSpan; ++i)
      span[i] = plane.row(nearest_place(y + span_row() + i, plane.rows))[column];
  }
}

/// Lane's part of a window in packed pairs: four numbers each of two rows that are eight rows
/// apart. The window's first column is a multiple of four, so that each load is of 8 bytes.
struct WindowPairs {
  static constexpr int kCount = kWindow * kWindow / kLanes / 2;
  Pair pairs[kCount];

  __device__ __forceinline__ WindowPairs(const NumberPlane<std::int16_t>& plane, int x, int y) {
    constexpr int kLanesOfRow = kWindow / kFour;
    const int column = x + lane_of_warp() % kLanesOfRow * kFour;
    const bool whole = x >= 0 && x + kWindow <= plane.columns;
#pragma unroll
    for (int i = 0; i < kCount / 2; ++i) {
      const int v = y + lane_of_warp() / kLanesOfRow + i * (kLanes / kLanesOfRow);
      const std::int16_t* const row = plane.row(nearest_place(v, plane.rows));
      if (whole) {
        const auto four = *reinterpret_cast<const uint2*>(row + column);
        pairs[2 * i] = four.x;
        pairs[2 * i + 1] = four.y;
      } else {
        const auto at = [&](int k) { return row[nearest_place(column + k, plane.columns)]; };
        pairs[2 * i] = pair_of(at(0), at(1));
        pairs[2 * i + 1] = pair_of(at(2), at(3));
      }
    }
  }

  /// Lane's part of the sum of absolute differences (SAD).
  [[nodiscard]] __device__ __forceinline__ std::uint32_t difference(const WindowPairs& then) const {
    std::uint32_t sum = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      // The greater less the smaller number is not below 0, so no half borrows from the other.
      sum = __dp2a_lo(__vmaxs2(pairs[i], then.pairs[i]) - __vmins2(pairs[i], then.pairs[i]),
                      0x0101U, sum);
    }
    return sum;
  }

  /// Sum of differences over the warp, each limited to +-`limit`.
  [[nodiscard]] __device__ __forceinline__ int drifts(const WindowPairs& then, int limit) const {
    const int most = min(limit, denoise::kSampleMost);
    // Adding a complement gives one less than the difference. The limits are one less, too, and the
    // sum begins with their number.
    const Pair least_of_both = twice(static_cast<std::uint16_t>(-most - 1));
    const Pair most_of_both = twice(static_cast<std::uint16_t>(most - 1));
    int sum = 2 * kCount;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const Pair drift =
          __vmaxs2(__viaddmin_s16x2(pairs[i], ~then.pairs[i], most_of_both), least_of_both);
      sum = __dp2a_lo(static_cast<int>(drift), 0x0101, sum);
    }
    return static_cast<int>(warp_sum(static_cast<std::uint32_t>(sum)));
  }
};

/// Lane's part of the sum of absolute differences.
__device__ __forceinline__ int part_of_difference(const int (&a)[kSpan], const int (&b)[kSpan]) {
  unsigned sum = 0;
#pragma unroll
  for (int i = 0; i < kSpan; ++i)
    sum = __sad(a[i], b[i], sum);
  return static_cast<int>(sum);
}

/// Sum of absolute differences over the warp.
__device__ __forceinline__ int difference(const int (&a)[kSpan], const int (&b)[kSpan]) {
  return static_cast<int>(warp_sum(static_cast<std::uint32_t>(part_of_difference(a, b))));
}

/// Sum of differences over the warp, each limited to +-`limit`.
__device__ __forceinline__ int sum_of_drifts(const int (&now)[kSpan], const int (&then)[kSpan],
                                             int limit) {
  int sum = 0;
#pragma unroll
  for (int i = 0; i < kSpan; ++i)
    sum += denoise::clamp(now[i] - then[i], -limit, limit);
  return static_cast<int>(warp_sum(static_cast<std::uint32_t>(sum)));
}

/// Lane's part of the sum of absolute differences to the window of a plane at column x and row y.
__device__ __forceinline__ int part_of_difference(const int (&now)[kSpan],
                                                  const NumberPlane<std::int16_t>& then, int x,
                                                  int y) {
  int span[kSpan];
  load_span(then, x, y, span);
  return part_of_difference(now, span);
}

/// denoise::displacement() by a warp without a 64-bit division: the rounded quotients are within
/// +-kParts, so each lane tests whether one of 16 values is reached, and the count of those is the
/// quotient. The first half of the warp finds x, the other y.
__device__ __forceinline__ Vector displacement_of(const denoise::SlopeSums& sums) {
  static_assert(kLanes == 4 * kParts);
  const std::int64_t xx = sums.xx + denoise::damping(kWindow * kWindow);
  const std::int64_t yy = sums.yy + denoise::damping(kWindow * kWindow);
  const std::int64_t xy = sums.xy;
  const std::int64_t determinant = xx * yy - xy * xy;
  const bool is_x = lane_of_warp() < 2 * kParts;
  const std::int64_t numerator = is_x ? yy * sums.xd - xy * sums.yd : xx * sums.yd - xy * sums.xd;
  const std::int64_t part = determinant / kParts;
  const int quotient = lane_of_warp() % (2 * kParts) + 1 - kParts;
  // The rounded quotient is this value or more. Numerators beyond the determinant give +-kParts.
  const bool reached = numerator > -determinant &&
                       (numerator >= determinant || 2 * numerator + part >= 2 * quotient * part);
  const std::uint32_t all = __ballot_sync(0xFFFFFFFFU, reached);
  return {static_cast<std::int16_t>(__popc(all & 0xFFFF) - kParts),
          static_cast<std::int16_t>(__popc(all >> 16) - kParts)};
}

/// Numbers of a plane at places that are known to lie inside: no clamp.
struct InnerNumbers {
  const NumberPlane<std::int16_t>& plane;

  __device__ __forceinline__ int operator()(int x, int y) const { return plane.row(y)[x]; }
};

/// Remaining displacement of a window, from gradients of `then` around column x and row y, where
/// the window `now` is already found to come from.
template <typename Then>
__device__ __forceinline__ Vector displacement_of(const int (&now)[kSpan], Then then, int x,
                                                  int y) {
  denoise::SlopeSums sums;
  const int column = x + span_column();
  const int row = y + span_row();
  int above = then(column, row - 1);
  int here = then(column, row);
#pragma unroll
  for (int i = 0; i < kSpan; ++i) {
    const int below = then(column, row + i + 1);
    denoise::add_slopes(now[i], here, then(column - 1, row + i), then(column + 1, row + i), above,
                        below, sums);
    above = here;
    here = below;
  }
  for (std::int32_t* sum : {&sums.xx, &sums.xy, &sums.yy, &sums.xd, &sums.yd})
    *sum = static_cast<std::int32_t>(warp_sum(static_cast<std::uint32_t>(*sum)));
  return displacement_of(sums);
}

__device__ __forceinline__ Vector displacement_left(const int (&now)[kSpan],
                                                    const NumberPlane<std::int16_t>& then, int x,
                                                    int y) {
  if (x >= 1 && y >= 1 && x + kWindow < then.columns && y + kWindow < then.rows)
    return displacement_of(now, InnerNumbers{then}, x, y);
  return displacement_of(now, PlaneNumbers{then}, x, y);
}

/// Interpolates the rows of a block and those around it that the taps down need, across, by a warp;
/// without a fraction of a sample it copies them. kInside: all samples read lie in the plane.
template <bool kInside>
__device__ __forceinline__ void interpolate_rows(const NumberPlane<std::int16_t>& plane, int from_x,
                                                 int from_y, bool moved,
                                                 const std::int16_t (&taps)[kTaps],
                                                 std::int16_t (&across)[kTapRows][kBlock]) {
  const int column = lane_of_warp() % kBlock;
  // Unrolled, so that the loads of four rows are in flight at a time.
#pragma unroll 4
  for (int r = lane_of_warp() / kBlock; r < kTapRows; r += kLanes / kBlock) {
    const int v = from_y + r - 2;
    const std::int16_t* const row = plane.row(kInside ? v : nearest_place(v, plane.rows));
    const auto at = [&](int u) {
      return static_cast<int>(row[kInside ? u : nearest_place(u, plane.columns)]);
    };
    int value = 0;
    if (moved) {
#pragma unroll
      for (int k = 0; k < kTaps; ++k)
        value += denoise::times(at(from_x + column + k - 2), taps[k]);
      value = denoise::clamp(value, 0, denoise::kSampleMost);
    } else {
      value = at(from_x + column);
    }
    across[r][column] = static_cast<std::int16_t>(value);
  }
}

/// Gain of a block with this drift.
__device__ __forceinline__ std::int16_t gain(const DenoisePicture& picture, int column, int row,
                                             int drift) {
  if (drift == 0) return 0;
  const NumberPlane<std::int16_t>& eighth = picture.estimates.eighth;
  const int left = 2 * column;
  const int right = min(left + 1, eighth.columns - 1);
  const std::int16_t* const above = eighth.row(2 * row);
  const std::int16_t* const below = eighth.row(min(2 * row + 1, eighth.rows - 1));
  return static_cast<std::int16_t>(denoise::gain_of(
      drift, denoise::block_mean(above[left], above[right], below[left], below[right])));
}

/// Sum of absolute differences of a block to its place in the last picture, and the drift of its
/// brightness.
struct Match {
  int difference;
  int drift;
};

__device__ __forceinline__ Match match_of(const int (&now)[kSpan], const int (&then)[kSpan],
                                          int limit) {
  return {difference(now, then), denoise::drift_of(sum_of_drifts(now, then, limit), limit)};
}

/// Match of a block along a vector, over a warp. `across` is scratch memory for rows that are
/// interpolated across and not yet down.
__device__ __forceinline__ Match match_along(const DenoisePicture& picture, const int (&now)[kSpan],
                                             int x, int y, Vector vector, int limit,
                                             std::int16_t (&across)[kTapRows][kBlock]) {
  const NumberPlane<std::int16_t>& then = picture.components[0].known.estimate;
  const int parts_x = denoise::phases_of(vector.x, 0);
  const int parts_y = denoise::phases_of(vector.y, 0);
  const int phase_x = denoise::phase_of(parts_x);
  const int phase_y = denoise::phase_of(parts_y);
  const int from_x = x + denoise::sample_before(parts_x);
  const int from_y = y + denoise::sample_before(parts_y);
  int span[kSpan];
  if (phase_x == 0 && phase_y == 0) {
    load_span(then, from_x, from_y, span);
    return match_of(now, span, limit);
  }
  const auto& taps_x = picture.tables->taps[phase_x];
  if (from_x >= 2 && from_x + kBlock + kTaps - 3 <= then.columns && from_y >= 2 &&
      from_y + kTapRows - 2 <= then.rows) {
    interpolate_rows<true>(then, from_x, from_y, phase_x != 0, taps_x, across);
  } else {
    interpolate_rows<false>(then, from_x, from_y, phase_x != 0, taps_x, across);
  }
  __syncwarp();
  const std::int16_t* const taps_y = picture.tables->taps[phase_y];
#pragma unroll
  for (int i = 0; i < kSpan; ++i) {
    const int u = span_column();
    const int v = span_row() + i;
    int value = 0;
    if (phase_y == 0) {
      value = across[v + 2][u];
    } else {
#pragma unroll
      for (int k = 0; k < kTaps; ++k)
        value += denoise::times(across[v + k][u], taps_y[k]);
      value = denoise::clamp(value, 0, denoise::kSampleMost);
    }
    span[i] = value;
  }
  __syncwarp();
  return match_of(now, span, limit);
}

/// Search at half resolution around the best step so far, over a warp. All steps but 0 have the
/// same cost, so testing one again changes nothing, and 0 needs no second test.
class HalfSearch {
 public:
  __device__ HalfSearch(const DenoisePicture& picture, const int (&now)[kSpan], int x, int y,
                        int unmoved)
      : then_(picture.estimates.half), now_(now), x_(x), y_(y), least_(unmoved) {}

  /// Tests several steps in order. Their loads are in flight at the same time.
  template <int kCount>
  __device__ __forceinline__ void take(const Step (&steps)[kCount]) {
    int sums[kCount];
#pragma unroll
    for (int k = 0; k < kCount; ++k)
      sums[k] = part_of_difference(now_, then_, x_ + steps[k].x, y_ + steps[k].y);
#pragma unroll
    for (int k = 0; k < kCount; ++k)
      decide(steps[k], sums[k]);
  }
  /// Tests a step that differs from 0 and from the best one.
  __device__ __forceinline__ void take(Step step) {
    if ((step.x == best_.x && step.y == best_.y) || (step.x == 0 && step.y == 0)) return;
    decide(step, part_of_difference(now_, then_, x_ + step.x, y_ + step.y));
  }
  [[nodiscard]] __device__ Step best() const {
    return best_;
  }

 private:
  __device__ __forceinline__ void decide(Step step, int part) {
    const int cost =
        static_cast<int>(warp_sum(static_cast<std::uint32_t>(part))) + denoise::kHalfCost;
    if (cost >= least_) return;
    least_ = cost;
    best_ = step;
  }

  const NumberPlane<std::int16_t>& then_;
  const int (&now_)[kSpan];
  int x_;
  int y_;
  Step best_{0, 0};
  int least_;
};

__device__ __forceinline__ Vector block_vector(const DenoisePicture& picture, const Vector* vectors,
                                               int column, int row) {
  return vectors[nearest_place(row, picture.block_rows) * picture.block_columns +
                 nearest_place(column, picture.block_columns)];
}

__device__ __forceinline__ Vector within(const DenoisePicture& picture, Vector vector, int column,
                                         int row) {
  const Samples<const std::uint8_t>& luma = picture.components[0].in;
  return {denoise::within(vector.x, column, luma.columns),
          denoise::within(vector.y, row, luma.rows)};
}

/// State of a warp for a motion block that is not still.
struct OpenBlock {
  int column;
  int row;
  /// Best vector of those that continue the last picture's motion, and its match.
  Vector followed{0, 0};
  Match match{0, 0};
};

/// Loads the lane's part of a block's luma.
__device__ __forceinline__ void load_block(const DenoisePicture& picture, int column, int row,
                                           int (&samples)[kSpan]) {
  load_span(PictureSamples{picture.components[0].in, picture.in_words}, column * kBlock,
            row * kBlock, samples);
}

/// Refines the vector of a block from whole samples to fractions, by gradients; over a warp.
__device__ __forceinline__ Vector refined(const DenoisePicture& picture, const OpenBlock& block,
                                          const int (&samples)[kSpan], int x, int y) {
  const Vector fine = displacement_left(samples, picture.components[0].known.estimate,
                                        block.column * kBlock + x, block.row * kBlock + y);
  return within(picture,
                {static_cast<std::int16_t>(x * kParts + fine.x),
                 static_cast<std::int16_t>(y * kParts + fine.y)},
                block.column, block.row);
}

/// Tries vectors that continue the motion of the block and of those around it, by a warp. Returns
/// true where one explains the block, so that no search is needed.
__device__ bool follow(const DenoisePicture& picture, int certainty, int noise, int limit,
                       OpenBlock& block, std::int16_t (&across)[kTapRows][kBlock]) {
  const int column = block.column;
  const int row = block.row;
  const Vector own = block_vector(picture, picture.vectors, column, row);
  const auto beside = [&](int i) {
    const denoise::Neighbour step = denoise::around(i);
    return block_vector(picture, picture.vectors, column + step.x, row + step.y);
  };
  static_assert(kAround == 4);
  const Vector four[kAround] = {beside(0), beside(1), beside(2), beside(3)};
  const Vector middle = within(picture,
                               {static_cast<std::int16_t>(denoise::median_of(
                                    four[0].x, four[1].x, four[2].x, four[3].x, own.x)),
                                static_cast<std::int16_t>(denoise::median_of(
                                    four[0].y, four[1].y, four[2].y, four[3].y, own.y))},
                               column, row);
  if (middle == Vector{0, 0} && own == Vector{0, 0}) return false;
  int samples[kSpan];
  load_block(picture, column, row, samples);
  if (middle != Vector{0, 0}) {
    block.followed = middle;
    block.match =
        match_along(picture, samples, column * kBlock, row * kBlock, middle, limit, across);
    if (denoise::is_well_explained(block.match.difference, certainty, noise)) return true;
  }
  const Vector next = refined(picture, block, samples, denoise::whole_samples(middle.x),
                              denoise::whole_samples(middle.y));
  if (next != Vector{0, 0} && next != middle) {
    const Match match =
        match_along(picture, samples, column * kBlock, row * kBlock, next, limit, across);
    if (block.followed == Vector{0, 0} || match.difference < block.match.difference) {
      block.followed = next;
      block.match = match;
    }
  }
  return block.followed != Vector{0, 0} &&
         denoise::is_explained(block.match.difference, certainty, noise);
}

/// Searches the vector of a block without a prediction, by a warp.
__device__ Vector found_vector(const DenoisePicture& picture, int unmoved, Step coarse,
                               const OpenBlock& block) {
  const int column = block.column;
  const int row = block.row;
  const int x = column * kBlock / 2 - denoise::kHalfBorder;
  const int y = row * kBlock / 2 - denoise::kHalfBorder;
  int now[kSpan];
  load_span(picture.samples.half, x, y, now);
  HalfSearch search(picture, now, x, y, unmoved);
  const auto last = [&](int i, int j) {
    const Vector vector = block_vector(picture, picture.vectors, i, j);
    return Step{static_cast<int>(denoise::divided(vector.x, 2 * kParts)),
                static_cast<int>(denoise::divided(vector.y, 2 * kParts))};
  };
  // Neighbours move alike: most of these steps are the same, and repeated ones are skipped.
  search.take(Step{coarse.x * 4, coarse.y * 4});
  search.take(last(column, row));
#pragma unroll 1
  for (int i = 0; i < kAround; ++i)
    search.take(last(column + denoise::around(i).x, row + denoise::around(i).y));
#pragma unroll 1
  for (int i = 0; i < denoise::kMostSteps; ++i) {
    const Step from = search.best();
    const auto step = [&](int k) {
      return Step{from.x + denoise::around(k).x, from.y + denoise::around(k).y};
    };
    search.take({step(0), step(1), step(2), step(3)});
    if (search.best().x == from.x && search.best().y == from.y) break;
  }
  const Step best = search.best();
  const Vector rough = displacement_left(now, picture.estimates.half, x + best.x, y + best.y);
  // Loaded again: registers from follow() to here would reduce occupancy.
  int samples[kSpan];
  load_block(picture, column, row, samples);
  return refined(picture, block, samples, denoise::whole_samples((best.x * kParts + rough.x) * 2),
                 denoise::whole_samples((best.y * kParts + rough.y) * 2));
}

/// LevelCurve in shared memory, in 1 / 256: times(rise, part << 7) is (rise part + 128) >> 8.
struct SharedCurve {
  struct Segment {
    std::int32_t knot;  ///< value at the segment's begin, with the term that rounds it
    std::int32_t rise;  ///< rise for 1 / 256 of a segment
  };
  alignas(8) Segment segment[denoise::kSegments];

  /// Loads the curve, a segment each by the first threads of a block.
  __device__ __forceinline__ void load(const denoise::LevelCurve& curve, int thread) {
    if (thread < denoise::kSegments)
      segment[thread] = {curve.knot[thread] * 256 + 128, curve.rise[thread]};
  }
  /// Value at an estimate, as LevelCurve::at() gives it.
  __device__ __forceinline__ int at(int estimate) const {
    const Segment of = segment[estimate >> denoise::kKnotShift];
    const int part = (estimate >> (denoise::kKnotShift - 8)) & 255;
    return (of.knot + of.rise * part) >> 8;
  }
};

/// Search for the vectors of motion blocks of 16 x 16.
///
/// A block of threads has the 4 x 4 motion blocks that share a coarse search, one warp each. Most
/// blocks are still and end after one comparison in halves; others try the last picture's vectors;
/// only where four or more are left do the warps share the 81 places of the coarse search. Its
/// minimum is an atomicMin on shared memory over sum and place in one word, so that the first of
/// equal sums stays, whatever the order of warps. Windows are in registers, 8 samples a lane;
/// shared memory, 11 KiB, holds rows between interpolation across and down. Two blocks of 512
/// threads a multiprocessor leave a thread 64 registers. All arithmetic is in whole numbers.
__global__ void __launch_bounds__(kFindThreads, 2)
    motion_find_kernel(const __grid_constant__ DenoisePicture picture) {
  constexpr int kPlaces = 2 * kCoarseReach + 1;
  constexpr int kPlaceBits = 7;
  static_assert(kPlaces * kPlaces <= 1 << kPlaceBits);
  static_assert(kWindow * kWindow * denoise::kSampleMost + denoise::kCoarseCost * 2 * kCoarseReach <
                1 << (32 - kPlaceBits));
  __shared__ int moving;
  __shared__ std::uint32_t least;
  __shared__ SharedCurve sigma;
  __shared__ std::uint8_t certainty[denoise::kWeights];
  __shared__ alignas(8) std::int16_t rooms[kCoarse * kCoarse][kTapRows][kBlock];
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    moving = 0;
    least = ~0U;
  }
  wait_then_release();
  const int warp = thread / kLanes;
  const int column = static_cast<int>(blockIdx.x) * kCoarse + warp % kCoarse;
  const int row = static_cast<int>(blockIdx.y) * kCoarse + warp / kCoarse;
  const bool exists = column < picture.block_columns && row < picture.block_rows;
  const DenoiseComponent& luma = picture.components[0];
  sigma.load(luma.noise->curves.sigma, thread);
  if (thread < denoise::kWeights) certainty[thread] = picture.tables->weights.certainty[thread];

  // Warps of blocks beyond the picture load the last block and join the coarse search.
  const int block_x = min(column, picture.block_columns - 1) * kBlock;
  const int block_y = min(row, picture.block_rows - 1) * kBlock;
  const int middle_x = min(block_x + kBlock / 2, luma.in.columns - 1);
  const int middle_y = min(block_y + kBlock / 2, luma.in.rows - 1);
  const int weight = luma.known.weight.row(middle_y)[middle_x];
  const int estimate = luma.known.estimate.row(middle_y)[middle_x];
  static_assert(kBlock / 2 % kFour == 0 && denoise::kHalfBorder % kFour == 0);
  const int half_x = block_x / 2 - denoise::kHalfBorder;
  const int half_y = block_y / 2 - denoise::kHalfBorder;
  const WindowPairs now(picture.samples.half, half_x, half_y);
  const WindowPairs then(picture.estimates.half, half_x, half_y);
  const auto unmoved = static_cast<int>(warp_sum(now.difference(then)));
  __syncthreads();
  Vector vector{0, 0};
  bool open = false;
  OpenBlock block{column, row};
  if (exists) {
    const int noise = sigma.at(estimate);
    const int limit = denoise::drift_limit(certainty[weight], noise);
    int drift = denoise::drift_of(now.drifts(then, limit), limit);
    if (!denoise::is_still(unmoved, certainty[weight], noise)) {
      open = !follow(picture, certainty[weight], noise, limit, block, rooms[warp]);
      if (!open) {
        vector = block.followed;
        drift = block.match.drift;
      }
      if (open && lane_of_warp() == 0) atomicAdd(&moving, 1);
    }
    if (lane_of_warp() == 0) {
      const int number = row * picture.block_columns + column;
      picture.gains[number] = gain(picture, column, row, drift);
      picture.followed_gains[number] = gain(picture, column, row, block.match.drift);
      picture.drift_limits[number] = static_cast<std::int16_t>(limit);
    }
  }
  __syncthreads();

  Step coarse{0, 0};
  if (moving >= denoise::kMoving) {
    const int x = static_cast<int>(blockIdx.x) * kCoarse * kBlock / 8 - denoise::kCoarseBorder;
    const int y = static_cast<int>(blockIdx.y) * kCoarse * kBlock / 8 - denoise::kCoarseBorder;
    int eighths[kSpan];
    load_span(picture.samples.eighth, x, y, eighths);
#pragma unroll 2
    for (int place = warp; place < kPlaces * kPlaces; place += kCoarse * kCoarse) {
      const int dx = place % kPlaces - kCoarseReach;
      const int dy = place / kPlaces - kCoarseReach;
      const int part = part_of_difference(eighths, picture.estimates.eighth, x + dx, y + dy);
      const int sum = static_cast<int>(warp_sum(static_cast<std::uint32_t>(part))) +
                      denoise::kCoarseCost * (abs(dx) + abs(dy));
      if (lane_of_warp() == 0)
        atomicMin(&least, static_cast<std::uint32_t>(sum << kPlaceBits | place));
    }
    __syncthreads();
    const auto place = static_cast<int>(least & ((1U << kPlaceBits) - 1));
    coarse = {place % kPlaces - kCoarseReach, place / kPlaces - kCoarseReach};
  }
  if (!exists) return;

  if (open) vector = found_vector(picture, unmoved, coarse, block);
  if (lane_of_warp() == 0) {
    const int number = row * picture.block_columns + column;
    picture.found[number] = vector;
    const bool choose = open && (vector != Vector{0, 0} || block.followed != Vector{0, 0});
    picture.least[number] = choose ? block.match.difference : -1;
    if (choose) picture.followed[number] = block.followed;
  }
}

/// Interpolates one number from kTaps neighbouring ones.
__device__ __forceinline__ int tapped(const int* first, const int (&taps)[kTaps]) {
  int sum = 0;
#pragma unroll
  for (int k = 0; k < kTaps; ++k)
    sum += denoise::times(first[k], taps[k]);
  return denoise::clamp(sum, 0, denoise::kSampleMost);
}

/// Interpolates rows of kColumns estimates across, by a warp, or copies them. `from` is the place
/// of the first one; `rows` counts rows. kInside: all samples read lie in the plane.
template <bool kInside, int kColumns>
__device__ __forceinline__ void move_rows(const NumberPlane<std::int16_t>& plane, Step from,
                                          int rows, bool moved, const int (&taps)[kTaps],
                                          std::int16_t (&across)[kTapRows][kBlock]) {
  constexpr int kFours = kColumns / kFour;
#pragma unroll 1
  for (int n = lane_of_warp(); n < rows * kFours; n += kLanes) {
    const int r = n / kFours;
    const int column = n % kFours * kFour;
    const int v = kInside ? from.y + r : nearest_place(from.y + r, plane.rows);
    const std::int16_t* const row = plane.row(v);
    const int x = from.x + column;
    const auto at = [&](int u) {
      return static_cast<int>(row[kInside ? u : nearest_place(u, plane.columns)]);
    };
    int four[kFour];
    if (moved) {
      int samples[kFour + kTaps - 1];
#pragma unroll
      for (int i = 0; i < kFour + kTaps - 1; ++i)
        samples[i] = at(x + i - 2);
#pragma unroll
      for (int i = 0; i < kFour; ++i)
        four[i] = tapped(samples + i, taps);
    } else {
#pragma unroll
      for (int i = 0; i < kFour; ++i)
        four[i] = at(x + i);
    }
    *reinterpret_cast<uint2*>(&across[r][column]) =
        uint2{pair_of(four[0], four[1]), pair_of(four[2], four[3])};
  }
}

/// Moves the known estimates and weights of a component's part of a block along its vector, by a
/// warp. Rows of planes are padded to whole blocks, so that stores need no test of the column.
template <int kColumns>
__device__ __forceinline__ void move_known(const DenoisePicture& picture,
                                           const DenoiseComponent& component, int column, int row,
                                           Vector vector,
                                           std::int16_t (&across)[kTapRows][kBlock]) {
  constexpr int kRowsOfLane = kColumns * kColumns / kLanes;
  const NumberPlane<std::int16_t>& then = component.known.estimate;
  const NumberPlane<std::uint8_t>& weights = component.known.weight;
  const int parts_x = denoise::phases_of(vector.x, component.shift_x);
  const int parts_y = denoise::phases_of(vector.y, component.shift_y);
  const int phase_x = denoise::phase_of(parts_x);
  const int phase_y = denoise::phase_of(parts_y);
  int taps_x[kTaps];
  int taps_y[kTaps];
#pragma unroll
  for (int k = 0; k < kTaps; ++k) {
    taps_x[k] = picture.tables->taps[phase_x][k];
    taps_y[k] = picture.tables->taps[phase_y][k];
  }
  const bool between = phase_x != 0 || phase_y != 0;
  const int x = column * kColumns;
  const int rows_of_block = kBlock >> component.shift_y;
  const int u = lane_of_warp() % kColumns;
  const int first = lane_of_warp() / kColumns * kRowsOfLane;
  const int weight_x = x + u + denoise::nearest_sample(parts_x);
  const bool weight_exists = weight_x >= 0 && weight_x < weights.columns;
  // Halved columns with all rows take two turns: the scratch memory is for as many rows as columns.
#pragma unroll 1
  for (int part = 0; part < rows_of_block; part += kColumns) {
    const int y = row * rows_of_block + part;
    int weight[kRowsOfLane];
#pragma unroll
    for (int i = 0; i < kRowsOfLane; ++i) {
      const int v = y + first + i + denoise::nearest_sample(parts_y);
      weight[i] = weight_exists && v >= 0 && v < weights.rows ? weights.row(v)[weight_x] : 0;
    }
    const int above = phase_y == 0 ? 0 : 2;
    const Step from{x + denoise::sample_before(parts_x),
                    y + denoise::sample_before(parts_y) - above};
    const int rows = kColumns + (phase_y == 0 ? 0 : kTaps - 1);
    if (from.x >= 2 && from.x + kColumns + kTaps - 3 <= then.columns && from.y >= 0 &&
        from.y + rows <= then.rows) {
      move_rows<true, kColumns>(then, from, rows, phase_x != 0, taps_x, across);
    } else {
      move_rows<false, kColumns>(then, from, rows, phase_x != 0, taps_x, across);
    }
    __syncwarp();
    int down[kRowsOfLane];
    if (phase_y == 0) {
#pragma unroll
      for (int i = 0; i < kRowsOfLane; ++i)
        down[i] = across[first + i][u];
    } else {
      int samples[kRowsOfLane + kTaps - 1];
#pragma unroll
      for (int i = 0; i < kRowsOfLane + kTaps - 1; ++i)
        samples[i] = across[first + i][u];
#pragma unroll
      for (int i = 0; i < kRowsOfLane; ++i)
        down[i] = tapped(samples + i, taps_y);
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kRowsOfLane; ++i) {
      const int v = y + first + i;
      if (v >= then.rows) break;
      component.moved.estimate.row(v)[x + u] = static_cast<std::int16_t>(down[i]);
      component.moved.weight.row(v)[x + u] =
          static_cast<std::uint8_t>(between ? denoise::weight_between(weight[i]) : weight[i]);
    }
  }
}

__device__ __forceinline__ Vector vector_of_lane(Vector mine, int lane) {
  const int both = (static_cast<std::uint16_t>(mine.x)) | mine.y << 16;
  const int other = __shfl_sync(0xFFFFFFFFU, both, lane);
  return {static_cast<std::int16_t>(other), static_cast<std::int16_t>(other >> 16)};
}

/// Best of three vectors of a block, over a warp: the one found, the one of follow(), and none.
/// Sets the block's gain to that of the best.
__device__ __forceinline__ Vector chosen_vector(const DenoisePicture& picture, int block,
                                                std::int16_t (&across)[kTapRows][kBlock]) {
  const int column = block % picture.block_columns;
  const int row = block / picture.block_columns;
  const int x = column * kBlock;
  const int y = row * kBlock;
  int now[kSpan];
  load_block(picture, column, row, now);
  const int limit = picture.drift_limits[block];
  const int unmoved = match_along(picture, now, x, y, {0, 0}, limit, across).difference;
  int least = denoise::least_without_vector(unmoved);
  Vector best{0, 0};
  std::int16_t best_gain = picture.gains[block];
  const Vector followed = picture.followed[block];
  if (followed != Vector{0, 0} && picture.least[block] < least) {
    best = followed;
    least = picture.least[block];
    best_gain = picture.followed_gains[block];
  }
  const Vector found = picture.found[block];
  if (found != Vector{0, 0} && found != followed) {
    const Match match = match_along(picture, now, x, y, found, limit, across);
    if (denoise::least_of_found(match.difference) < least) {
      best = found;
      best_gain = gain(picture, column, row, match.drift);
    }
  }
  __syncwarp();
  if (lane_of_warp() == 0) picture.gains[block] = best_gain;
  return best;
}

/// Motion compensation of the known estimates and weights.
///
/// A block of threads has 16 motion blocks; its 8 warps take those in turn that have a vector, or
/// candidates to choose from, found by a ballot: still blocks cost 8 bytes read and 4 written.
/// Writes the vectors of this picture: the search, which reads the last picture's around each
/// block, has ended. A warp interpolates across into its own shared memory, 672 bytes, and down
/// into registers; weights move by the nearest sample. Writes 3 bytes for each sample of moved
/// blocks.
__global__ void __launch_bounds__(kMoveWarps* kLanes, 4)
    motion_move_kernel(const __grid_constant__ DenoisePicture picture) {
  __shared__ alignas(8) std::int16_t rooms[kMoveWarps][kTapRows][kBlock];
  wait_then_release();
  const auto warp = static_cast<int>(threadIdx.x) / kLanes;
  const int first = static_cast<int>(blockIdx.x) * kMoveBlocks;
  const int mine = first + lane_of_warp();
  Vector vector{0, 0};
  bool choose = false;
  if (lane_of_warp() < kMoveBlocks && mine < picture.block_columns * picture.block_rows) {
    vector = picture.found[mine];
    choose = picture.least[mine] >= 0;
    if (warp == 0 && !choose) picture.vectors[mine] = vector;
  }
  const std::uint32_t chosen = __ballot_sync(0xFFFFFFFFU, choose);
  int number = 0;
  for (std::uint32_t moving = chosen | __ballot_sync(0xFFFFFFFFU, vector != Vector{0, 0});
       moving != 0; moving &= moving - 1, ++number) {
    if (number % kMoveWarps != warp) continue;
    const int lane = __ffs(static_cast<int>(moving)) - 1;
    const int block = first + lane;
    Vector best = vector_of_lane(vector, lane);
    if ((chosen >> lane & 1) != 0) {
      best = chosen_vector(picture, block, rooms[warp]);
      if (lane_of_warp() == 0) picture.vectors[block] = best;
      if (best == Vector{0, 0}) continue;
    }
#pragma unroll 1
    for (int c = 0; c < picture.count; ++c) {
      const DenoiseComponent& component = picture.components[c];
      const int column = block % picture.block_columns;
      const int row = block / picture.block_columns;
      if (component.shift_x == 0) {
        move_known<kBlock>(picture, component, column, row, best, rooms[warp]);
      } else {
        move_known<kBlock / 2>(picture, component, column, row, best, rooms[warp]);
      }
    }
  }
}

}  // namespace

void motion_pyramids(const DenoisePicture& picture, const LaunchDevice& device,
                     cudaStream_t stream) {
  const Samples<const std::uint8_t>& luma = picture.components[0].in;
  const dim3 grid(parts(luma.columns, kPyramidTile), 1 + parts(luma.rows, kPyramidTile), 2);
  launch_early(device, "launching the halves of frame and estimate", motion_pyramid_kernel, grid,
               dim3(kPyramidThreads), stream, picture);
}

void motion_find(const DenoisePicture& picture, const LaunchDevice& device, cudaStream_t stream) {
  const dim3 grid(parts(picture.block_columns, kCoarse), parts(picture.block_rows, kCoarse));
  launch_early(device, "launching the search for motion", motion_find_kernel, grid,
               dim3(kFindThreads), stream, picture);
}

void motion_move(const DenoisePicture& picture, const LaunchDevice& device, cudaStream_t stream) {
  const dim3 grid(parts(picture.block_columns * picture.block_rows, kMoveBlocks));
  launch_early(device, "launching the move of what is known", motion_move_kernel, grid,
               dim3(kMoveWarps * kLanes), stream, picture);
}

}  // namespace equalux::cuda
