#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "cuda/hessian/hessian_levels.cuh"
#include "src/hessian/hessian_math.h"

/// The two passes over a tile, along y and along x. Sums have the operations of even_sum() and
/// odd_sum() in their order, so that results have the same bits. A thread computes several sums in
/// registers, so that samples and weights are read once for all of them.
namespace equalux::cuda {

inline constexpr int kTileThreads = 256;
inline constexpr int kTileBlocks = 4;  // per multiprocessor, by the register limit

/// A TileShape whose numbers, except the rows, are compile-time constants, so that positions in
/// shared memory become offsets in instructions. The width is such that a pass along y over half a
/// band, borders included, has exactly one column per thread.
template <int kReach, int kResultPlanes>
struct KnownShape {
  static constexpr int band = 2 * kTileStep;
  static constexpr int reach = kReach;
  static constexpr int left = (kReach + 3) / 4 * 4;
  static constexpr int width = kTileThreads * kTileStep / band - 2 * left;
  static constexpr bool levels = true;
  int rows;

  static constexpr int columns() { return width + 2 * left; }
  static TileShape like(int rows) { return {width, rows, band, reach, left, true, kResultPlanes}; }
  /// Returns the tile for a frame, of one band or two; nothing where `most` bytes of shared memory
  /// do not hold it.
  static std::optional<TileShape> fitting(std::size_t most, int frame_width, int frame_height,
                                          const LaunchDevice& device) {
    const auto at_once = static_cast<unsigned>(kTileBlocks * device.multiprocessors);
    const auto blocks = [&](int rows) {
      const dim3 grid = like(rows).grid(frame_width, frame_height);
      return grid.x * grid.y;
    };
    // Tiles of two bands have a smaller share of border rows; tiles of one band leave fewer
    // multiprocessors idle at the end of a frame. Measured: the fixed work of a tile takes as long
    // as four of its rows, and about one wave of tiles is lost at the end.
    const auto cost = [&](int rows) {
      constexpr unsigned kAround = 4;
      return (blocks(rows) + at_once) * (static_cast<unsigned>(rows) + kAround);
    };
    const bool low = kResultPlanes == 0 ? cost(band) < cost(2 * band) : blocks(2 * band) < at_once;
    const TileShape shape = like(low ? band : 2 * band);
    return shape.shared_bytes() <= most ? std::optional(shape) : std::nullopt;
  }
};

/// Positions of a tile's parts in shared memory.
struct TileMemory {
  float* levels;   // rows + 2 reach rows
  float* smooth;   // band rows
  float* slope;    // band rows
  float* curve;    // band rows
  float* results;  // result_planes planes of band * width

  template <typename Shape>
  __device__ TileMemory(const Shape& shape, float* memory) {
    const int plane = shape.band * shape.columns();
    levels = memory;
    smooth = memory + (shape.levels ? (shape.rows + 2 * shape.reach) * shape.columns() : 0);
    slope = smooth + plane;
    curve = slope + plane;
    results = curve + plane;
  }
};

/// Calls body(row, column) for each position in `rows` rows of `columns` columns, spread over the
/// block's threads. Where positions do not divide evenly, the warps from `first_warp` on have one
/// more.
template <typename Body>
__device__ __forceinline__ void for_places(int columns, int rows, int first_warp,
                                           const Body& body) {
  const int thread =
      static_cast<int>(threadIdx.x - 32U * static_cast<unsigned>(first_warp)) & (kTileThreads - 1);
  const int rows_on = kTileThreads / columns;
  const int columns_on = kTileThreads % columns;
  int row = thread / columns;
  int column = thread % columns;
#pragma unroll 1
  while (row < rows) {
    body(row, column);
    row += rows_on;
    column += columns_on;
    if (column >= columns) {
      column -= columns;
      ++row;
    }
  }
}

/// Does the work of for_places() in two steps: a thread fetches for kAtOnce positions, then puts
/// the results, so that the loads overlap. Beyond the last row fetch() is called for positions in
/// the last row again.
template <int kAtOnce, typename Fetch, typename Put>
__device__ __forceinline__ void fetch_places(int columns, int rows, const Fetch& fetch,
                                             const Put& put) {
  const int thread = static_cast<int>(threadIdx.x);
  const int rows_on = kTileThreads / columns;
  const int columns_on = kTileThreads % columns;
  int row = thread / columns;
  int column = thread % columns;
#pragma unroll 1
  while (row < rows) {
    decltype(fetch(0, 0)) came[kAtOnce];
    int row_of[kAtOnce];
    int column_of[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      row_of[i] = row;
      column_of[i] = column;
      came[i] = fetch(min(row, rows - 1), column);
      row += rows_on;
      column += columns_on;
      if (column >= columns) {
        column -= columns;
        ++row;
      }
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      if (row_of[i] < rows) put(row_of[i], column_of[i], came[i]);
  }
}

/// The words that hold four pixels.
template <int kWords>
struct PixelWords {
  std::uint32_t word[kWords];
};

template <int kWords>
__device__ __forceinline__ PixelWords<kWords> pixel_words(const std::uint8_t* pixels) {
  PixelWords<kWords> words;
#pragma unroll
  for (int i = 0; i < kWords; ++i)
    words.word[i] = __ldg(reinterpret_cast<const std::uint32_t*>(pixels) + i);
  return words;
}

template <typename Shape>
inline constexpr bool kIsKnown = false;
template <int kReach, int kResultPlanes>
inline constexpr bool kIsKnown<KnownShape<kReach, kResultPlanes>> = true;

/// Fills kRows rows of levels from pixel (left, top) on; all their columns must be inside the
/// frame. A thread has the same four columns in every kRowsAtOnce-th row and issues all its loads
/// at once.
template <int kWords, int kRows, typename Shape, typename LevelsOf>
__device__ __forceinline__ void fill_known(const LevelSource& in, const Shape& shape, float* levels,
                                           int left, int top, const LevelsOf& levels_of) {
  constexpr int kGroups = Shape::columns() / 4;
  constexpr int kRowsAtOnce = kTileThreads / kGroups;
  static_assert(kTileThreads % kGroups == 0);
  const int group = static_cast<int>(threadIdx.x) % kGroups;
  const int first = static_cast<int>(threadIdx.x) / kGroups;
  const std::uint8_t* const column = in.at(left + 4 * group, 0);
  const int stride = static_cast<int>(in.stride);
  float* const to = levels + first * shape.columns() + 4 * group;
  PixelWords<kWords> came[(kRows + kRowsAtOnce - 1) / kRowsAtOnce];
#pragma unroll
  for (int i = 0; i * kRowsAtOnce < kRows; ++i) {
    const int y = min(max(top + first + i * kRowsAtOnce, 0), in.rows - 1);
    came[i] = pixel_words<kWords>(column + std::int64_t{y} * stride);
  }
#pragma unroll
  for (int i = 0; i * kRowsAtOnce < kRows; ++i) {
    if (kRows % kRowsAtOnce == 0 || first + i * kRowsAtOnce < kRows)
      *reinterpret_cast<float4*>(to + i * kRowsAtOnce * Shape::columns()) = levels_of(came[i].word);
  }
}

/// Fills the block's tile of levels, whose first pixel is (x, y).
template <typename Shape>
__device__ __forceinline__ void load_levels(const LevelSource& in, const Shape& shape,
                                            float* levels, int x, int y) {
  const int columns = shape.columns();
  const int left = x - shape.left;
  const int top = y - shape.reach;
  const int rows = shape.rows + 2 * shape.reach;
  const auto at = [=](int row, int group) {
    return reinterpret_cast<float4*>(levels + row * columns + 4 * group);
  };
  if (!in.words || left < 0 || left + columns > in.columns) {
    for_places(columns / 4, rows, 0, [&](int row, int group) {
      *at(row, group) = four_levels(in, left + 4 * group, top + row);
    });
    return;
  }
  // Chooses the conversion once for the tile and not for each pixel.
  const auto fill = [&](auto kWords, const auto& levels_of) {
    if constexpr (kIsKnown<Shape>) {
      constexpr int kAround = 2 * Shape::reach;
      if (shape.rows == Shape::band) {
        fill_known<kWords, Shape::band + kAround>(in, shape, levels, left, top, levels_of);
      } else {
        fill_known<kWords, 2 * Shape::band + kAround>(in, shape, levels, left, top, levels_of);
      }
    } else {
      fetch_places<4>(
          columns / 4, rows,
          [&](int row, int group) {
            return pixel_words<kWords>(
                in.at(left + 4 * group, min(max(top + row, 0), in.rows - 1)));
          },
          [&](int row, int group, const auto& words) { *at(row, group) = levels_of(words.word); });
    }
  };
  const auto any = [&](std::uint32_t bytes) { return level_of(in, bytes); };
  const auto sum = [&](std::uint32_t bytes) { return sum_level(in, bytes); };
  constexpr std::integral_constant<int, 1> kOne{};
  constexpr std::integral_constant<int, 3> kThree{};
  constexpr std::integral_constant<int, 4> kFour{};
  if (in.real) {
    fill(kFour, [](const std::uint32_t(&words)[4]) { return levels_of_floats(words); });
  } else if (in.step == 1) {
    fill(kOne, [](const std::uint32_t(&words)[1]) { return levels_of_bytes(words[0]); });
  } else if (in.step == 3 && !in.largest) {
    fill(kThree, [&](const std::uint32_t(&words)[3]) { return levels_of_words(words, sum); });
  } else if (in.step == 3) {
    fill(kThree, [&](const std::uint32_t(&words)[3]) { return levels_of_words(words, any); });
  } else {
    fill(kFour, [&](const std::uint32_t(&words)[4]) { return levels_of_words(words, any); });
  }
}

/// Sums of kTileStep pixels of one column.
struct ColumnSums {
  float smooth[kTileStep];
  float slope[kTileStep];
  float curve[kTileStep];
};

/// Sums that a pass along y computes.
enum class Derivatives : std::uint8_t { all, none };

/// Computes the sums along y of kTileStep pixels of one column; level(j) is the sample j rows below
/// the first. Without derivatives it computes only `smooth`.
template <int kRadius, Derivatives kDerivatives, typename Level>
__device__ __forceinline__ void sum_column(const ScaleWeights& w, int radius, const Level& level,
                                           ColumnSums& sums) {
  constexpr bool kAll = kDerivatives == Derivatives::all;
  // A sample that one pixel reads in a step is read by its neighbour in the next step, so it stays
  // in registers. The buffers rotate: in step s, pixel v finds the sample above at up[v - s] and
  // the one below at down[v + s], modulo their size.
  float up[kTileStep];
  float down[kTileStep];
#pragma unroll
  for (int v = 0; v < kTileStep; ++v) {
    const float x = level(v);
    sums.smooth[v] = w.smooth[0] * x;
    if constexpr (kAll) sums.curve[v] = w.curve[0] * x;
    up[(v + 1) % kTileStep] = x;
    down[(v + kTileStep - 1) % kTileStep] = x;
  }
  up[0] = level(-1);
  down[kTileStep - 1] = level(kTileStep);
#pragma unroll
  for (int v = 0; v < kTileStep; ++v) {
    const float sum = up[v] + down[v];
    sums.smooth[v] = fused_add(w.smooth[1], sum, sums.smooth[v]);
    if constexpr (!kAll) continue;
    sums.curve[v] = fused_add(w.curve[1], sum, sums.curve[v]);
    sums.slope[v] = w.slope[1] * (down[v] - up[v]);
  }
  const int last = kRadius > 0 ? kRadius : radius;
#pragma unroll(kRadius > 0 ? (kRadius + kTileStep - 2) / kTileStep : 1)
  for (int first = 2; first <= last; first += kTileStep) {
#pragma unroll
    for (int i = 0; i < kTileStep; ++i) {
      const int k = first + i;
      if (k > last) break;
      const int s = (i + 1) % kTileStep;
      up[(kTileStep - s) % kTileStep] = level(-k);
      down[(kTileStep - 1 + s) % kTileStep] = level(kTileStep - 1 + k);
      const float w0 = w.smooth[k];
      const float w1 = w.slope[k];
      const float w2 = w.curve[k];
#pragma unroll
      for (int v = 0; v < kTileStep; ++v) {
        const float above = up[(v + kTileStep - s) % kTileStep];
        const float below = down[(v + s) % kTileStep];
        const float sum = above + below;
        sums.smooth[v] = fused_add(w0, sum, sums.smooth[v]);
        if constexpr (!kAll) continue;
        sums.curve[v] = fused_add(w2, sum, sums.curve[v]);
        sums.slope[v] = fused_add(w1, below - above, sums.slope[v]);
      }
    }
  }
}

/// Computes the block's sums along y for the rows from `band` on of the tile whose first pixel is
/// (x, y), for the columns that a pass along x of that radius reads.
template <int kRadius, bool kLevels, Derivatives kDerivatives = Derivatives::all, typename Shape>
__device__ __forceinline__ void differentiate_down(const LevelSource& in, const Shape& shape,
                                                   const ScaleWeights& w, int radius,
                                                   const TileMemory& memory, int x, int y,
                                                   int band) {
  const int columns = shape.columns();
  const int skipped = shape.left - ((kRadius > 0 ? kRadius : radius) + 3) / 4 * 4;
  // Warps of the same number run on the same part of a multiprocessor, so each block gives the
  // extra work to other warps.
  const auto first_warp = static_cast<int>(blockIdx.x + blockIdx.y + band / shape.band) % 4;
  for_places(columns - 2 * skipped, shape.band / kTileStep, first_warp, [&](int group, int place) {
    const int row = group * kTileStep;
    const int column = skipped + place;
    ColumnSums sums;
    if constexpr (kLevels) {
      const float* first = memory.levels + (band + row + shape.reach) * columns + column;
      sum_column<kRadius, kDerivatives>(
          w, radius, [=](int j) { return first[j * columns]; }, sums);
    } else {
      const int at = x - shape.left + column;
      sum_column<kRadius, kDerivatives>(
          w, radius, [&, at](int j) { return level_at(in, at, y + band + row + j); }, sums);
    }
#pragma unroll
    for (int v = 0; v < kTileStep; ++v) {
      const int at = (row + v) * columns + column;
      memory.smooth[at] = sums.smooth[v];
      if constexpr (kDerivatives == Derivatives::none) continue;
      memory.slope[at] = sums.slope[v];
      memory.curve[at] = sums.curve[v];
    }
  });
}

/// Computes four neighbouring sums along x, of an even kernel (`weights` from index 0 on) or an odd
/// one.
template <int kRadius, bool kOdd>
__device__ __forceinline__ void sum_row(const float* weights, int radius, const float* row,
                                        float (&sums)[4]) {
  // Samples left of pixel 0, and from it on: in step m of a block of four, pixel v takes before[v +
  // 4 - m] and after[v + m].
  float before[8];
  float after[8];
  const auto load = [](float* to, const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
  };
  load(after + 4, row);
#pragma unroll
  for (int v = 0; v < 4; ++v) {
    before[v] = after[v + 4];
    sums[v] = kOdd ? 0.0f : weights[0] * after[v + 4];
  }
  const int last = kRadius > 0 ? kRadius : radius;
#pragma unroll(kRadius > 0 ? (kRadius + 3) / 4 : 2)
  for (int first = 0; first < last; first += 4) {
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      before[v + 4] = before[v];
      after[v] = after[v + 4];
    }
    load(before, row - first - 4);
    load(after + 4, row + first + 4);
#pragma unroll
    for (int m = 1; m <= 4; ++m) {
      if (first + m > last) break;
      const float weight = weights[first + m];
#pragma unroll
      for (int v = 0; v < 4; ++v) {
        const float left = before[v + 4 - m];
        const float right = after[v + m];
        if constexpr (kOdd) {
          sums[v] =
              first + m == 1 ? weight * (right - left) : fused_add(weight, right - left, sums[v]);
        } else {
          sums[v] = fused_add(weight, left + right, sums[v]);
        }
      }
    }
  }
}

/// Computes rounded_root() of four numbers at once. The square root of the CUDA library tests each
/// number for a range in which its fast method is exact (0 is outside), which serialises the four;
/// here one test covers all of them.
__device__ __forceinline__ void four_roots(const float (&x)[4], float (&roots)[4]) {
  constexpr std::uint32_t kLeast = 0x0D000000;  // 2^-101, from which on the fast method is exact
  constexpr std::uint32_t kMost = 0x7F7FFFFF;
  bool all = true;
#pragma unroll
  for (int v = 0; v < 4; ++v) {
    all = all && __float_as_uint(x[v]) - kLeast <= kMost - kLeast;
    float inverse;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x[v]));
    const float near = x[v] * inverse;
    roots[v] = fused_add(fused_add(-near, near, x[v]), 0.5f * inverse, near);
  }
  if (all) return;
#pragma unroll
  for (int v = 0; v < 4; ++v)
    roots[v] = rounded_root(x[v]);
}

/// Computes the sums along x of four pixels, and their eigenvalues; `at` is the index of the first
/// one in the planes.
template <int kRadius>
__device__ __forceinline__ void four_eigenvalues(const ScaleWeights& w, int radius,
                                                 const TileMemory& memory, int at,
                                                 Eigenvalues (&e)[4]) {
  float xx[4];
  float xy[4];
  float yy[4];
  sum_row<kRadius, false>(w.curve, radius, memory.smooth + at, xx);
  sum_row<kRadius, true>(w.slope, radius, memory.slope + at, xy);
  sum_row<kRadius, false>(w.smooth, radius, memory.curve + at, yy);
  float terms[4];
  float roots[4];
#pragma unroll
  for (int v = 0; v < 4; ++v)
    terms[v] = squared_root_term(xx[v], xy[v], yy[v]);
  four_roots(terms, roots);
#pragma unroll
  for (int v = 0; v < 4; ++v)
    e[v] = eigenvalues_by_root(xx[v], yy[v], roots[v]);
}

/// Calls body(row of the band, column, at) for groups of four pixels, spread over the block; `at`
/// is their index in the planes.
template <typename Shape, typename Body>
__device__ __forceinline__ void for_fours(const Shape& shape, const Body& body) {
  for_places(shape.width / 4, shape.band, 0, [&](int row, int group) {
    body(row, 4 * group, row * shape.columns() + shape.left + 4 * group);
  });
}

}  // namespace equalux::cuda
