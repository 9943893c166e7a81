#pragma once

#include <cstdint>

#include "cuda/device/for_constants.cuh"
#include "cuda/equalize/fused/cell_reach.cuh"
#include "cuda/equalize/fused/exact_cells.cuh"
#include "cuda/equalize/fused/saturation_table.cuh"
#include "cuda/equalize/fused/yuv_cells.cuh"
#include "src/format/pixel_math.h"

/// Change of saturation of YCbCr cells; counterpart of scale_lane() of yuv_cells.cuh. In single
/// precision, y' = V' - slope (v - y) with a slope of k V' / v, or V' / (v - m) where that is less,
/// which takes S to 1; the slope is also the gain of chroma. Cells with a result near a half are
/// left open until the end of the block's chunks.
///
/// Where all channels of a lane's samples lie from black to white, v - y and v - m are those of the
/// chroma sample, and a luma sample costs a lookup, two products and a minimum.
namespace equalux::cuda {

/// Base of chroma's results, which come as differences to 128: the sum stands on kCodeBase.
inline constexpr float kChromaBase = kCodeBase + 128.0f;

/// Bits of 2^23 as a float: with a code in the lowest bits they are 2^23 + code.
inline constexpr std::uint32_t kCodeBits = 0x4B000000U;

/// Returns 2^23 + byte `i` of consecutive words as a float.
__device__ __forceinline__ float based_byte(const std::uint32_t* words, int i) {
  return __uint_as_float(__byte_perm(words[i / 4], kCodeBits, 0x7650 | (i % 4)));
}
__device__ __forceinline__ float based(std::int32_t code) {
  return __uint_as_float(kCodeBits | static_cast<std::uint32_t>(code));
}

/// Approximates 1 / x to one last place; infinity for 0.
__device__ __forceinline__ float fast_inverse(float x) {
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
  return inverse;
}

/// Bits below the code of a result on its base, moved to the highest bits.
__device__ __forceinline__ std::uint32_t fraction_of(float result) {
  return __float_as_uint(result) << (32 - kCodeShift);
}
/// Returns false where a result may have the wrong code. `fraction` is the least of several.
__device__ __forceinline__ bool is_sure(std::uint32_t fraction) {
  return fraction >= kLeastSure << (32 - kCodeShift);
}

/// Codes of two results, in the halves from bit 7 on. Bits above them hold anything.
__device__ __forceinline__ std::uint32_t codes_of_pair(float a, float b) {
  static_assert(kCodeShift == 8 + 7);
  return __byte_perm(__float_as_uint(a), __float_as_uint(b), 0x6521);
}
/// Packs the codes of four results into a word.
__device__ __forceinline__ std::uint32_t codes_of_four(const float (&results)[4]) {
  return __byte_perm(codes_of_pair(results[0], results[1]) << 1,
                     codes_of_pair(results[2], results[3]) << 1, 0x7531);
}

/// Range of the channels of samples.
enum class Channels {
  inside,    ///< from black to white
  dark,      ///< some below black, luma not
  anywhere,  ///< some above white, or luma below black
};

/// Finds the range of a warp's samples. It tests a lane's luma and chroma apart, so that the range
/// may be narrower than it says.
template <typename Layout, int kPairs>
__device__ __forceinline__ Channels
channels_of_warp(const FusedParams& p, const typename Layout::Cells& cells,
                 const CellReach (&reaches)[Layout::Cells::kCells]) {
  // Codes are compared as the upper bytes of halves, whose lower bytes do not matter.
  std::uint32_t low = 0xFFFFFFFFU;
  std::uint32_t high = 0;
#pragma unroll
  for (int row = 0; row < Layout::kRows; ++row) {
#pragma unroll
    for (int word = 0; word < kPairs / 2; ++word) {
      const std::uint32_t codes = cells.luma[row][word];
      low = __vimin3_u16x2(low, codes, codes << 8);
      high = __vimax3_u16x2(high, codes, codes << 8);
    }
  }
  auto most = static_cast<int>(reaches[0].most);
  auto least = static_cast<int>(reaches[0].least);
#pragma unroll
  for (int i = 0; i < Layout::Cells::kCells; i += 2) {
    most = __vimax3_s32(most, static_cast<int>(reaches[i].most),
                        static_cast<int>(reaches[i + 1].most));
    least = __vimin3_s32(least, static_cast<int>(reaches[i].least),
                         static_cast<int>(reaches[i + 1].least));
  }
  // Least code that is not too dark, and largest one that is not too bright, within 0 to 255.
  constexpr std::uint32_t kBoth = 0x01000100U;
  const auto black = static_cast<std::uint32_t>(p.weights.luma_offset);
  const auto white = black + static_cast<std::uint32_t>(p.weights.luma_max);
  const std::uint32_t lowest =
      (kIntegerBaseBits + black - static_cast<std::uint32_t>(least)) * kBoth;
  const std::uint32_t highest =
      (kIntegerBaseBits + white - static_cast<std::uint32_t>(most)) * kBoth + 0x00FF00FFU;
  const bool too_dark = __vminu2(low, lowest) != lowest;
  const bool beyond =
      __vmaxu2(high, highest) != highest || __vminu2(low, black * kBoth) != black * kBoth;
  if (!__any_sync(0xFFFFFFFFU, too_dark || beyond)) return Channels::inside;
  return __any_sync(0xFFFFFFFFU, beyond) ? Channels::anywhere : Channels::dark;
}

/// Colours of a cell. All but the inverse and its product are exact.
struct CellColour {
  float above;          ///< largest channel less luma: v - y where v is not clamped
  float least;          ///< least channel less luma
  std::uint32_t place;  ///< byte offset of the table's entry for black luma
  float inverse;        ///< 1 / (v - m)
  float minus_base;     ///< takes the base off a product with a level on its base
};

template <typename Table>
__device__ __forceinline__ CellColour colour_of(const FusedParams& p, const Table& table,
                                                const CellReach& reach) {
  CellColour colour;
  colour.above = __fadd_rn(__uint_as_float(reach.most), -kIntegerBase);
  colour.least = __fadd_rn(__uint_as_float(reach.least), -kIntegerBase);
  colour.place = table.template place_above<kIntegerBaseBits>(reach.most, -p.weights.luma_offset);
  const float range = __fadd_rn(__uint_as_float(reach.most), -__uint_as_float(reach.least));
  colour.inverse = fast_inverse(range);
  colour.minus_base = __fmul_rn(colour.inverse, -p.code_base);
  return colour;
}

/// Result of a luma sample.
struct LumaResult {
  float code;   ///< on its base
  float slope;  ///< the gain of chroma
};

/// Computes byte kByte of `word`, of a cell whose channels lie inside. Errors, in last places of
/// the result, 2^-15 each: half of one for the level; half of one for a slope of the table, which
/// is multiplied by 255 at most, or one for the inverse and half of one each for its product with
/// the base, its product with the level and the slope; half of one for the sum. Chroma is at most
/// 0.58 (v - m), so that the mean slope is as exact for it.
template <int kByte, typename Table>
__device__ __forceinline__ LumaResult luma_inside(const Table& table, std::uint32_t word,
                                                  const CellColour& colour) {
  const LevelSlope of = table.slope_at(table.template place_of_sum<kByte>(word, colour.place));
  // Where v - m is 0 the product is NaN, which fminf() ignores.
  const float slope = fminf(of.slope, __fmaf_rn(of.level, colour.inverse, colour.minus_base));
  return {__fmaf_rn(-colour.above, slope, of.level), slope};
}

/// Computes a sample whose least channel may lie below black, but not luma. Where it does, v - m is
/// above v, S is 1 or more, and the slope at most that of k = 1: V' / v, the larger of V' / v and
/// V' / (v - m). As exact as luma_inside(), since V' / v is as exact as a slope of the table.
template <int kByte, typename Table>
__device__ __forceinline__ LumaResult luma_dark(const Table& table, std::uint32_t word,
                                                const CellColour& colour) {
  const std::uint32_t place = table.template place_of_sum<kByte>(word, colour.place);
  const LevelSlope of = table.slope_at(place);
  // Where v - m is 0 the product is NaN, which fmaxf() ignores, and chroma is 0, which no slope
  // changes.
  const float most =
      fmaxf(table.gain_at(place).gain, __fmaf_rn(of.level, colour.inverse, colour.minus_base));
  const float slope = fminf(of.slope, most);
  return {__fmaf_rn(-colour.above, slope, of.level), slope};
}

/// Computes any luma sample; `code` is above 2^23. Errors: V' is off by 2^-17, the product of slope
/// and distance, 255 at most, by 2^-22 of itself, and each of two sums by half of a last place:
/// less than four last places of the result.
template <typename Table>
__device__ __forceinline__ LumaResult luma_anywhere(const FusedParams& p, const Table& table,
                                                    float code, const CellColour& colour) {
  const float black = based(p.weights.luma_offset);
  const float white = based(p.weights.luma_offset + p.weights.luma_max);
  const bool below_black = code < black;
  const float value =
      below_black ? black : fminf(__fadd_rn(code, colour.above), white);  // above 2^23
  const std::uint32_t place = table.place_of(__float_as_uint(value) - __float_as_uint(black));
  const LevelGain of = table.gain_at(place);
  const float down = __fadd_rn(value, -code);
  const float below = __fadd_rn(down, -colour.least);
  // V' = 0 times infinity is NaN, which fmaxf() ignores.
  const float most = fmaxf(of.gain, __fmul_rn(of.level, fast_inverse(fmaxf(below, 0.0f))));
  const float slope = fminf(table.slope_at(place).slope, most);
  // Luma above v, which was clamped, is scaled as without a change of saturation.
  const float own = down < 0 ? of.gain : slope;
  const float result = __fadd_rn(__fmaf_rn(-down, own, of.level), p.code_base);
  // Luma below black keeps its code; a fraction of 1/2 counts as sure.
  return {below_black ? __fadd_rn(__fadd_rn(code, -based(0)), 256.5f) : result, slope};
}

/// Scales luma and chroma in place. `first_column` is the column of the cells in the slot that they
/// were loaded from.
template <typename Layout, int kPairs, Channels kChannels, typename Table>
__device__ __forceinline__ void saturate_cells(const FusedParams& p, const std::uint8_t* slot,
                                               int first_column, typename Layout::Cells& cells,
                                               const CellReach (&reaches)[Layout::Cells::kCells],
                                               const Table& table) {
  using Cells = typename Layout::Cells;
  constexpr int kEach = Cells::kCellsAPair;
  std::uint32_t chroma[Cells::kCells];
  std::uint32_t unsure = 0;  // a bit for each cell
#pragma unroll
  for (int word = 0; word < kPairs / 2; ++word) {
    float results[Layout::kRows][4];
    for_constants<2>([&](auto pair) {
      constexpr int kPair = decltype(pair)::value;
      const int first_cell = (2 * word + kPair) * kEach;
      CellColour colour[kEach];
      float sum[2];               // by column
      std::uint32_t fraction[2];  // least by column
#pragma unroll
      for (int i = 0; i < kEach; ++i)
        colour[i] = colour_of(p, table, reaches[first_cell + i]);
      for_constants<2>([&](auto column) {
        constexpr int kColumn = decltype(column)::value;
        constexpr int kByte = 2 * kPair + kColumn;
        const CellColour& own = colour[kEach == 2 ? kColumn : 0];
#pragma unroll
        for (int row = 0; row < Layout::kRows; ++row) {
          const std::uint32_t codes = cells.luma[row][word];
          LumaResult luma;
          if constexpr (kChannels == Channels::inside) {
            luma = luma_inside<kByte>(table, codes, own);
          } else if constexpr (kChannels == Channels::dark) {
            luma = luma_dark<kByte>(table, codes, own);
          } else {
            luma = luma_anywhere(p, table, based_byte(&codes, kByte), own);
          }
          results[row][kByte] = luma.code;
          const std::uint32_t own_fraction = fraction_of(luma.code);
          fraction[kColumn] = row == 0 ? own_fraction : min(fraction[kColumn], own_fraction);
          sum[kColumn] = row == 0 ? luma.slope : __fadd_rn(sum[kColumn], luma.slope);
        }
      });
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const int cell = first_cell + i;
        const float gain_sum = kEach == 2 ? sum[i] : __fadd_rn(sum[0], sum[1]);
        float blue = __fmaf_rn(cells.u_over_samples(cell), gain_sum, kChromaBase);
        float red = __fmaf_rn(cells.w_over_samples(cell), gain_sum, kChromaBase);
        if constexpr (kChannels != Channels::inside) {
          // Channels inside give chroma within the range of codes; others need a clamp.
          blue = fminf(fmaxf(blue, 256.25f), 511.75f);
          red = fminf(fmaxf(red, 256.25f), 511.75f);
        }
        chroma[cell] = codes_of_pair(blue, red) >> 7;
        const std::uint32_t of_luma = kEach == 2 ? fraction[i] : min(fraction[0], fraction[1]);
        const std::uint32_t least = __vimin3_u32(of_luma, fraction_of(blue), fraction_of(red));
        if (!is_sure(least)) unsure |= 1U << cell;
      }
    });
#pragma unroll
    for (int row = 0; row < Layout::kRows; ++row)
      cells.luma[row][word] = codes_of_four(results[row]);
  }
#pragma unroll 1
  for (; unsure != 0; unsure &= unsure - 1) {
    const int cell = __ffs(static_cast<int>(unsure)) - 1;
    const int column = first_column + Layout::column_of_cell(cell);
    if (table.template leave_open<Layout>(slot, column)) continue;
    const ExactCell<Layout> exact = saturate_cell_exact<Layout>(p, slot, column, table);
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
  // Lanes that have diverged would stay so without a barrier.
  __syncwarp();
  cells.set_chroma(chroma);
}

/// Scales the cells of a warp, with arithmetic for the range of its channels: a frame's dark
/// corners do not slow down the rest.
template <typename Layout, int kPairs, typename Table>
__device__ __forceinline__ void saturate_lane(const FusedParams& p, const std::uint8_t* slot,
                                              int first_column, typename Layout::Cells& cells,
                                              const Table& table) {
  constexpr int kCells = Layout::Cells::kCells;
  CellReach reaches[kCells];
#pragma unroll
  for (int i = 0; i < kCells; ++i)
    reaches[i] = reach_of(p.yuv, cells.u_over_samples(i), cells.w_over_samples(i));
  switch (channels_of_warp<Layout, kPairs>(p, cells, reaches)) {
    case Channels::inside:
      return saturate_cells<Layout, kPairs, Channels::inside>(p, slot, first_column, cells, reaches,
                                                              table);
    case Channels::dark:
      return saturate_cells<Layout, kPairs, Channels::dark>(p, slot, first_column, cells, reaches,
                                                            table);
    case Channels::anywhere:
      return saturate_cells<Layout, kPairs, Channels::anywhere>(p, slot, first_column, cells,
                                                                reaches, table);
  }
}

}  // namespace equalux::cuda
