#pragma once

#include <cstdint>

#include "cuda/device/yuv_cells.cuh"
#include "cuda/equalize/fused/saturate.cuh"
#include "src/format/pixel_math.h"

/// Cells of YCbCr whose saturation changes; a counterpart of scale_lane() of yuv_cells.cuh.
namespace equalux::cuda {

/// Colours of a cell against its luma.
struct CellSpread {
  std::int32_t above;  ///< of the largest channel
  std::int32_t least;  ///< of the least, 0 or less
};

__device__ __forceinline__ CellSpread spread_of(const YuvWeights& k, std::int32_t u,
                                                std::int32_t w) {
  const std::int32_t red = k.red_w * w;
  const std::int32_t green = -k.green_u * u - k.green_w * w;
  const std::int32_t blue = k.blue_u * u;
  return {(max(max(red, green), blue) + 32768) >> 16, (min(min(red, green), blue) + 32768) >> 16};
}

/// A luma sample, y its code above black.
struct LumaOf {
  std::int32_t v;
  std::int32_t below;  ///< v - m
  LevelSlope of;
  float slope;  ///< the gain of chroma
  float x;      ///< the result above black; of luma below black anything
};

template <typename Table>
__device__ __forceinline__ LumaOf luma_of(const YuvWeights& k, const Table& table, std::int32_t y,
                                          const CellSpread& spread) {
  LumaOf luma;
  luma.v = y < 0 ? 0 : min(max(y + spread.above, 0), k.luma_max);
  luma.below = luma.v - (y + spread.least);
  luma.of = table.at(static_cast<std::uint32_t>(luma.v));
  const float v = based(luma.v);
  const float least = based(luma.v - min(max(luma.below, 0), luma.v));
  luma.slope = slope_of(luma.of, __fadd_rn(v, -least));
  // Black has S of 1 already, or none.
  if (luma.v == 0 && luma.below > 0) luma.slope = fminf(luma.slope, 1.0f);
  // Luma over v, which was clamped there, is scaled as it is without saturation.
  const float own =
      y > luma.v ? __fmul_rn(luma.of.level, fast_inverse(__fadd_rn(v, -based(0)))) : luma.slope;
  const float above = __fadd_rn(based(max(y, 0)), -v);
  luma.x = __fmaf_rn(above, own, luma.of.level);
  return luma;
}

/// 128 + u times the mean gain, clamped; `u` is divided by as many as the gains in `sum`.
__device__ __forceinline__ FastCode saturated_chroma(float u, float sum) {
  const float code = fminf(fmaxf(__fmaf_rn(u, sum, 128.0f), 0.0f), 255.0f);
  return rounded_code(code);
}

/// A cell by whole numbers.
template <typename Layout>
struct ExactCell {
  std::uint32_t chroma;               ///< Cb and Cr, the halves of a word
  std::uint32_t luma[Layout::kRows];  ///< bytes of a row, from the lowest
};

/// The cell at column `x` of a slot.
template <typename Layout, typename Table>
__device__ __noinline__ ExactCell<Layout> saturate_cell_exact(const FusedParams& p,
                                                              const std::uint8_t* slot, int x,
                                                              const Table& table) {
  const YuvWeights& k = p.weights;
  const std::uint32_t cb = slot[Layout::cb_at(x)];
  const std::uint32_t cr = slot[Layout::cr_at(x)];
  const CellSpread spread =
      spread_of(k, static_cast<std::int32_t>(cb) - 128, static_cast<std::int32_t>(cr) - 128);
  ExactCell<Layout> exact{};
  std::int64_t sum = 0;
#pragma unroll 1
  for (int i = 0; i < Layout::kRows * Layout::kColumns; ++i) {
    const int row = i / Layout::kColumns;
    const std::int32_t code = slot[Layout::luma_at(row, x + i % Layout::kColumns)];
    const std::int32_t y = code - k.luma_offset;
    const LumaOf luma = luma_of(k, table, y, spread);
    const saturation::Factor f = table.factor(luma.v, luma.below);
    auto result = static_cast<std::uint32_t>(code);
    if (luma.v != 0)
      result = exact_code(table, luma.x, f, luma.v, y) + static_cast<std::uint32_t>(k.luma_offset);
    exact.luma[Layout::kRows == 2 ? row : 0] |= result << (8 * (i % Layout::kColumns));
    sum += saturation::scaled_share(table.share(luma.v), f);
  }
  const auto gains = static_cast<std::uint64_t>(sum);
  exact.chroma = scale_chroma<Layout::Cells::kShift>(cb, gains) |
                 scale_chroma<Layout::Cells::kShift>(cr, gains) << 16;
  return exact;
}

/// Scales luma and chroma in place. `first_column` is where the cells lie in the slot, from which
/// they were loaded.
template <typename Layout, int kPairs, typename Table>
__device__ __forceinline__ void saturate_lane(const FusedParams& p, const std::uint8_t* slot,
                                              int first_column, typename Layout::Cells& cells,
                                              const Table& table) {
  using Cells = typename Layout::Cells;
  constexpr int kEach = Cells::kCellsAPair;
  constexpr float kPerSample = 1.0f / (1 << Cells::kShift);
  const YuvWeights& k = p.weights;
  std::uint32_t chroma[Cells::kCells];
  std::uint32_t unsure = 0;  // cells
#pragma unroll
  for (int word = 0; word < kPairs / 2; ++word) {
    std::uint32_t results[Layout::kRows][4];
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      const int first_cell = (2 * word + pair) * kEach;
      float sum[2];  // by column
      float furthest[2] = {0, 0};
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int cell = first_cell + (kEach == 2 ? i : 0);
        const auto u = static_cast<std::int32_t>(byte_of(cells.chroma, Cells::cb_byte(cell))) - 128;
        const auto w = static_cast<std::int32_t>(byte_of(cells.chroma, Cells::cr_byte(cell))) - 128;
        const CellSpread spread = spread_of(k, u, w);
#pragma unroll
        for (int row = 0; row < Layout::kRows; ++row) {
          const auto code =
              static_cast<std::int32_t>(byte_of(&cells.luma[row][word], 2 * pair + i));
          const LumaOf luma = luma_of(k, table, code - k.luma_offset, spread);
          const FastCode result = rounded_code(luma.x);
          const bool black = code < k.luma_offset;
          results[row][2 * pair + i] =
              black ? static_cast<std::uint32_t>(code)
                    : result.code + static_cast<std::uint32_t>(k.luma_offset);
          furthest[i] = fmaxf(furthest[i], black ? 0.0f : fabsf(result.distance));
          sum[i] = row == 0 ? luma.slope : __fadd_rn(sum[i], luma.slope);
        }
      }
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const int cell = first_cell + i;
        const float gain = __fmul_rn(kEach == 2 ? sum[i] : __fadd_rn(sum[0], sum[1]), kPerSample);
        const float u = __fadd_rn(based_byte(cells.chroma, Cells::cb_byte(cell)), -based(128));
        const float w = __fadd_rn(based_byte(cells.chroma, Cells::cr_byte(cell)), -based(128));
        const FastCode blue = saturated_chroma(u, gain);
        const FastCode red = saturated_chroma(w, gain);
        chroma[cell] = (blue.code & 0xFFU) | (red.code & 0xFFU) << 16;
        const float luma = kEach == 2 ? furthest[i] : fmaxf(furthest[0], furthest[1]);
        if (fmaxf(fmaxf(fabsf(blue.distance), fabsf(red.distance)), luma) > kSureCode)
          unsure |= 1U << cell;
      }
    }
#pragma unroll
    for (int row = 0; row < Layout::kRows; ++row) {
      cells.luma[row][word] =
          pack(results[row][0], results[row][1], results[row][2], results[row][3]);
    }
  }
#pragma unroll 1
  for (; unsure != 0; unsure &= unsure - 1) {
    const int cell = __ffs(static_cast<int>(unsure)) - 1;
    const ExactCell<Layout> exact =
        saturate_cell_exact<Layout>(p, slot, first_column + cell * Layout::kColumns, table);
#pragma unroll
    for (int i = 0; i < Cells::kCells; ++i)
      chroma[i] = i == cell ? exact.chroma : chroma[i];
#pragma unroll
    for (int row = 0; row < Layout::kRows; ++row) {
#pragma unroll
      for (int word = 0; word < kPairs / 2; ++word) {
        constexpr int kBits = 8 * Layout::kColumns;
        constexpr int kCellsAWord = 4 / Layout::kColumns;
        const int shift = cell % kCellsAWord * kBits;
        const std::uint32_t mask = ((1U << kBits) - 1) << shift;
        std::uint32_t& luma = cells.luma[row][word];
        luma = word == cell / kCellsAWord ? (luma & ~mask) | exact.luma[row] << shift : luma;
      }
    }
  }
  cells.set_chroma(chroma);
}

}  // namespace equalux::cuda
