#pragma once

#include <cstdint>

#include "cuda/equalize/fused/yuv_cells.cuh"
#include "src/format/layout.h"

/// Chroma cells of which the frame has only some luma samples: the last cell of a row of odd width,
/// and 4:2:0 cells of the last line of an odd height. They are rare, so the code is short rather
/// than fast.
namespace equalux::cuda {

/// The luma samples that a chunk's cells lack: the column `pixels`, and the second row.
struct MissingLuma {
  bool column;
  bool row;
};

template <typename Layout>
__device__ __forceinline__ MissingLuma missing_luma(const FusedParams& p, Chunk chunk) {
  MissingLuma missing{Layout::kColumns == 2 && chunk.pixels % 2 != 0, false};
  if constexpr (Layout::kRows == 2) {
    const LumaRows rows =
        luma_rows_of(static_cast<int>(chunk.line), static_cast<int>(p.height), p.interlaced);
    missing.row = rows.first == rows.second;
  }
  return missing;
}

/// Removes from the histogram the values of luma samples that do not exist although their chroma
/// does.
template <typename Layout, typename Counter>
__device__ __noinline__ void uncount_missing(const FusedParams& p, const std::uint8_t* slot,
                                             int lane, Chunk chunk, Counter counter) {
  const MissingLuma missing = missing_luma<Layout>(p, chunk);
  const auto uncount = [&](int row, int x) {
    counter.remove(static_cast<std::uint32_t>(value_at<Layout>(p, slot, row, x)));
  };
  if (missing.column && lane == Layout::lane_of(chunk.pixels)) {
    uncount(0, chunk.pixels);
    if (Layout::kRows == 2 && !missing.row) uncount(1, chunk.pixels);
  }
  if (missing.row) {
#pragma unroll 1
    for (int x = 16 * lane; x < min(16 * lane + 16, (chunk.pixels + 1) / 2 * 2); ++x)
      uncount(1, x);
  }
}

/// Replaces missing luma samples by copies of their neighbours, so that the mean gain of a cell is
/// that of the samples that exist. Returns the luma byte beyond the end of an odd row, for
/// keep_extra_luma().
template <typename Layout>
__device__ __noinline__ std::uint8_t mend_missing(const FusedParams& p, std::uint8_t* slot,
                                                  int lane, Chunk chunk) {
  const MissingLuma missing = missing_luma<Layout>(p, chunk);
  if (missing.row) {
#pragma unroll 1
    for (int x = 16 * lane; x < 16 * lane + 16; ++x) {
      slot[Layout::luma_at(1, x)] = slot[Layout::luma_at(0, x)];
    }
  }
  if (!missing.column || lane != Layout::lane_of(chunk.pixels)) return 0;
  const std::uint8_t extra = slot[Layout::luma_at(0, chunk.pixels)];
#pragma unroll 1
  for (int row = 0; row < Layout::kRows; ++row) {
    slot[Layout::luma_at(row, chunk.pixels)] = slot[Layout::luma_at(row, chunk.pixels - 1)];
  }
  return extra;
}

/// Restores the second luma byte of the last cell: packed 4:2:2 rows of odd width hold one, and it
/// must not change.
template <typename Layout>
__device__ __forceinline__ void keep_extra_luma(std::uint8_t* slot, int lane, const Chunk& chunk,
                                                std::uint8_t extra) {
  if (chunk.pixels % 2 != 0 && lane == Layout::lane_of(chunk.pixels)) {
    slot[Layout::luma_at(0, chunk.pixels)] = extra;
  }
}

}  // namespace equalux::cuda
