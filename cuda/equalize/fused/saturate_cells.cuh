#pragma once

#include <cstdint>

#include "cuda/device/yuv_cells.cuh"
#include "cuda/equalize/fused/saturation_table.cuh"
#include "src/format/pixel_math.h"

/// Cells of YCbCr whose saturation changes; a counterpart of scale_lane() of yuv_cells.cuh. Single
/// precision: y' = V' - slope (v - y), slope being k V' / v, or V' / (v - m) where that is less,
/// which takes S to 1, and the gain of chroma. Near a half whole numbers decide.
namespace equalux::cuda {

/// Single precision is off by less than 2^-13 of a code: V' by 2^-17, the product of slope and
/// distance, 255 at most, by 2^-22 of itself, and each of two sums by 2^-17. Nearer to a half than
/// this, whole numbers decide.
inline constexpr float kSureCode = 0.5f - 0x1p-13f;

/// 2^23, and the bits of the float that a code makes of it: 2^23 + code.
inline constexpr std::uint32_t kCodeBase = 0x4B000000U;

/// 2^23 + byte `i` of consecutive words, as a float.
__device__ __forceinline__ float based_byte(const std::uint32_t* words, int i) {
  return __uint_as_float(__byte_perm(words[i / 4], kCodeBase, 0x7650 | (i % 4)));
}
__device__ __forceinline__ float based(std::int32_t code) {
  return __uint_as_float(kCodeBase | static_cast<std::uint32_t>(code));
}

/// 1 / x, off by a last place; of 0 infinity.
__device__ __forceinline__ float fast_inverse(float x) {
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
  return inverse;
}

/// The slope of a pixel of which `below` is v - m, or v where that is less, and 0 or more.
__device__ __forceinline__ float slope_of(const LevelSlope& of, float below) {
  // V' = 0 times infinity is not a number, which no minimum is.
  return fminf(of.slope, __fmul_rn(of.level, fast_inverse(below)));
}

/// A result in single precision.
struct FastCode {
  std::uint32_t code;  ///< in the low half
  float distance;      ///< from the code's middle
};
__device__ __forceinline__ FastCode rounded_code(float x) {
  constexpr float kBase = 12582912.0f;  // 1.5 2^23: the integer part is in the lowest bits
  const float code = __fadd_rn(x, kBase);
  return {__float_as_uint(code), __fadd_rn(x, -__fadd_rn(code, -kBase))};
}

/// A channel c, or luma above black, of a value v > 0, by whole numbers; `x` is what single
/// precision makes of it.
template <typename Table>
__device__ __forceinline__ std::uint32_t exact_code(const Table& table, float x,
                                                    saturation::Factor f, std::int32_t v,
                                                    std::int32_t c) {
  return static_cast<std::uint32_t>(
      saturation::scaled_above(__float2int_rd(x), table.level(v), tone::kCurveBits, f, v, c));
}

/// Colours of a cell: chroma less 128, and where its channels lie against luma.
struct CellColour {
  float u;
  float w;
  float above;  ///< of the largest channel
  float least;  ///< of the least, 0 or less
};

/// As value_above_luma() and least_above_luma(): all products and sums are whole numbers below
/// 2^24, which single precision holds exactly.
__device__ __forceinline__ CellColour colour_of(const YuvWeights& k, float u, float w) {
  constexpr float kHalf = 32768.0f;
  constexpr float kUnit = 0x1p-16f;
  const float red = __fmaf_rn(w, static_cast<float>(k.red_w), kHalf);
  const float green = __fmaf_rn(u, -static_cast<float>(k.green_u),
                                __fmaf_rn(w, -static_cast<float>(k.green_w), kHalf));
  const float blue = __fmaf_rn(u, static_cast<float>(k.blue_u), kHalf);
  const float most = fmaxf(fmaxf(red, green), blue);
  const float least = fminf(fminf(red, green), blue);
  return {u, w, __fadd_rn(__fmaf_rd(most, kUnit, kIntegerBase), -kIntegerBase),
          __fadd_rn(__fmaf_rd(least, kUnit, kIntegerBase), -kIntegerBase)};
}

/// A luma sample. All are exact but for slope and x.
struct LumaOf {
  float v;
  float below;  ///< v - m
  float slope;  ///< the gain of chroma
  float x;      ///< the result above black; of luma below black anything
};

/// `code` lies above 2^23. kOutside: it may be below black, or above M.
template <bool kOutside, typename Table>
__device__ __forceinline__ LumaOf luma_of(const YuvWeights& k, const Table& table, float code,
                                          const CellColour& colour) {
  const float black = based(k.luma_offset);
  const float white = based(k.luma_offset + k.luma_max);
  float v = fminf(__fadd_rn(code, colour.above), white);
  if (kOutside && code < black) v = black;
  const LevelSlope of = table.at(__float_as_uint(v) - __float_as_uint(black));
  LumaOf luma;
  luma.v = __fadd_rn(v, -black);
  const float down = __fadd_rn(v, -code);
  luma.below = __fadd_rn(down, -colour.least);
  luma.slope = slope_of(of, fminf(kOutside ? fmaxf(luma.below, 0.0f) : luma.below, luma.v));
  // Luma over v, which was clamped there, is scaled as it is without saturation.
  const bool over = kOutside && down < 0;
  const float own = over ? __fmul_rn(of.level, fast_inverse(luma.v)) : luma.slope;
  luma.x = __fmaf_rn(-down, own, of.level);
  return luma;
}

/// 128 + u times the mean gain, clamped; `u` is divided by as many as the gains in `sum`.
__device__ __forceinline__ FastCode saturated_chroma(float u, float sum) {
  return rounded_code(fminf(fmaxf(__fmaf_rn(u, sum, 128.0f), 0.0f), 255.0f));
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
  const CellColour colour = colour_of(k, static_cast<float>(static_cast<std::int32_t>(cb) - 128),
                                      static_cast<float>(static_cast<std::int32_t>(cr) - 128));
  ExactCell<Layout> exact{};
  std::int64_t sum = 0;
#pragma unroll 1
  for (int i = 0; i < Layout::kRows * Layout::kColumns; ++i) {
    const int row = i / Layout::kColumns;
    const std::int32_t code = slot[Layout::luma_at(row, x + i % Layout::kColumns)];
    const LumaOf luma = luma_of<true>(k, table, based(code), colour);
    const auto v = static_cast<std::int32_t>(luma.v);
    const saturation::Factor f = table.factor(v, static_cast<std::int32_t>(luma.below));
    auto result = static_cast<std::uint32_t>(code);
    if (v != 0) {
      result = exact_code(table, luma.x, f, v, code - k.luma_offset) +
               static_cast<std::uint32_t>(k.luma_offset);
    }
    exact.luma[Layout::kRows == 2 ? row : 0] |= result << (8 * (i % Layout::kColumns));
    sum += saturation::scaled_share(table.share(v), f);
  }
  const auto gains = static_cast<std::uint64_t>(sum);
  exact.chroma = scale_chroma<Layout::Cells::kShift>(cb, gains) |
                 scale_chroma<Layout::Cells::kShift>(cr, gains) << 16;
  return exact;
}

/// Scales luma and chroma in place. `first_column` is where the cells lie in the slot, from which
/// they were loaded.
template <typename Layout, int kPairs, bool kOutside, typename Table>
__device__ __forceinline__ void saturate_cells(const FusedParams& p, const std::uint8_t* slot,
                                               int first_column, typename Layout::Cells& cells,
                                               const Table& table) {
  using Cells = typename Layout::Cells;
  constexpr int kEach = Cells::kCellsAPair;
  constexpr float kPerSample = 1.0f / (1 << Cells::kShift);
  const YuvWeights& k = p.weights;
  const auto offset = static_cast<float>(k.luma_offset);
  std::uint32_t chroma[Cells::kCells];
  std::uint32_t unsure = 0;  // cells
#pragma unroll
  for (int word = 0; word < kPairs / 2; ++word) {
    std::uint32_t results[Layout::kRows][4];
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      const int first_cell = (2 * word + pair) * kEach;
      CellColour colour[kEach];
      float sum[2];  // by column
      float furthest[2] = {0, 0};
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const int cell = first_cell + i;
        colour[i] =
            colour_of(k, __fadd_rn(based_byte(cells.chroma, Cells::cb_byte(cell)), -based(128)),
                      __fadd_rn(based_byte(cells.chroma, Cells::cr_byte(cell)), -based(128)));
      }
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int row = 0; row < Layout::kRows; ++row) {
          const float code = based_byte(&cells.luma[row][word], 2 * pair + i);
          const LumaOf luma = luma_of<kOutside>(k, table, code, colour[kEach == 2 ? i : 0]);
          const FastCode result = rounded_code(__fadd_rn(luma.x, offset));
          const bool black = kOutside && code < based(k.luma_offset);
          results[row][2 * pair + i] = black ? __float_as_uint(code) : result.code;
          furthest[i] = fmaxf(furthest[i], black ? 0.0f : fabsf(result.distance));
          sum[i] = row == 0 ? luma.slope : __fadd_rn(sum[i], luma.slope);
        }
      }
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const int cell = first_cell + i;
        const float gain = __fmul_rn(kEach == 2 ? sum[i] : __fadd_rn(sum[0], sum[1]), kPerSample);
        const FastCode blue = saturated_chroma(colour[i].u, gain);
        const FastCode red = saturated_chroma(colour[i].w, gain);
        chroma[cell] = __byte_perm(blue.code, red.code, 0x5410);
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

/// Scales for a whole warp: the frame's few samples below black or above white do not slow down the
/// rest.
template <typename Layout, int kPairs, typename Table>
__device__ __forceinline__ void saturate_lane(const FusedParams& p, const std::uint8_t* slot,
                                              int first_column, typename Layout::Cells& cells,
                                              const Table& table) {
  const std::uint32_t black = p.luma_offsets;
  const std::uint32_t white =
      static_cast<std::uint32_t>(p.weights.luma_offset + p.weights.luma_max) * 0x01010101U;
  std::uint32_t outside = 0;
#pragma unroll
  for (int row = 0; row < Layout::kRows; ++row) {
#pragma unroll
    for (int word = 0; word < kPairs / 2; ++word) {
      const std::uint32_t codes = cells.luma[row][word];
      outside |= __vcmpltu4(codes, black) | __vcmpgtu4(codes, white);
    }
  }
  if (__any_sync(0xFFFFFFFFU, outside != 0)) {
    saturate_cells<Layout, kPairs, true>(p, slot, first_column, cells, table);
  } else {
    saturate_cells<Layout, kPairs, false>(p, slot, first_column, cells, table);
  }
}

}  // namespace equalux::cuda
