#pragma once

#include <cstdint>

#include "cuda/hessian/hessian_levels.cuh"
#include "src/hessian/hessian_math.h"

/// The two passes of a tile. Sums are those of even_sum() and odd_sum(), operation by operation;
/// threads hold several of them, so that samples and weights are read once for all.
namespace equalux::cuda {

inline constexpr int kTileThreads = 256;
inline constexpr int kTileBlocks = 4;  // on a multiprocessor, as far as registers go

/// A tile's place in shared memory.
struct TileMemory {
  float* levels;  // rows + 2 reach rows
  float* smooth;  // `rows` rows each
  float* slope;
  float* curve;
  float* results;  // result_planes planes of band · width

  __device__ TileMemory(const TileShape& shape, float* memory) {
    const int plane = shape.band * shape.columns();
    levels = memory;
    smooth = memory + (shape.levels ? (shape.rows + 2 * shape.reach) * shape.columns() : 0);
    slope = smooth + plane;
    curve = slope + plane;
    results = curve + plane;
  }
};

/// Calls body(row, column) for the block's threads over `rows` rows of `columns` columns.
template <typename Body>
__device__ __forceinline__ void for_places(int columns, int rows, const Body& body) {
  const int thread = static_cast<int>(threadIdx.x);
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

/// The block fills the tile of levels whose first pixel is (x, y).
__device__ __forceinline__ void load_levels(const LevelSource& in, const TileShape& shape,
                                            float* levels, int x, int y) {
  const int columns = shape.columns();
  const int left = x - shape.left;
  const int top = y - shape.reach;
  const int rows = shape.rows + 2 * shape.reach;
  const auto at = [=](int row, int group) {
    return reinterpret_cast<float4*>(levels + row * columns + 4 * group);
  };
  if (in.words && left >= 0 && left + columns <= in.columns) {
    for_places(columns / 4, rows, [&](int row, int group) {
      *at(row, group) =
          four_inner_levels(in, left + 4 * group, min(max(top + row, 0), in.rows - 1));
    });
  } else {
    for_places(columns / 4, rows, [&](int row, int group) {
      *at(row, group) = four_levels(in, left + 4 * group, top + row);
    });
  }
}

/// kTileStep sums below each other.
struct ColumnSums {
  float smooth[kTileStep];
  float slope[kTileStep];
  float curve[kTileStep];
};

/// The passes along y of kTileStep pixels below each other; level(j) is the sample j rows below
/// the first.
template <int kRadius, typename Level>
__device__ __forceinline__ void sum_column(const ScaleWeights& w, int radius, const Level& level,
                                           ColumnSums& sums) {
  // What a pixel reads in a step, its neighbour reads in the next. The buffers turn: step s has
  // the sample above pixel v at up[v - s] and the one below at down[v + s], modulo their size.
  float up[kTileStep];
  float down[kTileStep];
#pragma unroll
  for (int v = 0; v < kTileStep; ++v) {
    const float x = level(v);
    sums.smooth[v] = w.smooth[0] * x;
    sums.curve[v] = w.curve[0] * x;
    up[(v + 1) % kTileStep] = x;
    down[(v + kTileStep - 1) % kTileStep] = x;
  }
  up[0] = level(-1);
  down[kTileStep - 1] = level(kTileStep);
#pragma unroll
  for (int v = 0; v < kTileStep; ++v) {
    const float sum = up[v] + down[v];
    sums.smooth[v] = fused_add(w.smooth[1], sum, sums.smooth[v]);
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
        sums.curve[v] = fused_add(w2, sum, sums.curve[v]);
        sums.slope[v] = fused_add(w1, below - above, sums.slope[v]);
      }
    }
  }
}

/// The block's pass along y of the rows from `band` on of the tile whose first pixel is (x, y).
template <int kRadius, bool kLevels>
__device__ __forceinline__ void differentiate_down(const LevelSource& in, const TileShape& shape,
                                                   const ScaleWeights& w, int radius,
                                                   const TileMemory& memory, int x, int y,
                                                   int band) {
  const int columns = shape.columns();
  for_places(columns, shape.band / kTileStep, [&](int group, int column) {
    const int row = group * kTileStep;
    ColumnSums sums;
    if constexpr (kLevels) {
      const float* first = memory.levels + (band + row + shape.reach) * columns + column;
      sum_column<kRadius>(
          w, radius, [=](int j) { return first[j * columns]; }, sums);
    } else {
      const int at = x - shape.left + column;
      sum_column<kRadius>(
          w, radius, [&, at](int j) { return level_at(in, at, y + band + row + j); }, sums);
    }
#pragma unroll
    for (int v = 0; v < kTileStep; ++v) {
      const int at = (row + v) * columns + column;
      memory.smooth[at] = sums.smooth[v];
      memory.slope[at] = sums.slope[v];
      memory.curve[at] = sums.curve[v];
    }
  });
}

/// Four sums beside each other, of an even kernel (`weights` from 0 on) or an odd one.
template <int kRadius, bool kOdd>
__device__ __forceinline__ void sum_row(const float* weights, int radius, const float* row,
                                        float (&sums)[4]) {
  // Samples before pixel 0, and from it on: in step m of a block of four, pixel v takes
  // before[v + 4 - m] and after[v + m].
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

/// The passes along x of four pixels, and their eigenvalues; `at` is the first one's index in the
/// planes.
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
#pragma unroll
  for (int v = 0; v < 4; ++v)
    e[v] = hessian_eigenvalues(xx[v], xy[v], yy[v]);
}

/// Calls body(row of the band, column, at) for groups of four pixels, `at` their index in the
/// planes, by the block.
template <typename Body>
__device__ __forceinline__ void for_fours(const TileShape& shape, const Body& body) {
  for_places(shape.width / 4, shape.band, [&](int row, int group) {
    body(row, 4 * group, row * shape.columns() + shape.left + 4 * group);
  });
}

}  // namespace equalux::cuda
