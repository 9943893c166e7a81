#pragma once

#include <cstdint>

#include "fused_layouts.cuh"

/// The arithmetic of the YCbCr layouts. A cell is a chroma sample with the luma samples it covers;
/// a pair is two neighbouring luma samples of a row as two 16-bit halves of a word.
///
/// It is that of pixel_math.h and tone_curve.h in other clothes: two samples an instruction where
/// 16 bits hold them, and single precision where it is exact, since that unit would be idle
/// otherwise.
namespace equalux::cuda {

/// 1.5 2^23: a float in [2^23, 2^24) has the integer part in its lowest bits.
inline constexpr float kWhole = 12582912.0f;

/// (Byte `i` of words, less `zero`) / 2^kShift as a float; exact.
template <int kShift>
__device__ __forceinline__ float float_of_byte(const std::uint32_t* words, int i, float zero) {
  constexpr std::uint32_t kBase = 0x4B000000U - (std::uint32_t{kShift} << 23);
  constexpr float kUnit = 1.0f / (1 << kShift);
  const std::uint32_t bits = __byte_perm(words[i / 4], kBase, 0x7640 | (i % 4));
  return __fadd_rn(__uint_as_float(bits), (-8388608.0f - zero) * kUnit);
}

/// Both halves of a word the same.
__device__ __forceinline__ std::uint32_t both(std::int32_t value) {
  const auto half = static_cast<std::uint32_t>(value) & 0xFFFFU;
  return half << 16 | half;
}

/// Samples 2j and 2j + 1 of a row.
__device__ __forceinline__ std::uint32_t pair_of(const std::uint32_t* words, int j) {
  return __byte_perm(words[j / 2], 0, j % 2 == 0 ? 0x4140 : 0x4342);
}

/// What every sample of a frame shares, in registers.
struct YuvConstants {
  std::uint32_t black_to_sign;  ///< 128 less the offset, in each byte
  std::uint32_t luma_max;       ///< both halves
  float offset;                 ///< of luma
  float above_base;             ///< kWhole less the offset
  float luma_base;              ///< kWhole and the offset

  __device__ explicit YuvConstants(const YuvWeights& w)
      : black_to_sign(0x80808080U - static_cast<std::uint32_t>(w.luma_offset) * 0x01010101U),
        luma_max(both(w.luma_max)),
        offset(static_cast<float>(w.luma_offset)),
        above_base(kWhole - static_cast<float>(w.luma_offset)),
        luma_base(kWhole + static_cast<float>(w.luma_offset)) {}
};

/// value_above_luma() less the luma offset, in the low 16 bits. All products and sums are integers
/// below 2^24, so single precision holds them exactly.
__device__ __forceinline__ std::uint32_t above_luma(const YuvFloats& k, const YuvConstants& c,
                                                    float u, float w) {
  const float red = __fmaf_rn(w, k.red_w, 32768.0f);
  const float green = __fmaf_rn(u, k.minus_green_u, __fmaf_rn(w, k.minus_green_w, 32768.0f));
  const float blue = __fmaf_rn(u, k.blue_u, 32768.0f);
  return __float_as_uint(__fmaf_rd(fmaxf(fmaxf(red, green), blue), 0x1p-16f, c.above_base));
}

/// The same from the codes, each in the second byte of a word.
__device__ __forceinline__ std::uint32_t above_luma_of_codes(const YuvCodeFloats& k,
                                                             const YuvConstants& c,
                                                             std::uint32_t cb, std::uint32_t cr) {
  const float u = __uint_as_float(cb);
  const float w = __uint_as_float(cr);
  const float red = __fmaf_rn(w, k.red_w, k.red);
  const float green = __fmaf_rn(u, k.green_u, __fmaf_rn(w, k.green_w, k.green));
  const float blue = __fmaf_rn(u, k.blue_u, k.blue);
  constexpr float kUnit = 0x1p-16f / YuvCodeFloats::kScale;
  return __float_as_uint(__fmaf_rd(fmaxf(fmaxf(red, green), blue), kUnit, c.above_base));
}

/// The values of a pair; yuv_value().
__device__ __forceinline__ std::uint32_t pair_values(const YuvConstants& c, std::uint32_t luma,
                                                     std::uint32_t above) {
  return __viaddmin_s16x2_relu(luma, above, c.luma_max);
}

/// The highest bit of each byte of luma that lies below black.
__device__ __forceinline__ std::uint32_t below_black(const YuvConstants& c, std::uint32_t luma) {
  return ~(luma | ((luma & 0x7F7F7F7FU) + c.black_to_sign)) & 0x80808080U;
}

/// pair_of() where samples below black are less by 256: their values come out as 0, and there, not
/// at their own value, stands the gain of 1 that they have.
__device__ __forceinline__ std::uint32_t pair_above_black(std::uint32_t luma, std::uint32_t below,
                                                          int j) {
  return __byte_perm(luma, below, j % 2 == 0 ? 0xD1C0 : 0xF3E2);  // C to F: the sign of a byte
}

/// Chroma scaled in single precision, and how sure that is.
struct ScaledChroma {
  std::uint32_t code;  ///< in the low half, not clamped
  float distance;      ///< from the code's middle
};

/// 128 + u times the mean gain, rounded. `u` is divided by as many as the gains in `sum`.
__device__ __forceinline__ ScaledChroma scale_chroma_fast(float u, float sum) {
  constexpr float kBase = kWhole + 128.0f;
  const float code = __fmaf_rn(u, sum, kBase);
  const float distance = __fmaf_rn(u, sum, -__fadd_rn(code, -kBase));
  return {__float_as_uint(code), fabsf(distance)};
}

/// Single precision and the nudged gains are off by less than 2^-13 of a code: u times the gain is
/// below 129, or the result is clamped. Nearer to a half than this, integers decide.
inline constexpr float kSureDistance = 0.5f - 0x1p-12f;

/// round-half-up of u G / (k 2^40), as a code; see scale_chroma_exact(). k = 2^kShift.
template <int kShift>
__device__ __forceinline__ std::uint32_t scale_chroma(std::uint32_t code, std::uint64_t gain_sum) {
  const std::int64_t product = static_cast<std::int64_t>(static_cast<std::int32_t>(code) - 128) *
                               static_cast<std::int64_t>(gain_sum);
  constexpr std::int64_t kHalf = std::int64_t{1} << (39 + kShift);
  const auto scaled = static_cast<std::int32_t>((product + kHalf) >> (40 + kShift)) + 128;
  return static_cast<std::uint32_t>(min(max(scaled, 0), 255));
}

/// kPairs pairs of a row in registers, with kRows rows below each other and the chroma of their
/// cells, kColumns samples wide.
template <int kColumns, int kRows, int kPairs, bool kInterleaved>
struct LaneCells {
  static constexpr int kCellsAPair = 2 / kColumns;
  static constexpr int kCells = kPairs * kCellsAPair;
  static constexpr int kShift = (kColumns == 2 ? 1 : 0) + (kRows == 2 ? 1 : 0);
  std::uint32_t luma[kRows][kPairs / 2];
  std::uint32_t chroma[kCells / 2];  ///< as in memory: Cb, Cr, Cb ... or all Cb before all Cr

  static constexpr int cb_byte(int cell) { return kInterleaved ? 2 * cell : cell; }
  static constexpr int cr_byte(int cell) { return kInterleaved ? 2 * cell + 1 : kCells + cell; }

  /// above_luma() for the two columns of pair j; u and w of its cells, divided by the samples of a
  /// cell, come along.
  __device__ __forceinline__ std::uint32_t above(const YuvFloats& k, const YuvConstants& c, int j,
                                                 float (&u)[kCellsAPair],
                                                 float (&w)[kCellsAPair]) const {
    std::uint32_t halves[kCellsAPair];
#pragma unroll
    for (int i = 0; i < kCellsAPair; ++i) {
      u[i] = float_of_byte<kShift>(chroma, cb_byte(j * kCellsAPair + i), 128.0f);
      w[i] = float_of_byte<kShift>(chroma, cr_byte(j * kCellsAPair + i), 128.0f);
      halves[i] = above_luma(k, c, u[i], w[i]);
    }
    return __byte_perm(halves[0], halves[kCellsAPair - 1], kCellsAPair == 2 ? 0x5410 : 0x1010);
  }
  /// The same where u and w are not needed.
  __device__ __forceinline__ std::uint32_t above_of_codes(const YuvCodeFloats& k,
                                                          const YuvConstants& c, int j) const {
    std::uint32_t halves[kCellsAPair];
#pragma unroll
    for (int i = 0; i < kCellsAPair; ++i) {
      halves[i] = above_luma_of_codes(k, c, byte_times_256(chroma, cb_byte(j * kCellsAPair + i)),
                                      byte_times_256(chroma, cr_byte(j * kCellsAPair + i)));
    }
    return __byte_perm(halves[0], halves[kCellsAPair - 1], kCellsAPair == 2 ? 0x5410 : 0x1010);
  }
};

template <typename Cells, int kRows, int kPairs, typename Counter>
__device__ __forceinline__ void count_cells(const FusedParams& p, const Cells& cells,
                                            Counter& counter) {
  const YuvConstants c(p.weights);
  std::uint32_t values[kPairs][kRows];
#pragma unroll
  for (int j = 0; j < kPairs; ++j) {
    const std::uint32_t above = cells.above_of_codes(p.yuv_codes, c, j);
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      values[j][row] = pair_values(c, pair_of(cells.luma[row], j), above);
    }
  }
#pragma unroll
  for (int j = 0; j < kPairs; ++j) {
#pragma unroll
    for (int row = 0; row < kRows; ++row)
      counter.template add_pair<0>(values[j][row]);
  }
}

/// The value of one sample, read from a slot.
template <typename Layout>
__device__ __forceinline__ std::int32_t value_at(const FusedParams& p, const std::uint8_t* slot,
                                                 int row, int x) {
  const std::int32_t above =
      value_above_luma(p.weights, slot[Layout::cb_at(x)], slot[Layout::cr_at(x)]);
  return yuv_value(p.weights, slot[Layout::luma_at(row, x)], above);
}

/// Cb and Cr of the cell at column `x`, scaled in whole numbers: the halves of a word.
template <typename Layout, typename Gains>
__device__ __forceinline__ std::uint32_t scale_cell_exact(const FusedParams& p,
                                                          const std::uint8_t* slot, int x,
                                                          const Gains& gains) {
  std::uint64_t sum = 0;
#pragma unroll
  for (int row = 0; row < Layout::kRows; ++row) {
#pragma unroll
    for (int i = 0; i < Layout::kColumns; ++i) {
      const bool black = slot[Layout::luma_at(row, x + i)] < p.weights.luma_offset;
      sum += gains.chroma_gain(
          black ? 0U : static_cast<std::uint32_t>(value_at<Layout>(p, slot, row, x + i)));
    }
  }
  return scale_chroma<Layout::Cells::kShift>(slot[Layout::cb_at(x)], sum) |
         scale_chroma<Layout::Cells::kShift>(slot[Layout::cr_at(x)], sum) << 16;
}

/// Scales luma in place and the chroma of each cell into the halves of `scaled`, Cb and Cr.
/// `first_column` is where the cells lie in the slot, from which they were loaded.
template <typename Layout, int kPairs, typename Gains>
__device__ __forceinline__ void scale_cells(const FusedParams& p, const std::uint8_t* slot,
                                            int first_column, typename Layout::Cells& cells,
                                            std::uint32_t (&scaled)[Layout::Cells::kCells],
                                            const Gains& gains) {
  using Cells = typename Layout::Cells;
  constexpr int kEach = Cells::kCellsAPair;
  const YuvConstants c(p.weights);
  std::uint32_t unsure = 0;  // cells whose chroma whole numbers must decide
#pragma unroll
  for (int two = 0; two < kPairs; two += 2) {  // a word of luma
    std::uint32_t luma[Layout::kRows][4];
    std::uint32_t below[Layout::kRows];
#pragma unroll
    for (int row = 0; row < Layout::kRows; ++row) {
      below[row] = below_black(c, cells.luma[row][two / 2]);
    }
#pragma unroll
    for (int j = two; j < two + 2; ++j) {
      float u[kEach];
      float w[kEach];
      const std::uint32_t above = cells.above(p.yuv, c, j, u, w);
      float sum[2];  // by column
#pragma unroll
      for (int row = 0; row < Layout::kRows; ++row) {
        const std::uint32_t samples = pair_above_black(cells.luma[row][two / 2], below[row], j);
        const std::uint32_t rows = pair_values(c, samples, above);
        const float gain[2] = {gains.template gain_of_byte<0>(rows),
                               gains.template gain_of_byte<2>(rows)};
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const float code = float_of_byte<0>(cells.luma[row], 2 * j + i, c.offset);
          luma[row][2 * (j - two) + i] = __float_as_uint(__fmaf_rn(code, gain[i], c.luma_base));
          sum[i] = row == 0 ? gain[i] : __fadd_rn(sum[i], gain[i]);
        }
      }
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const int cell = j * kEach + i;
        const float gain_sum = kEach == 2 ? sum[i] : __fadd_rn(sum[0], sum[1]);
        const ScaledChroma blue = scale_chroma_fast(u[i], gain_sum);
        const ScaledChroma red = scale_chroma_fast(w[i], gain_sum);
        // Both clamped to 0 .. 255.
        scaled[cell] = __vimin_s16x2_relu(__byte_perm(blue.code, red.code, 0x5410), 0x00FF00FFU);
        if (fmaxf(blue.distance, red.distance) > kSureDistance) unsure |= 1U << cell;
      }
    }
#pragma unroll
    for (int row = 0; row < Layout::kRows; ++row) {
      cells.luma[row][two / 2] = pack(luma[row][0], luma[row][1], luma[row][2], luma[row][3]);
    }
  }
#pragma unroll 1
  for (; unsure != 0; unsure &= unsure - 1) {
    const int cell = __ffs(static_cast<int>(unsure)) - 1;
    const std::uint32_t exact =
        scale_cell_exact<Layout>(p, slot, first_column + cell * Layout::kColumns, gains);
#pragma unroll
    for (int i = 0; i < Cells::kCells; ++i)
      scaled[i] = i == cell ? exact : scaled[i];
  }
}

}  // namespace equalux::cuda
